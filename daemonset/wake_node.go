package daemonset

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/placement"
)

// NodeMatters reports whether a node's event can wake a set: the node is new, or its labels
// or taints changed. A nil prev means added, a nil cur deleted; another UID under the same
// name is a new node.
//
// As in Kubernetes v1.37.2, nothing else of a node counts, and a deleted node wakes nobody:
// its pods wake their sets when they go.
func NodeMatters(prev, cur *corev1.Node) bool {
	if prev == nil || cur == nil {
		return cur != nil
	}
	return prev.UID != cur.UID || !maps.Equal(prev.Labels, cur.Labels) || !slices.EqualFunc(prev.Spec.Taints, cur.Spec.Taints, sameTaint)
}

// sameTaint leaves out when a taint was added, which placement does not read.
func sameTaint(a, b corev1.Taint) bool {
	return a.Key == b.Key && a.Value == b.Value && a.Effect == b.Effect
}

// NodeChanged returns what a node's event asks for: of a node that matters, it wakes the sets
// that should run there and have no pod there, that may not stay there and have one, and that
// have a pod there while their status counts misscheduled pods, because the node may be why.
// These are the rules of Kubernetes v1.37.2.
//
// pods are those on the node named cur, of all namespaces and owners, in any order: bound to
// it, or pinned to it as [placement.TargetNode] says. Nil entries are ignored, and those that
// have finished and are being deleted hold no node. A caller with an index of pods by node
// need not ask it before [NodeMatters] says so.
//
// Only those sets are judged that own one of the pods, and those for which the node has what
// they need most of its labels and name ([placement.Matcher.Needs]): not all sets of the
// cluster, unless they need nothing.
func (x *SetIndex) NodeChanged(prev, cur *corev1.Node, pods []*corev1.Pod) Wakes {
	if !NodeMatters(prev, cur) {
		return Wakes{}
	}
	words := (len(x.sets) + 63) / 64
	marks := make(places, 2*words)
	present, suited := marks[:words], marks[words:]
	x.markOwners(pods, present)
	if cur.Name == "" { // what is needed says nothing about it
		suited.add(x.sets)
	} else {
		x.needs.mark(cur, suited)
	}
	var w Wakes
	for at := suited.next(0, len(x.sets), present); at < len(x.sets); at = suited.next(at+1, len(x.sets), present) {
		set := x.sets[at]
		decision := set.matcher.Decide(cur)
		wakes := decision == placement.Run
		if present.has(at) {
			wakes = decision == placement.Evict || set.misscheduled
		}
		if wakes {
			w.Sets = append(w.Sets, set.key())
		}
	}
	return w
}

// markOwners marks the sets that own one of the pods.
func (x *SetIndex) markOwners(pods []*corev1.Pod, owners places) {
	for _, pod := range pods {
		owner, ok := OwnerOf(pod)
		if !ok || pod.DeletionTimestamp != nil && finished(pod) {
			continue
		}
		if set := x.find(owner); set != nil {
			owners.set(set.place)
		}
	}
}
