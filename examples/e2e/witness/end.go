package witness

import (
	"cmp"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// checkEnd compares the pods that are there with those that ought to be.
func (w *world) checkEnd() []Violation {
	var found []Violation
	for _, set := range w.sets {
		if set.DeletionTimestamp != nil {
			continue
		}
		found = append(found, w.checkSettled(set)...)
	}
	slices.SortFunc(found, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Set, b.Set), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Kind, b.Kind))
	})
	return found
}

func (w *world) checkSettled(set *appsv1.DaemonSet) []Violation {
	byNode := w.podsOf(set)
	var found []Violation
	wanted := w.wanted(set)
	for _, node := range wanted {
		if len(livePods(byNode[node])) == 0 {
			found = append(found, Violation{Kind: Missing, Set: key(set), Node: node, Detail: "there is no live pod"})
		}
	}
	for node, pods := range byNode {
		live := livePods(pods)
		if _, ok := slices.BinarySearch(wanted, node); ok || len(live) == 0 {
			continue
		}
		found = append(found, Violation{
			Kind: Unwanted, Set: key(set), Node: node, Detail: fmt.Sprintf("there are %v", names(live)),
		})
	}
	return found
}

// WorstUnavailable returns the most nodes that were without an available pod of a set at
// any change after a version.
func WorstUnavailable(history History, set *appsv1.DaemonSet, after uint64) int {
	w := newWorld()
	worst := 0
	for _, change := range history.InOrder() {
		w.apply(change)
		current := w.sets[set.UID]
		if current == nil || change.Version() <= after {
			continue
		}
		if pod, ok := change.Object.(*corev1.Pod); ok && owned(pod, set) {
			worst = max(worst, w.unavailable(current, change.Seen))
		}
	}
	return worst
}

func livePods(pods []*corev1.Pod) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(pods), func(pod *corev1.Pod) bool { return !isLive(pod) })
}

func names(pods []*corev1.Pod) []string {
	list := make([]string, 0, len(pods))
	for _, pod := range pods {
		list = append(list, pod.Name)
	}
	slices.Sort(list)
	return list
}

func revision(pod *corev1.Pod) string { return pod.Labels[appsv1.ControllerRevisionHashLabelKey] }

func podLabels(pod *corev1.Pod) labels.Set { return pod.Labels }

func key(set *appsv1.DaemonSet) string { return set.Namespace + "/" + set.Name }
