package fake_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/daemonplan/daemonplan/clusterapi/fake"
)

func noError(err error) bool { return err == nil }

func TestServerIsStrict(t *testing.T) {
	createPod := func(change func(pod *corev1.Pod)) func(c *fake.Cluster) error {
		return func(c *fake.Cluster) error {
			pod := newPod("new")
			change(pod)
			_, err := fake.Create(c, pod)
			return err
		}
	}
	createSet := func(change func(set *appsv1.DaemonSet)) func(c *fake.Cluster) error {
		return func(c *fake.Cluster) error {
			set := newSet("new")
			change(set)
			_, err := fake.Create(c, set)
			return err
		}
	}
	createRevision := func(change func(revision *appsv1.ControllerRevision)) func(c *fake.Cluster) error {
		return func(c *fake.Cluster) error {
			revision := newRevision("new")
			change(revision)
			_, err := fake.Create(c, revision)
			return err
		}
	}
	editPod := func(change func(pod *corev1.Pod)) func(c *fake.Cluster) error {
		return func(c *fake.Cluster) error {
			_, err := fake.Edit(c, key("pod"), change)
			return err
		}
	}
	editSet := func(change func(set *appsv1.DaemonSet)) func(c *fake.Cluster) error {
		return func(c *fake.Cluster) error {
			_, err := fake.Edit(c, key("set"), change)
			return err
		}
	}
	status := func(change func(status *appsv1.DaemonSetStatus)) func(c *fake.Cluster) error {
		return func(c *fake.Cluster) error {
			set, err := fake.Get[*appsv1.DaemonSet](c, key("set"))
			if err != nil {
				return err
			}
			change(&set.Status)
			_, err = fake.UpdateStatus(c, set)
			return err
		}
	}
	budget := func(unavailable, surge intstr.IntOrString) func(set *appsv1.DaemonSet) {
		return func(set *appsv1.DaemonSet) {
			set.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{
				Type:          appsv1.RollingUpdateDaemonSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &unavailable, MaxSurge: &surge},
			}
		}
	}
	one, zero := intstr.FromInt32(1), intstr.FromInt32(0)
	collisions := int32(2)

	tests := []struct {
		name, why string
		give      func(c *fake.Cluster) error
		want      func(error) bool
	}{
		{"valid pod", "the base of the cases below", createPod(func(*corev1.Pod) {}), noError},
		{"valid set", "the base of the cases below", createSet(func(*appsv1.DaemonSet) {}), noError},
		{"valid revision", "the base of the cases below", createRevision(func(*appsv1.ControllerRevision) {}), noError},
		{"nil object", "a request without a body", func(c *fake.Cluster) error {
			_, err := fake.Create[*corev1.Pod](c, nil)
			return err
		}, apierrors.IsBadRequest},
		{"no name", "neither name nor generateName", createPod(func(p *corev1.Pod) { p.Name = "" }), apierrors.IsInvalid},
		{"name with capitals", "names are DNS subdomains", createPod(func(p *corev1.Pod) { p.Name = "New" }), apierrors.IsInvalid},
		{"name too long", "254 characters", createPod(func(p *corev1.Pod) { p.Name = strings.Repeat("a", 254) }), apierrors.IsInvalid},
		{"name as long as can be", "253 characters", createPod(func(p *corev1.Pod) { p.Name = strings.Repeat("a", 253) }), noError},
		{"no namespace", "pods have one", createPod(func(p *corev1.Pod) { p.Namespace = "" }), apierrors.IsInvalid},
		{"node in a namespace", "nodes have none", func(c *fake.Cluster) error {
			node := newNode("new")
			node.Namespace = "ns"
			_, err := fake.Create(c, node)
			return err
		}, apierrors.IsInvalid},
		{"label value with a space", "labels have a syntax", createPod(func(p *corev1.Pod) { p.Labels["a"] = "b c" }), apierrors.IsInvalid},
		{"two controllers", "an object has at most one", createPod(func(p *corev1.Pod) {
			a, b := newSet("a"), newSet("b")
			a.UID, b.UID = "a", "b"
			p.OwnerReferences = []metav1.OwnerReference{controllerRef(a), controllerRef(b)}
		}), apierrors.IsInvalid},
		{"owner without UID", "an owner is one incarnation", createPod(func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{controllerRef(newSet("a"))}
		}), apierrors.IsInvalid},
		{"resource version on create", "the server chooses it", createPod(func(p *corev1.Pod) { p.ResourceVersion = "1" }), apierrors.IsInternalError},
		{"name taken", "names are unique", createPod(func(p *corev1.Pod) { p.Name = "pod" }), apierrors.IsAlreadyExists},
		{"name taken by another kind", "they are unique for a kind", createPod(func(p *corev1.Pod) { p.Name = "set" }), noError},
		{"name taken in another namespace", "they are unique in a namespace", createPod(func(p *corev1.Pod) { p.Name, p.Namespace = "pod", "other" }), noError},
		{"pod without containers", "it has at least one", createPod(func(p *corev1.Pod) { p.Spec.Containers = nil }), apierrors.IsInvalid},
		{"container without image", "what should run", createPod(func(p *corev1.Pod) { p.Spec.Containers[0].Image = "" }), apierrors.IsInvalid},
		{"containers of one name", "names are unique in a pod", createPod(func(p *corev1.Pod) {
			p.Spec.Containers = append(p.Spec.Containers, p.Spec.Containers[0])
		}), apierrors.IsInvalid},
		{"set without selector match", "it could not find its own pods", createSet(func(s *appsv1.DaemonSet) { s.Spec.Template.Labels = nil }), apierrors.IsInvalid},
		{"set with empty selector", "it would select every pod", createSet(func(s *appsv1.DaemonSet) { s.Spec.Selector = &metav1.LabelSelector{} }), apierrors.IsInvalid},
		{"set with both budgets", "one excludes the other", createSet(budget(one, one)), apierrors.IsInvalid},
		{"set with no budget", "it could never be updated", createSet(budget(zero, zero)), apierrors.IsInvalid},
		{"set with surge", "the other budget is 0", createSet(budget(zero, one)), noError},
		{"set with a budget of 101%", "there are no more pods than all", createSet(budget(intstr.FromString("101%"), zero)), apierrors.IsInvalid},
		{"set with a budget of abc%", "it does not parse", createSet(budget(intstr.FromString("abc%"), zero)), apierrors.IsInvalid},
		{"set with a negative budget", "it counts pods", createSet(budget(intstr.FromInt32(-1), zero)), apierrors.IsInvalid},
		{"set with negative minReadySeconds", "it is a time", createSet(func(s *appsv1.DaemonSet) { s.Spec.MinReadySeconds = -1 }), apierrors.IsInvalid},
		{"set whose pods do not restart", "daemons do", createSet(func(s *appsv1.DaemonSet) {
			s.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
		}), apierrors.IsInvalid},
		{"set with an unknown strategy", "there are two", createSet(func(s *appsv1.DaemonSet) { s.Spec.UpdateStrategy.Type = "Other" }), apierrors.IsInvalid},
		{"revision without data", "it records something", createRevision(func(r *appsv1.ControllerRevision) { r.Data.Raw = nil }), apierrors.IsInvalid},
		{"revision with a list as data", "data is an object", createRevision(func(r *appsv1.ControllerRevision) { r.Data.Raw = []byte("[]") }), apierrors.IsInvalid},
		{"revision with null as data", "data is an object", createRevision(func(r *appsv1.ControllerRevision) { r.Data.Raw = []byte("null") }), apierrors.IsInvalid},
		{"revision with broken data", "data is JSON", createRevision(func(r *appsv1.ControllerRevision) { r.Data.Raw = []byte("{") }), apierrors.IsInvalid},
		{"revision with a negative number", "numbers count up", createRevision(func(r *appsv1.ControllerRevision) { r.Revision = -1 }), apierrors.IsInvalid},
		{"changed data", "history is not rewritten", func(c *fake.Cluster) error {
			_, err := fake.Edit(c, key("revision"), func(r *appsv1.ControllerRevision) { r.Data.Raw = []byte(`{"a":1}`) })
			return err
		}, apierrors.IsInvalid},
		{"changed image", "a pod's images can change", editPod(func(p *corev1.Pod) { p.Spec.Containers[0].Image = "b" }), noError},
		{"changed command", "a pod runs as it was made", editPod(func(p *corev1.Pod) { p.Spec.Containers[0].Command = []string{"b"} }), apierrors.IsInvalid},
		{"changed node", "only the scheduler binds", editPod(func(p *corev1.Pod) { p.Spec.NodeName = "b" }), apierrors.IsInvalid},
		{"more tolerations", "they can be added", editPod(func(p *corev1.Pod) {
			p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: "b", Operator: corev1.TolerationOpExists})
		}), noError},
		{"changed tolerationSeconds", "they can change", editPod(func(p *corev1.Pod) {
			five := int64(5)
			p.Spec.Tolerations[0].TolerationSeconds = &five
		}), noError},
		{"fewer tolerations", "they cannot be removed", editPod(func(p *corev1.Pod) { p.Spec.Tolerations = nil }), apierrors.IsInvalid},
		{"changed selector", "a set keeps its pods", editSet(func(s *appsv1.DaemonSet) {
			s.Spec.Selector.MatchLabels = map[string]string{"app": "b"}
			s.Spec.Template.Labels = map[string]string{"app": "b"}
		}), apierrors.IsInvalid},
		{"negative status", "it counts pods", status(func(s *appsv1.DaemonSetStatus) { s.NumberReady = -1 }), apierrors.IsInvalid},
		{"more collisions", "the count grows", status(func(s *appsv1.DaemonSetStatus) { *s.CollisionCount++ }), noError},
		{"fewer collisions", "the count never shrinks", status(func(s *appsv1.DaemonSetStatus) { s.CollisionCount = nil }), apierrors.IsInvalid},
		{"status of a revision", "it has none", func(c *fake.Cluster) error {
			_, err := fake.UpdateStatus(c, newRevision("revision"))
			return err
		}, apierrors.IsNotFound},
		{"update of what is not there", "it does not create", func(c *fake.Cluster) error {
			_, err := fake.Update(c, newPod("absent"))
			return err
		}, apierrors.IsNotFound},
		{"edit of what is not there", "it does not create", func(c *fake.Cluster) error {
			_, err := fake.Edit(c, key("absent"), func(*corev1.Pod) {})
			return err
		}, apierrors.IsNotFound},
		{"unknown taint effect", "there are three", func(c *fake.Cluster) error {
			node := newNode("new")
			node.Spec.Taints = []corev1.Taint{{Key: "a", Effect: "Other"}}
			_, err := fake.Create(c, node)
			return err
		}, apierrors.IsInvalid},
		{"taint twice", "key and effect are unique", func(c *fake.Cluster) error {
			node := newNode("new")
			taint := corev1.Taint{Key: "a", Effect: corev1.TaintEffectNoExecute}
			node.Spec.Taints = []corev1.Taint{taint, taint}
			_, err := fake.Create(c, node)
			return err
		}, apierrors.IsInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := fake.New(1)
			pod := newPod("pod")
			pod.Spec.Tolerations = []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}}
			mustCreate(t, c, pod)
			mustCreate(t, c, newRevision("revision"))
			set := mustCreate(t, c, newSet("set"))
			set.Status.CollisionCount = &collisions
			_, err := fake.UpdateStatus(c, set)
			require.NoError(t, err)
			before := c.Version()

			err = tt.give(c)

			assert.True(t, tt.want(err), "%s: got %v", tt.why, err)
			if err != nil {
				assert.Equal(t, before, c.Version(), "a refused request writes nothing")
			}
		})
	}
}

