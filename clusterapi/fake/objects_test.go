package fake_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi/fake"
)

func TestUpdateLeavesStatusAndStatusUpdateLeavesTheRest(t *testing.T) {
	c := fake.New(1)
	set := mustCreate(t, c, newSet("set"))

	set.Status.NumberReady = 5
	set.Labels = map[string]string{"a": "1"}
	set, err := fake.Update(c, set)
	require.NoError(t, err)
	assert.Zero(t, set.Status.NumberReady)
	assert.Equal(t, map[string]string{"a": "1"}, set.Labels)
	assert.Equal(t, int64(1), set.Generation, "labels are no spec")

	set.Status.NumberReady = 5
	set.Labels = map[string]string{"b": "1"}
	set.Annotations = map[string]string{"c": "1"}
	set.Spec.MinReadySeconds = 9
	set, err = fake.UpdateStatus(c, set)
	require.NoError(t, err)
	assert.Equal(t, int32(5), set.Status.NumberReady)
	assert.Equal(t, map[string]string{"b": "1"}, set.Labels, "the server shields the spec only")
	assert.Equal(t, map[string]string{"c": "1", appsv1.DeprecatedTemplateGeneration: "1"}, set.Annotations)
	assert.Zero(t, set.Spec.MinReadySeconds)
	assert.Equal(t, int64(1), set.Generation)
}

func TestStatusUpdatesOfPods(t *testing.T) {
	c := fake.New(1)
	set := mustCreate(t, c, newSet("set"))
	pod := newOwned("pod", "a", set)
	pod.Spec.NodeSelector = map[string]string{"not a label": "1"}
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "agent", Operation: metav1.ManagedFieldsOperationUpdate}}
	pod, err := fake.Put(c, pod)
	require.NoError(t, err)
	give := pod.DeepCopy()
	give.OwnerReferences, give.Labels, give.ManagedFields = nil, nil, nil
	give.Spec.NodeSelector = nil
	give.Status.Phase = corev1.PodRunning
	got, err := fake.UpdateStatus(c, give)
	require.NoError(t, err, "what is wrong with the spec does not matter")
	assert.Equal(t, corev1.PodRunning, got.Status.Phase)
	assert.Empty(t, got.Labels)
	assert.Equal(t, pod.Spec, got.Spec)
	assert.Equal(t, pod.OwnerReferences, got.OwnerReferences, "old kubelets would spoil them")
	assert.Equal(t, pod.ManagedFields, got.ManagedFields, "none is no wish")
}

func TestUpdatesOfNodesAndPodsLeaveTheirStatus(t *testing.T) {
	c := fake.New(1)
	mustCreate(t, c, newNode("a"))
	node, err := fake.Edit(c, nodeKey("a"), func(node *corev1.Node) { node.Status, node.Labels = corev1.NodeStatus{}, nil })
	require.NoError(t, err)
	assert.NotEmpty(t, node.Status.Conditions)
	assert.Empty(t, node.Labels)

	mustCreate(t, c, newPod("pod"))
	pod, err := fake.Edit(c, key("pod"), func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodRunning })
	require.NoError(t, err)
	assert.Equal(t, corev1.PodPending, pod.Status.Phase)
	assert.Equal(t, int64(1), pod.Generation)
	pod, err = fake.Edit(c, key("pod"), func(pod *corev1.Pod) { pod.Spec.Containers[0].Image = "b" })
	require.NoError(t, err)
	assert.Equal(t, int64(2), pod.Generation)
}

func TestGenerationsGrowWithTheSpec(t *testing.T) {
	c := fake.New(1)
	mustCreate(t, c, newSet("set"))

	set, err := fake.Edit(c, key("set"), func(set *appsv1.DaemonSet) { set.Spec.MinReadySeconds = 1 })
	require.NoError(t, err)
	assert.Equal(t, int64(2), set.Generation)
	assert.Equal(t, "1", set.Annotations[appsv1.DeprecatedTemplateGeneration], "the template is the same")

	set, err = fake.Edit(c, key("set"), func(set *appsv1.DaemonSet) {
		set.Spec.Template.Spec.Containers[0].Image = "b"
		set.Annotations[appsv1.DeprecatedTemplateGeneration] = "77"
	})
	require.NoError(t, err)
	assert.Equal(t, int64(3), set.Generation)
	assert.Equal(t, "2", set.Annotations[appsv1.DeprecatedTemplateGeneration], "the server counts, not the client")

	version := c.Version()
	set, err = fake.Edit(c, key("set"), func(*appsv1.DaemonSet) {})
	require.NoError(t, err)
	assert.Equal(t, version, c.Version(), "an update that changes nothing writes nothing")
	assert.Equal(t, int64(3), set.Generation)
}

