package daemonset

import (
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Wakes is what one watch event asks for: which DaemonSets to make a pass for, and what the
// event settles. The zero value asks for nothing.
//
// Forget and Seen go to the expectations before a pass of the woken sets begins, Forget
// first; otherwise that pass still waits for what has just been seen.
type Wakes struct {
	Sets   []types.NamespacedName // by namespace and name, without repeats
	Later  []Later                // also wake these, once the delay is over
	Seen   []Sighting             // in the order in which it happened
	Forget []types.UID            // DaemonSets that are gone: nobody waits for their pods any more
}

// And returns what both w and more ask for, and shares no list of sets with them.
func (w Wakes) And(more Wakes) Wakes {
	return Wakes{
		Sets:   sortKeys(slices.Concat(w.Sets, more.Sets)),
		Later:  slices.Concat(w.Later, more.Later),
		Seen:   slices.Concat(w.Seen, more.Seen),
		Forget: slices.Concat(w.Forget, more.Forget),
	}
}

// Later is a pass to make after a delay.
type Later struct {
	Set   types.NamespacedName
	After time.Duration
}

// Sighting is a pod of a DaemonSet that came or went. The same may be reported more than
// once, because a graceful deletion is two events.
type Sighting struct {
	Owner types.UID // of the DaemonSet that the pod's controller reference names
	Pod   types.UID
	What  Sight
}

// Sight is what was seen of a pod.
type Sight uint8

// The sights; the zero value is none.
const (
	SawCreate Sight = iota + 1 // the pod became visible
	SawDelete                  // the pod is gone, or on its way
)

// SetChanged returns what a DaemonSet's event asks for. Every event wakes the set itself,
// also a periodic repeat, so that a resync mends what a lost event left behind. A nil prev
// means added, a nil cur deleted, both nil nothing. A set that is gone is also forgotten;
// another UID under the same name is a set that is gone and a new one.
//
// The event must reach the index too: SetIndex.Put for cur, SetIndex.Remove without one.
func SetChanged(prev, cur *appsv1.DaemonSet) Wakes {
	var w Wakes
	if prev != nil && (cur == nil || cur.UID != prev.UID) {
		if prev.UID != "" {
			w.Forget = append(w.Forget, prev.UID)
		}
		w.Sets = append(w.Sets, keyOf(&prev.ObjectMeta))
	}
	if cur != nil {
		w.Sets = append(w.Sets, keyOf(&cur.ObjectMeta))
	}
	w.Sets = sortKeys(w.Sets)
	return w
}

// OwnerOf returns the DaemonSet that the pod's controller reference names, which need not
// exist. ok is false if there is no such reference or it is of another kind, and for a nil
// pod. As in Kubernetes v1.37.2, the kind decides and not its API group.
func OwnerOf(pod *corev1.Pod) (owner Ref, ok bool) {
	return ownerOf(metaOfPod(pod))
}

func ownerOf(meta *metav1.ObjectMeta) (owner Ref, ok bool) {
	if meta == nil {
		return Ref{}, false
	}
	controller := metav1.GetControllerOfNoCopy(meta)
	if controller == nil || controller.Kind != string(DaemonSetKind) {
		return Ref{}, false
	}
	return Ref{Namespace: meta.Namespace, Name: controller.Name, UID: controller.UID}, true
}

func keyOf(meta *metav1.ObjectMeta) types.NamespacedName {
	return types.NamespacedName{Namespace: meta.Namespace, Name: meta.Name}
}

func compareKeys(a, b types.NamespacedName) int {
	if byNamespace := strings.Compare(a.Namespace, b.Namespace); byNamespace != 0 {
		return byNamespace
	}
	return strings.Compare(a.Name, b.Name)
}

// sortKeys sorts keys in place and drops repeats.
func sortKeys(keys []types.NamespacedName) []types.NamespacedName {
	slices.SortFunc(keys, compareKeys)
	return slices.Compact(keys)
}
