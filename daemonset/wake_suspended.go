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
// Options.Fit or Options.Surge. Its zero value is empty and ready. It needs exclusive access,
// but for Of, which only reads.
//
// A pass calls Observing before it reads and Planned with what came of it; events go to
// PodChanged and NodeChanged meanwhile.
type Suspensions struct {
	nodes map[string]map[types.NamespacedName]struct{}
	sets  map[types.NamespacedName]waiting
	// freed are, for each set that is being looked at, the nodes on which room was left since.
	freed map[types.NamespacedName]map[string]struct{}
}

// waiting is what a set's last plan says.
type waiting struct {
	suspended []Suspension
	nodes     []string // those of suspended, and others on which it waits for room
}

// Observing notes that the cluster is about to be read for a plan for the set.
func (s *Suspensions) Observing(key types.NamespacedName) {
	if s.freed == nil {
		s.freed = map[types.NamespacedName]map[string]struct{}{}
	}
	s.freed[key] = map[string]struct{}{}
}

// Planned takes note of a plan: the set waits where that is suspended or cannot surge, and
// nowhere else. It reports whether room was left on one of these nodes since Observing: the
// plan may not know, no event will tell again, and another one has to be made.
func (s *Suspensions) Planned(plan Plan) (again bool) {
	key := types.NamespacedName{Namespace: plan.For.Namespace, Name: plan.For.Name}
	freed := s.freed[key]
	s.Forget(key)
	nodes := waitsOn(plan)
	if len(nodes) == 0 {
		return false
	}
	if s.sets == nil {
		s.sets = map[types.NamespacedName]waiting{}
		s.nodes = map[string]map[types.NamespacedName]struct{}{}
	}
	s.sets[key] = waiting{suspended: plan.Suspended, nodes: nodes}
	for _, name := range nodes {
		if s.nodes[name] == nil {
			s.nodes[name] = map[types.NamespacedName]struct{}{}
		}
		s.nodes[name][key] = struct{}{}
		_, left := freed[name]
		again = again || left
	}
	return again
}

// waitsOn lists the nodes on which a plan waits for other pods to go.
func waitsOn(plan Plan) []string {
	var nodes []string
	for _, on := range plan.Suspended {
		nodes = append(nodes, on.Node)
	}
	for i := range plan.Nodes {
		if plan.Nodes[i].Reason == SurgeBlocked {
			nodes = append(nodes, plan.Nodes[i].Name)
		}
	}
	return nodes
}

// Forget drops a set.
func (s *Suspensions) Forget(key types.NamespacedName) {
	for _, name := range s.sets[key].nodes {
		if delete(s.nodes[name], key); len(s.nodes[name]) == 0 {
			delete(s.nodes, name)
		}
	}
	delete(s.sets, key)
	delete(s.freed, key)
}

// Of returns the suspensions of a set's last plan, for the next Snapshot. They must not be
// written to.
func (s *Suspensions) Of(key types.NamespacedName) []Suspension { return s.sets[key].suspended }

// PodChanged returns what a pod's event asks for: a pod that has left its node, or holds
// nothing there any more because it ended, wakes the sets that wait on the node, as in
// Kubernetes v1.12. A nil prev means added, a nil cur deleted.
func (s *Suspensions) PodChanged(prev, cur *corev1.Pod) Wakes {
	node, held := holds(prev)
	if now, still := holds(cur); !held || still && now == node && cur.UID == prev.UID {
		return Wakes{}
	}
	return s.free(node)
}

// holds says which node a pod takes room on.
func holds(pod *corev1.Pod) (node string, ok bool) {
	if pod == nil || finished(pod) {
		return "", false
	}
	return placement.TargetNode(pod)
}

// NodeChanged returns what a node's event asks for: a change of what it can hold or of its
// conditions wakes the sets that wait on it. Labels and taints are SetIndex's.
func (s *Suspensions) NodeChanged(prev, cur *corev1.Node) Wakes {
	if prev == nil || cur == nil {
		return Wakes{}
	}
	same := func(a, b corev1.NodeCondition) bool { return a.Type == b.Type && a.Status == b.Status }
	if equality.Semantic.DeepEqual(prev.Status.Allocatable, cur.Status.Allocatable) &&
		slices.EqualFunc(prev.Status.Conditions, cur.Status.Conditions, same) {
		return Wakes{}
	}
	return s.free(cur.Name)
}

// free notes that there may be room on a node.
func (s *Suspensions) free(node string) Wakes {
	for _, key := range slices.SortedFunc(maps.Keys(s.freed), compareKeys) {
		s.freed[key][node] = struct{}{}
	}
	if len(s.nodes[node]) == 0 {
		return Wakes{}
	}
	return Wakes{Sets: slices.SortedFunc(maps.Keys(s.nodes[node]), compareKeys)}
}
