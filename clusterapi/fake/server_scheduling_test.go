package fake_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/daemonplan/daemonplan/clusterapi/fake"
)

// TestServerIsStrictAboutScheduling gives the same specs as a pod and as a template.
func TestServerIsStrictAboutScheduling(t *testing.T) {
	seconds := int64(5)
	tolerate := func(toleration corev1.Toleration) func(s *corev1.PodSpec) {
		return func(s *corev1.PodSpec) { s.Tolerations = []corev1.Toleration{toleration} }
	}
	selector := func(key, value string) func(s *corev1.PodSpec) {
		return func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{key: value} }
	}
	const exists, equal = corev1.TolerationOpExists, corev1.TolerationOpEqual
	tests := []struct {
		name, why string
		give      func(s *corev1.PodSpec)
		valid     bool
	}{
		{"nothing", "the base of the cases below", func(*corev1.PodSpec) {}, true},
		{"selector", "a label", selector("example.com/a", "b"), true},
		{"selector's key", "no label has a space in its key", selector("a b", "c"), false},
		{"selector's value", "no label has a space in its value", selector("a", "b c"), false},
		{"all taints", "no key and Exists", tolerate(corev1.Toleration{Operator: exists}), true},
		{"no key and Equal", "that tolerates nothing", tolerate(corev1.Toleration{Operator: equal, Value: "v"}), false},
		{"no key and no operator", "that means Equal", tolerate(corev1.Toleration{}), false},
		{"no operator", "that means Equal", tolerate(corev1.Toleration{Key: "k", Value: "v"}), true},
		{"key", "it is a label's", tolerate(corev1.Toleration{Key: "a b", Operator: exists}), false},
		{"value of Equal", "it is a label's", tolerate(corev1.Toleration{Key: "k", Operator: equal, Value: "a b"}), false},
		{"value of Exists", "it has none", tolerate(corev1.Toleration{Key: "k", Operator: exists, Value: "v"}), false},
		{"unknown operator", "there are two", tolerate(corev1.Toleration{Key: "k", Operator: "Like"}), false},
		{"Gt", "behind a feature gate", tolerate(corev1.Toleration{Key: "k", Operator: corev1.TolerationOpGt, Value: "1"}), false},
		{"unknown effect", "there are three", tolerate(corev1.Toleration{Key: "k", Operator: exists, Effect: "Other"}), false},
		{"seconds", "how long it may stay", tolerate(corev1.Toleration{
			Key: "k", Operator: exists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds,
		}), true},
		{"seconds for all effects", "only NoExecute drives off", tolerate(corev1.Toleration{Key: "k", Operator: exists, TolerationSeconds: &seconds}), false},
		{"init container", "it is a container", func(s *corev1.PodSpec) {
			s.InitContainers = []corev1.Container{{Name: "init", Image: "example.com/init:1"}}
		}, true},
		{"init container without image", "what should run", func(s *corev1.PodSpec) {
			s.InitContainers = []corev1.Container{{Name: "init"}}
		}, false},
		{"init container of another's name", "names are unique in a pod", func(s *corev1.PodSpec) {
			s.InitContainers = []corev1.Container{{Name: s.Containers[0].Name, Image: "example.com/init:1"}}
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := fake.New(1)
			pod, set := newPod("pod"), newSet("set")
			tt.give(&pod.Spec)
			tt.give(&set.Spec.Template.Spec)
			_, podErr := fake.Create(c, pod)
			_, setErr := fake.Create(c, set)
			if tt.valid {
				require.NoError(t, podErr, tt.why)
				require.NoError(t, setErr, tt.why)
				return
			}
			assert.True(t, apierrors.IsInvalid(podErr), "%s: got %v", tt.why, podErr)
			assert.True(t, apierrors.IsInvalid(setErr), "%s: got %v", tt.why, setErr)
		})
	}
}

func TestDeadlines(t *testing.T) {
	after := func(seconds int64) *int64 { return &seconds }
	tests := []struct {
		name, why   string
		before, now *int64
		valid       bool
	}{
		{"set", "a pod may get one", nil, after(9), true},
		{"nearer", "it may become less", after(9), after(8), true},
		{"further away", "it may not become more", after(9), after(10), false},
		{"taken away", "it may not end", after(9), nil, false},
		{"zero", "it is positive", after(9), after(0), false},
		{"too large", "it has 32 bits", nil, after(1 << 31), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := fake.New(1)
			pod := newPod("pod")
			pod.Spec.ActiveDeadlineSeconds = tt.before
			mustCreate(t, c, pod)
			_, err := fake.Edit(c, key("pod"), func(pod *corev1.Pod) { pod.Spec.ActiveDeadlineSeconds = tt.now })
			if tt.valid {
				require.NoError(t, err, tt.why)
				return
			}
			assert.True(t, apierrors.IsInvalid(err), "%s: got %v", tt.why, err)
		})
	}
	c := fake.New(1)
	set := newSet("set")
	set.Spec.Template.Spec.ActiveDeadlineSeconds = after(9)
	_, err := fake.Create(c, set)
	assert.True(t, apierrors.IsInvalid(err), "daemons have none: %v", err)
	mustCreate(t, c, newSet("other"))
	_, err = fake.Edit(c, key("other"), func(set *appsv1.DaemonSet) { set.Spec.Template.Spec.ActiveDeadlineSeconds = after(9) })
	assert.True(t, apierrors.IsInvalid(err), "nor do they get one: %v", err)
}

func TestImagesOfInitContainersCanChange(t *testing.T) {
	c := fake.New(1)
	pod := newPod("pod")
	pod.Spec.InitContainers = []corev1.Container{{Name: "init", Image: "example.com/init:1"}}
	mustCreate(t, c, pod)
	got, err := fake.Edit(c, key("pod"), func(pod *corev1.Pod) { pod.Spec.InitContainers[0].Image = "example.com/init:2" })
	require.NoError(t, err)
	assert.Equal(t, "example.com/init:2", got.Spec.InitContainers[0].Image)
	_, err = fake.Edit(c, key("pod"), func(pod *corev1.Pod) { pod.Spec.InitContainers = nil })
	assert.True(t, apierrors.IsInvalid(err), "they stay: %v", err)
	_, err = fake.Edit(c, key("pod"), func(pod *corev1.Pod) { pod.Spec.InitContainers[0].Command = []string{"b"} })
	assert.True(t, apierrors.IsInvalid(err), "they run as they were made: %v", err)
}