func TestServerChoosesWhatIsItsOwn(t *testing.T) {
	c := fake.New(1)
	c.Advance(1500 * time.Millisecond)
	give := newPod("pod")
	give.UID, give.Generation = "mine", 7
	give.TypeMeta = metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
	give.DeletionTimestamp = &metav1.Time{Time: c.Now()}
	give.Status.Phase = corev1.PodRunning
	before := give.DeepCopy()

	got := mustCreate(t, c, give)

	assert.Equal(t, before, give, "the object that was given stays as it was")
	assert.NotEqual(t, give.UID, got.UID)
	assert.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, string(got.UID))
	assert.Equal(t, "2", got.ResourceVersion)
	assert.Equal(t, int64(1), got.Generation)
	assert.Empty(t, got.TypeMeta, "as a typed client decodes it")
	assert.Nil(t, got.DeletionTimestamp)
	assert.Equal(t, corev1.PodStatus{Phase: corev1.PodPending}, got.Status)
	assert.Equal(t, c.Now().Truncate(time.Second), got.CreationTimestamp.Time, "whole seconds, as on the wire")
	assert.Equal(t, int64(30), *got.Spec.TerminationGracePeriodSeconds)
	node := newNode("node")
	node.Generation = 7
	assert.Zero(t, mustCreate(t, c, node).Generation, "nodes are not counted")
	second := mustCreate(t, c, newPod("second"))
	assert.Equal(t, "4", second.ResourceVersion, "one count for all")
	assert.NotEqual(t, got.UID, second.UID)
}