func TestUpdatesMeetConflicts(t *testing.T) {
	c := fake.New(1)
	old := mustCreate(t, c, newRevision("r"))
	_, err := fake.Edit(c, key("r"), func(r *appsv1.ControllerRevision) { r.Revision = 2 })
	require.NoError(t, err)

	_, err = fake.Update(c, old)
	assert.True(t, apierrors.IsConflict(err), "an old resource version: %v", err)

	old.ResourceVersion = ""
	old.Revision = 3
	got, err := fake.Update(c, old)
	require.NoError(t, err, "without a resource version nothing is compared")
	assert.Equal(t, int64(3), got.Revision)

	old.UID = "other"
	_, err = fake.Update(c, old)
	assert.True(t, apierrors.IsConflict(err), "another UID: %v", err)
}

func TestPutStoresWhatNoClientCould(t *testing.T) {
	c := fake.New(1)
	pod := newPod("Not Valid")
	pod.Spec.Containers = nil
	pod.Spec.NodeName = "a"
	pod.Status.Phase = corev1.PodRunning
	got, err := fake.Put(c, pod)
	require.NoError(t, err)
	assert.Equal(t, corev1.PodRunning, got.Status.Phase)
	assert.NotEmpty(t, got.UID)
	assert.Equal(t, "2", got.ResourceVersion)
	assert.False(t, got.CreationTimestamp.IsZero())
	assert.Empty(t, pod.UID, "the object that was given stays as it was")

	again, err := fake.Put(c, pod)
	require.NoError(t, err)
	assert.Equal(t, got.UID, again.UID, "it replaces the object")
	pod.UID = "chosen"
	again, err = fake.Put(c, pod)
	require.NoError(t, err)
	assert.Equal(t, types.UID("chosen"), again.UID)

	pod.Name = ""
	_, err = fake.Put(c, pod)
	assert.True(t, apierrors.IsBadRequest(err), "got %v", err)
}

func TestWhatIsHandedOutAndTakenInIsCopied(t *testing.T) {
	c := fake.New(1)
	give := newPod("pod")
	created := mustCreate(t, c, give)
	give.Labels["app"] = "changed"
	created.Labels["app"] = "changed"
	got := mustGet[*corev1.Pod](t, c, key("pod"))
	assert.Equal(t, "agent", got.Labels["app"])
	got.Labels["app"] = "changed"
	fake.List[*corev1.Pod](c, "ns")[0].Labels["app"] = "changed"
	assert.Equal(t, "agent", mustGet[*corev1.Pod](t, c, key("pod")).Labels["app"])

	client := c.NewClient()
	defer client.Close()
	patched, err := client.PatchPod(t.Context(), ref(created), []byte(`{"metadata":{"labels":{"b":"1"}}}`))
	require.NoError(t, err)
	patched.Labels["app"] = "changed"
	assert.Equal(t, map[string]string{"app": "agent", "b": "1"}, mustGet[*corev1.Pod](t, c, key("pod")).Labels)
}

func TestListIsSorted(t *testing.T) {
	c := fake.New(1)
	for _, name := range []string{"c", "a", "b"} {
		mustCreate(t, c, newPod(name))
	}
	other := newPod("d")
	other.Namespace = "a"
	mustCreate(t, c, other)
	assert.Equal(t, []string{"a", "b", "c"}, names(fake.List[*corev1.Pod](c, "ns")))
	assert.Equal(t, []string{"d", "a", "b", "c"}, names(fake.List[*corev1.Pod](c, "")))
}

