package clusterapi

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/daemonset"
)

// suspended keeps which sets wait for room on which node, from plan to plan. Its zero value
// is ready. Without Options.Fit it stays empty.
type suspended struct {
	mu   sync.RWMutex
	sets daemonset.Suspensions
}

func (s *suspended) of(key types.NamespacedName) []daemonset.Suspension {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.sets.Of(key)
}

func (s *suspended) planned(plan daemonset.Plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sets.Planned(plan)
}

func (s *suspended) forget(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sets.Forget(key)
}

// podChanged adds to w the sets that wait for the room that a pod has left.
func (s *suspended) podChanged(w daemonset.Wakes, prev, cur *corev1.Pod) daemonset.Wakes {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return w.And(s.sets.PodChanged(prev, cur))
}

// nodeChanged adds to w the sets that wait for what a node has now.
func (s *suspended) nodeChanged(w daemonset.Wakes, prev, cur *corev1.Node) daemonset.Wakes {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return w.And(s.sets.NodeChanged(prev, cur))
}
