package fake_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
)

func key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "ns", Name: name}
}

func nodeKey(name string) types.NamespacedName { return types.NamespacedName{Name: name} }

func newNode(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"name": name}}}
}

// newPod is an orphan that runs anywhere.
func newPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{"app": "agent"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/agent:1"}}},
	}
}

// newPodOn is pinned to a node as daemon pods are.
func newPodOn(name, node string) *corev1.Pod {
	pod := newPod(name)
	pod.Spec.Affinity = placement.PinTo(nil, node)
	return pod
}

func newOwned(name, node string, owner *appsv1.DaemonSet) *corev1.Pod {
	pod := newPodOn(name, node)
	pod.OwnerReferences = []metav1.OwnerReference{controllerRef(owner)}
	return pod
}

func controllerRef(owner *appsv1.DaemonSet) metav1.OwnerReference {
	return *metav1.NewControllerRef(owner, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))
}

func newSet(name string) *appsv1.DaemonSet {
	labels := map[string]string{"app": name}
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/agent:1"}}},
			},
		},
	}
}

func newRevision(name string) *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
		Data:       runtime.RawExtension{Raw: []byte(`{"spec":{}}`)},
		Revision:   1,
	}
}

func mustCreate[T fake.Object](t *testing.T, c *fake.Cluster, obj T) T {
	t.Helper()
	stored, err := fake.Create(c, obj)
	require.NoError(t, err)
	return stored
}

func mustGet[T fake.Object](t *testing.T, c *fake.Cluster, key types.NamespacedName) T {
	t.Helper()
	stored, err := fake.Get[T](c, key)
	require.NoError(t, err)
	return stored
}

func ref(obj metav1.Object) daemonset.Ref {
	return daemonset.Ref{Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID()}
}

// steady is a cluster in which things take whole seconds: bound at once, running after 1 s,
// ready 2 s later, stopped after 3 s.
func steady() *fake.Cluster {
	c := fake.New(1)
	c.SetTiming(fake.Timing{
		Start: time.Second, Ready: 2 * time.Second, Stop: 3 * time.Second,
		Collect: time.Second, LostNode: 40 * time.Second, Unreachable: 50 * time.Second,
	})
	return c
}

func phaseAndReady(pod *corev1.Pod) string {
	state := string(pod.Status.Phase)
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
			state += " ready"
		}
	}
	if pod.DeletionTimestamp != nil {
		state += " deleted"
	}
	return state
}

// stateOf is empty for a pod that is not there.
func stateOf(c *fake.Cluster, name string) string {
	pod, err := fake.Get[*corev1.Pod](c, key(name))
	if err != nil {
		return ""
	}
	return phaseAndReady(pod)
}

func names[T fake.Object](objects []T) []string {
	list := []string{}
	for _, obj := range objects {
		list = append(list, obj.GetName())
	}
	return list
}