func TestDeletionOfPods(t *testing.T) {
	grace := func(seconds int64) *int64 { return &seconds }
	bound := func(pod *corev1.Pod) { pod.Spec.NodeName = "a" }
	tests := []struct {
		name, why string
		give      func(pod *corev1.Pod)
		options   fake.DeleteOptions
		want      int64 // seconds; -1 for gone at once
	}{
		{name: "unbound", why: "it never ran", give: func(*corev1.Pod) {}, want: -1},
		{name: "bound", why: "the default grace", give: func(pod *corev1.Pod) { bound(pod); pod.Spec.TerminationGracePeriodSeconds = grace(30) }, want: 30},
		{name: "own grace", why: "as its spec says", give: func(pod *corev1.Pod) { bound(pod); pod.Spec.TerminationGracePeriodSeconds = grace(7) }, want: 7},
		{name: "asked grace", why: "the request goes first", give: func(pod *corev1.Pod) { bound(pod); pod.Spec.TerminationGracePeriodSeconds = grace(7) }, options: fake.DeleteOptions{Grace: grace(9)}, want: 9},
		{name: "no grace", why: "zero means at once", give: bound, options: fake.DeleteOptions{Grace: grace(0)}, want: -1},
		{name: "negative grace", why: "the least there is", give: bound, options: fake.DeleteOptions{Grace: grace(-5)}, want: 1},
		{name: "failed", why: "it runs no more", give: func(pod *corev1.Pod) { bound(pod); pod.Status.Phase = corev1.PodFailed }, options: fake.DeleteOptions{Grace: grace(9)}, want: -1},
		{name: "held", why: "a finalizer keeps it", give: func(pod *corev1.Pod) { pod.Finalizers = []string{"example.com/hold"} }, want: 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := fake.New(1)
			pod := newPod("pod")
			pod.Generation = 1
			tt.give(pod)
			_, err := fake.Put(c, pod)
			require.NoError(t, err)

			require.NoError(t, fake.Delete[*corev1.Pod](c, key("pod"), tt.options))

			got, err := fake.Get[*corev1.Pod](c, key("pod"))
			if tt.want < 0 {
				assert.True(t, apierrors.IsNotFound(err), "%s: got %v", tt.why, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, *got.DeletionGracePeriodSeconds, tt.why)
			assert.Equal(t, c.Now().Add(time.Duration(tt.want)*time.Second), got.DeletionTimestamp.UTC())
			assert.Equal(t, int64(2), got.Generation, "a deletion counts as a change")

			version := c.Version()
			require.NoError(t, fake.Delete[*corev1.Pod](c, key("pod"), tt.options))
			assert.Equal(t, version, c.Version(), "again changes nothing")
		})
	}
}

func TestDeletionChecksTheUID(t *testing.T) {
	c := fake.New(1)
	pod := mustCreate(t, c, newPod("pod"))
	other := types.UID("other")
	err := fake.Delete[*corev1.Pod](c, key("pod"), fake.DeleteOptions{UID: &other})
	assert.True(t, apierrors.IsConflict(err), "got %v", err)
	require.NoError(t, fake.Delete[*corev1.Pod](c, key("pod"), fake.DeleteOptions{UID: &pod.UID}))
	err = fake.Delete[*corev1.Pod](c, key("pod"), fake.DeleteOptions{})
	assert.True(t, apierrors.IsNotFound(err), "got %v", err)
	assert.NotEqual(t, pod.UID, mustCreate(t, c, newPod("pod")).UID, "a successor is another object")
}

func TestFinalizersHold(t *testing.T) {
	c := fake.New(1)
	set := newSet("set")
	set.Finalizers = []string{"example.com/a", "example.com/b"}
	mustCreate(t, c, set)
	require.NoError(t, fake.Delete[*appsv1.DaemonSet](c, key("set"), fake.DeleteOptions{}))

	held := mustGet[*appsv1.DaemonSet](t, c, key("set"))
	assert.NotNil(t, held.DeletionTimestamp)
	_, err := fake.Edit(c, key("set"), func(set *appsv1.DaemonSet) { set.Finalizers = append(set.Finalizers, "example.com/c") })
	assert.True(t, apierrors.IsInvalid(err), "no new ones while it goes: %v", err)
	_, err = fake.Edit(c, key("set"), func(set *appsv1.DaemonSet) { set.Finalizers = set.Finalizers[:1] })
	require.NoError(t, err)
	mustGet[*appsv1.DaemonSet](t, c, key("set"))
	_, err = fake.Edit(c, key("set"), func(set *appsv1.DaemonSet) { set.Finalizers = nil })
	require.NoError(t, err)
	_, err = fake.Get[*appsv1.DaemonSet](c, key("set"))
	assert.True(t, apierrors.IsNotFound(err), "got %v", err)
}

