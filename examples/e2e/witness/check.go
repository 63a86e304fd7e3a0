package witness

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// Kind is what a violation is about.
type Kind string

// The kinds of violations.
const (
	// Twins are two live pods of one set for one node, other than an old and a new one that
	// a surge allows.
	Twins Kind = "Twins"
	// OverSurge is a new pod beside an old one on more nodes than maxSurge allows.
	OverSurge Kind = "OverSurge"
	// OverBudget is an available pod, taken down while as many nodes are without one as
	// maxUnavailable allows.
	OverBudget Kind = "OverBudget"
	// Dropped is a pod without an owner that the set's selector still picks out.
	Dropped Kind = "Dropped"
	// Missing is a node that is to have a pod and has none, at the end.
	Missing Kind = "Missing"
	// Unwanted is a live pod for a node that is to have none, at the end.
	Unwanted Kind = "Unwanted"
)

// Violation is one thing that must not have happened.
type Violation struct {
	Kind    Kind
	Set     string // namespace/name
	Node    string // empty if it is about no single node
	Version uint64 // of the change with which it came about; zero for the end
	Detail  string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s of %s on node %q at version %d: %s", v.Kind, v.Set, v.Node, v.Version, v.Detail)
}

// Check replays a history and returns what was wrong at any time, and what is wrong at its
// end. Sets that are being deleted, and those that use OnDelete, take nothing down by
// themselves, so their pods' ends are not counted against a budget.
func Check(history History) []Violation {
	w := newWorld()
	var found []Violation
	for _, change := range history.InOrder() {
		if pod, ok := change.Object.(*corev1.Pod); ok {
			found = append(found, w.checkDelete(change, pod)...)
			w.apply(change)
			found = append(found, w.checkPresence(change, pod)...)
			continue
		}
		w.apply(change)
	}
	return append(found, w.checkEnd()...)
}

func (w *world) ownerOf(pod *corev1.Pod) *appsv1.DaemonSet {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return nil
	}
	return w.sets[owner.UID]
}

// checkDelete looks at a pod that was available and is now being deleted. It runs before
// the change is applied.
func (w *world) checkDelete(change Change, pod *corev1.Pod) []Violation {
	set := w.ownerOf(pod)
	ends := pod.DeletionTimestamp != nil || change.Type == watch.Deleted
	if set == nil || !ends || !w.counts(set, pod, change.Seen) {
		return nil
	}
	allowed, _ := budget(set, len(w.wanted(set)))
	down := w.unavailable(set, change.Seen)
	if down < allowed {
		return nil
	}
	return []Violation{{
		Kind: OverBudget, Set: key(set), Node: target(pod), Version: change.Version(),
		Detail: fmt.Sprintf("pod %s is taken down while %d of %d nodes are without an available pod and %d may be",
			pod.Name, down, len(w.wanted(set)), allowed),
	}}
}

// counts reports whether a pod must not go down but within the budget of its set: it was
// available, alone, and on a node that is to have one.
func (w *world) counts(set *appsv1.DaemonSet, pod *corev1.Pod, now time.Time) bool {
	before, node := w.pods[pod.UID], w.nodes[target(pod)]
	switch {
	case set.DeletionTimestamp != nil || set.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType:
		return false
	case before == nil || !isLive(before) || !available(set, before, now):
		return false
	case node == nil || !wants(set, node):
		return false
	}
	return !w.replaced(set, before, now)
}

// replaced reports whether another pod of the set is available on the pod's node.
func (w *world) replaced(set *appsv1.DaemonSet, pod *corev1.Pod, now time.Time) bool {
	return slices.ContainsFunc(w.podsOf(set)[target(pod)], func(other *corev1.Pod) bool {
		return other.UID != pod.UID && available(set, other, now)
	})
}

// checkPresence looks at a pod that appeared or changed.
func (w *world) checkPresence(change Change, pod *corev1.Pod) []Violation {
	if change.Type == watch.Deleted {
		return nil
	}
	if change.Type == watch.Added {
		return w.checkTwins(change, pod)
	}
	return w.checkDropped(change, pod)
}

func (w *world) checkTwins(change Change, pod *corev1.Pod) []Violation {
	set, node := w.ownerOf(pod), target(pod)
	if set == nil || node == "" || !isLive(pod) {
		return nil
	}
	byNode := w.podsOf(set)
	live := livePods(byNode[node])
	if len(live) < 2 {
		return nil
	}
	_, surge := budget(set, len(w.wanted(set)))
	v := Violation{Kind: Twins, Set: key(set), Node: node, Version: change.Version(), Detail: strings.Join(names(live), ", ")}
	if surge == 0 || len(live) > 2 || revision(live[0]) == revision(live[1]) {
		return []Violation{v}
	}
	if pairs := countPairs(byNode); pairs > surge {
		v.Kind = OverSurge
		v.Detail = fmt.Sprintf("%d nodes have an old pod and a new one, %d may", pairs, surge)
		return []Violation{v}
	}
	return nil
}

func countPairs(byNode map[string][]*corev1.Pod) int {
	pairs := 0
	for _, pods := range byNode {
		if len(livePods(pods)) > 1 {
			pairs++
		}
	}
	return pairs
}

// checkDropped looks at a pod that has no owner any more.
func (w *world) checkDropped(change Change, pod *corev1.Pod) []Violation {
	if metav1.GetControllerOf(pod) != nil || !isLive(pod) {
		return nil
	}
	var found []Violation
	for _, set := range w.sets {
		selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
		if err != nil || set.Namespace != pod.Namespace || set.DeletionTimestamp != nil || !selector.Matches(podLabels(pod)) {
			continue
		}
		found = append(found, Violation{
			Kind: Dropped, Set: key(set), Node: target(pod), Version: change.Version(),
			Detail: fmt.Sprintf("pod %s has no owner", pod.Name),
		})
	}
	return found
}
