package clientgo_test

import (
	"sync"
	"testing"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// wakes collects what handlers ask for.
type wakes struct {
	mu  sync.Mutex
	all []daemonset.Wakes
}

func (w *wakes) Wake(got daemonset.Wakes) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, got)
}

// await waits for a wake that is as wanted, and forgets those before it.
func (w *wakes) await(t *testing.T, what string, wanted func(daemonset.Wakes) bool) daemonset.Wakes {
	t.Helper()
	var found daemonset.Wakes
	require.Eventually(t, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		for i, got := range w.all {
			if wanted(got) {
				found, w.all = got, w.all[i+1:]
				return true
			}
		}
		return false
	}, patience, tick, what)
	return found
}

func (w *wakes) none(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	require.Empty(t, w.all)
}

func saw(sight daemonset.Sight, pod types.UID) func(daemonset.Wakes) bool {
	return func(w daemonset.Wakes) bool {
		return len(w.Seen) == 1 && w.Seen[0].What == sight && w.Seen[0].Pod == pod
	}
}

// handled is a harness with handlers.
func handled(t *testing.T) (*harness, *wakes) {
	t.Helper()
	h := newHarness(t)
	driver, err := clusterapi.NewDriver(clusterapi.Config{API: h.api})
	require.NoError(t, err)
	sink := &wakes{}
	handlers, err := h.informers.Handle(driver.NewFeed(h.informers.PodsOn), sink)
	require.NoError(t, err)
	h.remove = handlers.Remove
	return h, sink
}

// podOf makes the set's pod on the first node.
func podOf(t *testing.T, h *harness, set *appsv1.DaemonSet) *corev1.Pod {
	t.Helper()
	return created(t, h, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: agent.Namespace, Name: "p", Labels: set.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, daemonSetKind)},
		},
		Spec: corev1.PodSpec{NodeName: "node-0", Containers: set.Spec.Template.Spec.Containers},
	})
}

func TestHandlersTellOfEveryKind(t *testing.T) {
	h, sink := handled(t)
	wokeAgent := func(w daemonset.Wakes) bool { return len(w.Sets) == 1 && w.Sets[0] == agent }
	set := created(t, h, agentSet())
	sink.await(t, "the set", wokeAgent)
	created(t, h, node(0))
	sink.await(t, "a node without a pod", wokeAgent)

	p := podOf(t, h, set)
	got := sink.await(t, "a pod", saw(daemonset.SawCreate, p.UID))
	require.Equal(t, set.UID, got.Seen[0].Owner)
	require.Equal(t, []types.NamespacedName{agent}, got.Sets)
	created(t, h, &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{
		Namespace: agent.Namespace, Name: "r", OwnerReferences: p.OwnerReferences,
	}, Data: runtime.RawExtension{Raw: []byte(`{}`)}})
	sink.await(t, "a revision", wokeAgent)

	_, err := fake.Edit(h.server.Cluster, types.NamespacedName{Name: "node-0"}, func(n *corev1.Node) { n.Labels = map[string]string{"a": "b"} })
	require.NoError(t, err)
	h.Sync(t)
	sink.none(t) // the pod is there, so the node does not matter

	require.NoError(t, h.remove())
	removed(t, h, set)
	h.Sync(t)
	sink.none(t) // nobody is told any more
}

// TestHandlersLearnLate: what a watch has missed comes as a final state, or as an update from
// one object to another of the same name.
func TestHandlersLearnLate(t *testing.T) {
	h, sink := handled(t)
	set := created(t, h, agentSet())
	p := podOf(t, h, set)
	sink.await(t, "the pod", saw(daemonset.SawCreate, p.UID))

	h.server.log.hold()
	removed(t, h, p)
	removed(t, h, set)
	successor := created(t, h, agentSet())
	require.NotEqual(t, set.UID, successor.UID)
	h.server.log.expire() // the informers have to list again

	gone := saw(daemonset.SawDelete, p.UID)
	var forgotten, deleted bool
	for !forgotten || !deleted {
		got := sink.await(t, "the successor, and the end of the pod", func(w daemonset.Wakes) bool { return len(w.Forget) == 1 || gone(w) })
		if gone(got) {
			deleted = true
			continue
		}
		forgotten = true
		require.Equal(t, daemonset.Wakes{Sets: []types.NamespacedName{agent}, Forget: []types.UID{set.UID}}, got)
	}
}