func TestTerminatingNamespaces(t *testing.T) {
	c := steady()
	mustCreate(t, c, newPod("pod"))
	mustCreate(t, c, newSet("set"))
	mustCreate(t, c, newRevision("revision"))
	c.TerminateNamespace("ns")

	_, err := fake.Create(c, newPod("new"))
	assert.True(t, apierrors.IsForbidden(err), "got %v", err)
	assert.True(t, apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause))
	elsewhere := newPod("new")
	elsewhere.Namespace = "other"
	mustCreate(t, c, elsewhere)
	_, err = fake.Edit(c, key("pod"), func(pod *corev1.Pod) { pod.Labels["b"] = "1" })
	require.NoError(t, err, "what is there can be changed")

	c.Run(time.Second)
	assert.Empty(t, fake.List[*corev1.Pod](c, "ns"))
	assert.Empty(t, fake.List[*appsv1.DaemonSet](c, "ns"))
	assert.Empty(t, fake.List[*appsv1.ControllerRevision](c, "ns"))
	assert.Len(t, fake.List[*corev1.Pod](c, "other"), 1)
}

func TestLimitOfPods(t *testing.T) {
	c := fake.New(1)
	c.LimitPods("ns", 2)
	mustCreate(t, c, newPod("a"))
	mustCreate(t, c, newPod("b"))
	_, err := fake.Create(c, newPod("c"))
	assert.True(t, apierrors.IsForbidden(err), "got %v", err)
	assert.False(t, apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause))
	assert.ErrorContains(t, err, "exceeded quota")
	mustCreate(t, c, newSet("sets-do-not-count"))

	failed := mustGet[*corev1.Pod](t, c, key("a"))
	failed.Status.Phase = corev1.PodFailed
	_, err = fake.UpdateStatus(c, failed)
	require.NoError(t, err)
	mustCreate(t, c, newPod("c"))
	_, err = fake.Create(c, newPod("d"))
	assert.True(t, apierrors.IsForbidden(err), "got %v", err)
	c.LimitPods("ns", -1)
	mustCreate(t, c, newPod("d"))
}

func TestPatches(t *testing.T) {
	c := fake.New(1)
	pod := mustCreate(t, c, newPod("pod"))
	client := c.NewClient()
	defer client.Close()
	tests := []struct {
		name, why, give string
		want            func(error) bool
	}{
		{"empty", "not JSON", ``, apierrors.IsBadRequest},
		{"null", "would replace the whole object", `null`, apierrors.IsBadRequest},
		{"list", "not an object", `[]`, apierrors.IsBadRequest},
		{"spec", "only metadata may be patched here", `{"spec":{}}`, apierrors.IsBadRequest},
		{"wrong type", "labels are an object", `{"metadata":{"labels":1}}`, apierrors.IsBadRequest},
		{"metadata that is no object", "it replaces all of it", `{"metadata":null}`, apierrors.IsBadRequest},
		{"another name", "objects are not renamed", `{"metadata":{"name":"other"}}`, apierrors.IsBadRequest},
		{"another UID", "a precondition", `{"metadata":{"uid":"other"}}`, apierrors.IsConflict},
		{"its own UID", "a precondition", `{"metadata":{"uid":"` + string(pod.UID) + `"}}`, noError},
		{"an old resource version", "a precondition", `{"metadata":{"resourceVersion":"0"}}`, apierrors.IsConflict},
		{"invalid label", "the result is checked", `{"metadata":{"labels":{"a":"b c"}}}`, apierrors.IsInvalid},
		{"server's fields", "they are kept", `{"metadata":{"creationTimestamp":null,"generation":9}}`, noError},
		{"finalizers", "metadata too", `{"metadata":{"finalizers":["example.com/a"]}}`, noError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := client.PatchPod(t.Context(), ref(pod), []byte(tt.give))
			assert.True(t, tt.want(err), "%s: got %v", tt.why, err)
			got := mustGet[*corev1.Pod](t, c, key("pod"))
			assert.Equal(t, pod.CreationTimestamp, got.CreationTimestamp)
			assert.Equal(t, pod.Generation, got.Generation)
			assert.Equal(t, pod.Labels, got.Labels)
		})
	}
	assert.Equal(t, []string{"example.com/a"}, mustGet[*corev1.Pod](t, c, key("pod")).Finalizers)
}
