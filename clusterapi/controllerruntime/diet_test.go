package controllerruntime_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/internal/conformance"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemonplan/daemonplan/clusterapi/controllerruntime"
)

const corpus = "../../daemonset/testdata/conformance/upstream-v1.37.2.jsonl.gz"

// diet applies what a cache with Diet would.
func diet[T client.Object](t *testing.T, obj T) T {
	t.Helper()
	for kind, settings := range controllerruntime.Diet() {
		if _, ok := kind.(T); ok {
			slim, err := settings.Transform(obj)
			require.NoError(t, err)
			return slim.(T)
		}
	}
	require.Fail(t, "no diet", "%T", obj)
	return obj
}

func diets[T client.Object](t *testing.T, objects []T, copied func(T) T) []T {
	t.Helper()
	var slim []T
	for _, obj := range objects {
		slim = append(slim, diet(t, diet(t, copied(obj)))) // twice is as good as once
	}
	return slim
}

// TestDietChangesNoPlan: whatever the diet drops, no plan of the conformance corpus reads.
func TestDietChangesNoPlan(t *testing.T) {
	cases := 0
	for c, err := range conformance.Read(corpus) {
		require.NoError(t, err)
		cases++
		full := daemonset.Snapshot{Objects: c.Snapshot, Backoff: c.Backoff, Now: c.Now}
		slim := full
		slim.Objects = daemonset.Objects{
			DaemonSet: diet(t, full.Objects.DaemonSet.DeepCopy()),
			Nodes:     diets(t, full.Objects.Nodes, (*corev1.Node).DeepCopy),
			Pods:      diets(t, full.Objects.Pods, (*corev1.Pod).DeepCopy),
			Revisions: diets(t, full.Objects.Revisions, (*appsv1.ControllerRevision).DeepCopy),
		}
		options := daemonset.Options{Burst: c.Burst}
		want, wantErr := daemonset.Compute(full, options)
		got, gotErr := daemonset.Compute(slim, options)
		require.Equal(t, wantErr, gotErr, c.ID)
		require.Equal(t, daemonset.Describe(want), daemonset.Describe(got), c.ID)
		wantJSON, err := json.Marshal(want)
		require.NoError(t, err)
		gotJSON, err := json.Marshal(got)
		require.NoError(t, err)
		require.JSONEq(t, string(wantJSON), string(gotJSON), c.ID)
	}
	require.Greater(t, cases, 1000)
	t.Logf("%d plans are the same", cases)
}

func TestDietOfPods(t *testing.T) {
	set := stored()
	full := func(edits ...func(*corev1.Pod)) *corev1.Pod {
		pod := podOf(set, "1", edits...)
		pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet"}}
		pod.Annotations = map[string]string{"a": "b"}
		pod.Spec.Containers = set.Spec.Template.Spec.Containers
		pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{}}
		pod.Status.Phase = corev1.PodRunning
		pod.Status.PodIP = "10.0.0.1"
		pod.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Unix(1, 0), Message: "well"},
		}
		return pod
	}
	t.Run("of a DaemonSet", func(t *testing.T) {
		want := podOf(set, "1")
		want.Status.Phase = corev1.PodRunning
		want.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Unix(1, 0)},
		}
		require.Equal(t, want, diet(t, full()))
	})
	t.Run("of others", func(t *testing.T) {
		others := func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "ReplicaSet" }
		want := podOf(set, "1", others)
		want.Labels, want.Spec = nil, corev1.PodSpec{}
		require.Equal(t, want, diet(t, full(others)))
	})
	t.Run("of nobody", func(t *testing.T) {
		got := diet(t, full(uncontrolled))
		require.Equal(t, set.Spec.Template.Labels, got.Labels, "a selector may match it")
		require.Equal(t, "node", got.Spec.NodeName)
	})
}

func TestDietOfOthers(t *testing.T) {
	managed := []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	set := stored(func(s *appsv1.DaemonSet) { s.ManagedFields = managed })
	require.Equal(t, stored(), diet(t, set))
	revision := history()
	revision.ManagedFields = managed
	require.Equal(t, history(), diet(t, revision))
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "n", ResourceVersion: "1", Labels: map[string]string{"a": "b"}, ManagedFields: managed},
		Spec:       corev1.NodeSpec{PodCIDR: "10.0.0.0/24", Taints: []corev1.Taint{{Key: "x"}}},
		Status:     corev1.NodeStatus{Images: []corev1.ContainerImage{{Names: []string{"i"}}}},
	}
	require.Equal(t, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "n", ResourceVersion: "1", Labels: map[string]string{"a": "b"}},
		Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: "x"}}},
	}, diet(t, node))
	for _, settings := range controllerruntime.Diet() {
		tombstone := toolscache.DeletedFinalStateUnknown{Key: "ns/x"}
		got, err := settings.Transform(tombstone)
		require.NoError(t, err)
		require.Equal(t, tombstone, got, "what is unknown stays as it is")
	}
}

func history() *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "agent-1", UID: "revision", ResourceVersion: "1",
			CreationTimestamp: metav1.NewTime(time.Unix(1, 0)), Annotations: map[string]string{"a": "b"},
		},
		Revision: 1,
	}
}
