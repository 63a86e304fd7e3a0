package upstream

import (
	"encoding/json"
	"slices"

	"github.com/daemonplan/daemonplan/backoff"
	"github.com/daemonplan/daemonplan/daemonset"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// Shrink returns the smallest snapshot that it finds by taking things out of s (objects, then
// what is in them) for which differs is still true. It leaves s as it is. The objects of
// a snapshot that differs is given are not to be modified.
func Shrink(s daemonset.Snapshot, differs func(daemonset.Snapshot) bool) daemonset.Snapshot {
	for {
		next := shrinkObjects(shrinkLists(s, differs), differs)
		if weight(next) == weight(s) {
			return next
		}
		s = next
	}
}

// weight is how much there is to read.
func weight(s daemonset.Snapshot) int {
	text, err := json.Marshal(s)
	if err != nil {
		return 0 // then nothing counts as progress
	}
	return len(text)
}

func shrinkLists(s daemonset.Snapshot, differs func(daemonset.Snapshot) bool) daemonset.Snapshot {
	s.Objects.Pods = shrinkList(s.Objects.Pods, func(pods []*corev1.Pod) bool {
		t := s
		t.Objects.Pods = pods
		return differs(t)
	})
	s.Objects.Nodes = shrinkList(s.Objects.Nodes, func(nodes []*corev1.Node) bool {
		t := s
		t.Objects.Nodes = nodes
		return differs(t)
	})
	s.Objects.Revisions = shrinkList(s.Objects.Revisions, func(revisions []*appsv1.ControllerRevision) bool {
		t := s
		t.Objects.Revisions = revisions
		return differs(t)
	})
	s.Backoff = shrinkList(s.Backoff, func(entries backoff.Entries) bool {
		t := s
		t.Backoff = entries
		return differs(t)
	})
	return s
}

// shrinkList takes out as much of a list as it can: half of it, a quarter, ..., single
// elements.
func shrinkList[S ~[]E, E any](list S, differs func(S) bool) S {
	for size := (len(list) + 1) / 2; size > 0; size /= 2 {
		for at := 0; at < len(list); {
			rest := slices.Delete(slices.Clone(list), at, min(at+size, len(list)))
			if differs(rest) {
				list = rest
			} else {
				at += size
			}
		}
	}
	return list
}

// shrinkObjects takes out of each object what it can do without.
func shrinkObjects(s daemonset.Snapshot, differs func(daemonset.Snapshot) bool) daemonset.Snapshot {
	for _, cut := range setCuts() {
		t := s
		t.Objects.DaemonSet = s.Objects.DaemonSet.DeepCopy()
		if cut(t.Objects.DaemonSet); differs(t) {
			s = t
		}
	}
	for i := range s.Objects.Nodes {
		for _, cut := range nodeCuts() {
			t := s
			t.Objects.Nodes = slices.Clone(s.Objects.Nodes)
			t.Objects.Nodes[i] = s.Objects.Nodes[i].DeepCopy()
			if cut(t.Objects.Nodes[i]); differs(t) {
				s = t
			}
		}
	}
	return s
}

func setCuts() []func(*appsv1.DaemonSet) {
	return []func(*appsv1.DaemonSet){
		func(set *appsv1.DaemonSet) { set.Spec.Template.Spec.Affinity = nil },
		func(set *appsv1.DaemonSet) { set.Spec.Template.Spec.NodeSelector = nil },
		func(set *appsv1.DaemonSet) { set.Spec.Template.Spec.Tolerations = nil },
		func(set *appsv1.DaemonSet) { set.Spec.Template.Annotations = nil },
		func(set *appsv1.DaemonSet) { set.Spec.MinReadySeconds = 0 },
		func(set *appsv1.DaemonSet) { set.Spec.RevisionHistoryLimit = nil },
		func(set *appsv1.DaemonSet) { set.Annotations = nil },
		func(set *appsv1.DaemonSet) { set.Status = appsv1.DaemonSetStatus{} },
	}
}

func nodeCuts() []func(*corev1.Node) {
	return []func(*corev1.Node){
		func(node *corev1.Node) { node.Spec.Taints = nil },
		func(node *corev1.Node) { node.Labels = nil },
		func(node *corev1.Node) { node.Status = corev1.NodeStatus{} },
		func(node *corev1.Node) { node.Spec.Unschedulable = false },
	}
}
