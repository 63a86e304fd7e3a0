package dump

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/daemonset"
)

// Nodes returns the Nodes in the order in which they were read. The World keeps the objects:
// they are read-only.
func (w *World) Nodes() []*corev1.Node { return slices.Clone(w.nodes) }

// HoldsOnlySets reports whether there is nothing in the World but DaemonSets: it was read from
// manifests, and not from a dump of a cluster.
func (w *World) HoldsOnlySets() bool {
	return len(w.nodes) == 0 && len(w.pods) == 0 && len(w.revisions) == 0
}

// Around returns what a plan for set looks at, as if it were in the World in the place of one
// of its name.
func (w *World) Around(set *appsv1.DaemonSet) daemonset.Objects {
	return daemonset.Objects{
		DaemonSet: set,
		Nodes:     w.nodes,
		Pods:      w.pods[set.Namespace],
		Revisions: w.revisions[set.Namespace],
	}
}

// Lacks names the kinds of which the World has no object at all although its DaemonSets say in
// their status that there are some: it was read from a part of a dump. A plan from it would be
// wrong: nodes without pods get new ones.
func (w *World) Lacks() []string {
	var nodes, pods, revisions bool
	for _, set := range w.sets {
		nodes = nodes || set.Status.DesiredNumberScheduled > 0
		pods = pods || set.Status.CurrentNumberScheduled > 0
		revisions = revisions || set.Status.ObservedGeneration > 0
	}
	var kinds []string
	for _, kind := range []struct {
		name          string
		wanted, known bool
	}{
		{nodeKind, nodes, len(w.nodes) > 0},
		{podKind, pods, len(w.pods) > 0},
		{revisionKind, revisions, len(w.revisions) > 0},
	} {
		if kind.wanted && !kind.known {
			kinds = append(kinds, kind.name+"s")
		}
	}
	return kinds
}

// Heard is when a node last reported anything, by the heartbeats in its conditions; zero if
// none of them says. A dump is hardly older or younger than that.
func (w *World) Heard() time.Time {
	var last time.Time
	for _, node := range w.nodes {
		for i := range node.Status.Conditions {
			if at := node.Status.Conditions[i].LastHeartbeatTime.Time; at.After(last) {
				last = at
			}
		}
	}
	return last
}