func TestGeneratedNames(t *testing.T) {
	c := fake.New(1)
	seen := map[string]bool{}
	for range 50 {
		pod := newPodOn("", "a")
		pod.GenerateName = "agent-"
		got := mustCreate(t, c, pod)
		assert.Regexp(t, `^agent-[bcdfghjklmnpqrstvwxz2456789]{5}$`, got.Name)
		seen[got.Name] = true
	}
	assert.Len(t, seen, 50)

	long := newPod("")
	long.GenerateName = strings.Repeat("a", 200)
	got := mustCreate(t, c, long)
	assert.Len(t, got.Name, validation.DNS1123LabelMaxLength, "the prefix is cut")

	named := newPod("fixed")
	named.GenerateName = "agent-"
	assert.Equal(t, "fixed", mustCreate(t, c, named).Name, "a name goes before a generated one")
}

func TestSetsGetDefaults(t *testing.T) {
	got := mustCreate(t, fake.New(1), newSet("set"))
	assert.Equal(t, appsv1.RollingUpdateDaemonSetStrategyType, got.Spec.UpdateStrategy.Type)
	assert.Equal(t, intstr.FromInt32(1), *got.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable)
	assert.Equal(t, intstr.FromInt32(0), *got.Spec.UpdateStrategy.RollingUpdate.MaxSurge)
	assert.Equal(t, int32(10), *got.Spec.RevisionHistoryLimit)
	assert.Equal(t, "1", got.Annotations[appsv1.DeprecatedTemplateGeneration])
}
