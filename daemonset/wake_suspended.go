package daemonset

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/placement"
)

// Suspensions says which sets wait for room on which node, for those who plan with
// Options.Fit. Its zero value is empty and ready. It needs exclusive access for Planned and
// Forget; the other methods only read.
type Suspensions struct {
	nodes map[string]map[types.NamespacedName]struct{}
	sets  map[types.NamespacedName][]Suspension
}

// Planned takes note of a plan: the set waits where that says, and nowhere else.
func (s *Suspensions) Planned(plan Plan) {
	key := types.NamespacedName{Namespace: plan.For.Namespace, Name: plan.For.Name}
	s.Forget(key)
	if len(plan.Suspended) == 0 {
		return
	}
	if s.sets == nil {
		s.sets = map[types.NamespacedName][]Suspension{}
		s.nodes = map[string]map[types.NamespacedName]struct{}{}
	}
	s.sets[key] = plan.Suspended
	for _, on := range plan.Suspended {
		if s.nodes[on.Node] == nil {
			s.nodes[on.Node] = map[types.NamespacedName]struct{}{}
		}
		s.nodes[on.Node][key] = struct{}{}
	}
}

// Forget drops a set.
func (s *Suspensions) Forget(key types.NamespacedName) {
	for _, on := range s.sets[key] {
		if delete(s.nodes[on.Node], key); len(s.nodes[on.Node]) == 0 {
			delete(s.nodes, on.Node)
		}
	}
	delete(s.sets, key)
}

// Of returns the suspensions of a set's last plan, for the next Snapshot. They must not be
// written to.
func (s *Suspensions) Of(key types.NamespacedName) []Suspension { return s.sets[key] }

// PodChanged returns what a pod's event asks for: a pod that has left its node, or holds
// nothing there any more because it ended, wakes the sets that are suspended on the node, as
// in Kubernetes v1.12. A nil prev means added, a nil cur deleted.
func (s *Suspensions) PodChanged(prev, cur *corev1.Pod) Wakes {
	node, held := holds(prev)
	if now, still := holds(cur); !held || still && now == node && cur.UID == prev.UID {
		return Wakes{}
	}
	return s.on(node)
}

// holds says which node a pod takes room on.
func holds(pod *corev1.Pod) (node string, ok bool) {
	if pod == nil || finished(pod) {
		return "", false
	}
	return placement.TargetNode(pod)
}

// NodeChanged returns what a node's event asks for: a change of what it can hold or of its
// conditions wakes the sets that are suspended on it. Labels and taints are SetIndex's.
func (s *Suspensions) NodeChanged(prev, cur *corev1.Node) Wakes {
	if prev == nil || cur == nil {
		return Wakes{}
	}
	same := func(a, b corev1.NodeCondition) bool { return a.Type == b.Type && a.Status == b.Status }
	if equality.Semantic.DeepEqual(prev.Status.Allocatable, cur.Status.Allocatable) &&
		slices.EqualFunc(prev.Status.Conditions, cur.Status.Conditions, same) {
		return Wakes{}
	}
	return s.on(cur.Name)
}

func (s *Suspensions) on(node string) Wakes {
	if len(s.nodes[node]) == 0 {
		return Wakes{}
	}
	return Wakes{Sets: slices.SortedFunc(maps.Keys(s.nodes[node]), compareKeys)}
}
