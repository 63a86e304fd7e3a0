package clusterapi

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/daemonset"
)

// suspended keeps which sets wait for room on which node, from plan to plan. Its zero value
// is ready. Without Options.Fit and Options.Surge it stays empty.
type suspended struct {
	mu   sync.Mutex
	sets daemonset.Suspensions
}

func (s *suspended) of(key types.NamespacedName) []daemonset.Suspension {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sets.Of(key)
}

func (s *suspended) observing(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sets.Observing(key)
}

func (s *suspended) planned(plan daemonset.Plan) (again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sets.Planned(plan)
}

func (s *suspended) forget(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sets.Forget(key)
}

// podChanged adds to w the sets that wait for the room that a pod has left.
func (s *suspended) podChanged(w daemonset.Wakes, prev, cur *corev1.Pod) daemonset.Wakes {
	s.mu.Lock()
	defer s.mu.Unlock()
	return w.And(s.sets.PodChanged(prev, cur))
}

// nodeChanged adds to w the sets that wait for what a node has now.
func (s *suspended) nodeChanged(w daemonset.Wakes, prev, cur *corev1.Node) daemonset.Wakes {
	s.mu.Lock()
	defer s.mu.Unlock()
	return w.And(s.sets.NodeChanged(prev, cur))
}
