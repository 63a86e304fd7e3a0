package clusterapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
)

// TestAdoption: orphans are adopted only while the server itself still has the set.
func TestAdoption(t *testing.T) {
	orphan := func(w *world) {
		labels := map[string]string{"app": "agent"}
		_, err := fake.Create(w.cluster, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: agent.Namespace, Name: "orphan", Labels: labels,
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Friend", Name: "f", UID: "f"}},
			},
			Spec: corev1.PodSpec{NodeName: nodeName(0), Containers: []corev1.Container{{Name: "agent", Image: "registry.example/agent:v0"}}},
		})
		require.NoError(w, err)
		w.client.Sync()
	}
	t.Run("adopted and updated", func(t *testing.T) {
		w := newWorld(t, 1)
		orphan(w)
		result, err := w.sync()
		require.NoError(t, err)
		require.Equal(t, []clusterapi.Outcome{clusterapi.Done}, outcomes(result, clusterapi.AdoptPod))
		pod, err := fake.Get[*corev1.Pod](w.cluster, types.NamespacedName{Namespace: agent.Namespace, Name: "orphan"})
		require.NoError(t, err)
		require.Len(t, pod.OwnerReferences, 2, "other owners stay")
		require.Equal(t, w.set().UID, metav1.GetControllerOf(pod).UID)
		w.settle(30)
		require.Len(t, w.pods(), 1)
		require.Equal(t, "registry.example/agent:v1", w.pods()[0].Spec.Containers[0].Image)
	})
	t.Run("the set is gone", func(t *testing.T) {
		w := newWorld(t, 1)
		orphan(w)
		w.client.SetLag(fake.Lag{Hold: true}, fake.DaemonSetKind)
		require.NoError(t, fake.Delete[*appsv1.DaemonSet](w.cluster, agent, fake.DeleteOptions{Propagation: fake.Background}))
		result, err := w.sync()
		require.Error(t, err)
		require.Equal(t, []clusterapi.Outcome{clusterapi.Skipped}, outcomes(result, clusterapi.AdoptPod))
		for _, wr := range result.Writes {
			require.Equal(t, clusterapi.Skipped, wr.Outcome, "%s: the whole plan rests on the set", wr.Verb)
		}
	})
	t.Run("the set was made anew", func(t *testing.T) {
		w := newWorld(t, 1)
		orphan(w)
		w.client.SetLag(fake.Lag{Hold: true}, fake.DaemonSetKind)
		require.NoError(t, fake.Delete[*appsv1.DaemonSet](w.cluster, agent, fake.DeleteOptions{Propagation: fake.Background}))
		_, err := fake.Create(w.cluster, agentSet())
		require.NoError(t, err)
		result, err := w.sync()
		require.Error(t, err)
		require.Equal(t, []clusterapi.Outcome{clusterapi.Skipped}, outcomes(result, clusterapi.AdoptPod))
	})
}

// TestRelease: a pod that the selector does not match any more is let go, and is no
// longer the set's business.
func TestRelease(t *testing.T) {
	w := newWorld(t, 1)
	w.settle(10)
	pod := w.pods()[0]
	_, err := fake.Edit(w.cluster, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, func(p *corev1.Pod) {
		p.Labels["app"] = "debugged"
	})
	require.NoError(t, err)
	w.settle(10)
	require.Len(t, w.pods(), 2)
	released, err := fake.Get[*corev1.Pod](w.cluster, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name})
	require.NoError(t, err)
	require.Empty(t, released.OwnerReferences)
}

// TestRevisionNameTaken: the name of a new revision may be taken without our caches
// showing it.
func TestRevisionNameTaken(t *testing.T) {
	tests := []struct {
		name string
		why  string
		data func(w *world, r *appsv1.ControllerRevision)
		want []clusterapi.Outcome
	}{
		{"by the same template", "it is as good as created", func(*world, *appsv1.ControllerRevision) {}, []clusterapi.Outcome{clusterapi.AlreadyDone}},
		{"by another template", "the collision count is raised, and another hash is used", func(_ *world, r *appsv1.ControllerRevision) {
			r.Data.Raw = []byte(`{"spec":{"template":{"metadata":{"labels":{"app":"else"}}}}}`)
		}, []clusterapi.Outcome{clusterapi.Failed}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, 2)
			result, err := w.sync()
			require.NoError(t, err)
			taken := result.Plan.Revisions[0].Revision
			// The same again in a world where the name is taken behind the cache's back.
			w = newWorld(t, 2)
			w.client.SetLag(fake.Lag{Hold: true}, fake.RevisionKind)
			taken.OwnerReferences = nil
			taken.Labels = map[string]string{appsv1.ControllerRevisionHashLabelKey: result.Plan.Revision.Hash}
			tt.data(w, taken)
			_, err = fake.Create(w.cluster, taken)
			require.NoError(t, err)
			result, err = w.sync()
			require.Equal(t, tt.want, outcomes(result, clusterapi.CreateRevision), tt.why)
			if tt.want[0] == clusterapi.Failed {
				require.Error(t, err)
				require.EqualValues(t, 1, *w.set().Status.CollisionCount)
				require.Empty(t, w.pods(), "no pod carries a revision that is not there")
			}
			w.client.SetLag(fake.Lag{})
			w.settle(30)
			require.Len(t, w.pods(), 2)
			require.EqualValues(t, 2, w.set().Status.UpdatedNumberScheduled)
		})
	}
}

// TestStatusConflict: a status that meets a newer set is written once more on a fresh read.
func TestStatusConflict(t *testing.T) {
	w := newWorld(t, 1)
	w.client.SetLag(fake.Lag{Hold: true}, fake.DaemonSetKind)
	w.edit(func(set *appsv1.DaemonSet) { set.Labels = map[string]string{"touched": "yes"} })
	result, err := w.sync()
	require.NoError(t, err)
	require.Equal(t, []clusterapi.Outcome{clusterapi.Done}, outcomes(result, clusterapi.UpdateStatus))
	require.EqualValues(t, 1, w.set().Status.DesiredNumberScheduled)
	require.Equal(t, "yes", w.set().Labels["touched"])
}
