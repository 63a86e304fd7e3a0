package witness

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// String returns the history of pods and sets in order, one line a change, for people who
// look into a violation.
func (h History) String() string {
	var text strings.Builder
	for _, change := range h.InOrder() {
		fmt.Fprintf(&text, "%d %s %s ", change.Version(), change.Seen.Format("15:04:05.000"), change.Type)
		switch object := change.Object.(type) {
		case *corev1.Pod:
			fmt.Fprintf(&text, "pod %s on %q revision %s %s", object.Name, target(object), revision(object), state(object))
		case *appsv1.DaemonSet:
			fmt.Fprintf(&text, "set %s generation %d observed %d updated %d available %d", object.Name, object.Generation,
				object.Status.ObservedGeneration, object.Status.UpdatedNumberScheduled, object.Status.NumberAvailable)
		default:
			fmt.Fprintf(&text, "node %s", object.GetName())
		}
		text.WriteByte('\n')
	}
	return text.String()
}

func state(pod *corev1.Pod) string {
	switch {
	case pod.DeletionTimestamp != nil:
		return "ending"
	case isReady(pod):
		return "ready"
	}
	return string(pod.Status.Phase)
}
