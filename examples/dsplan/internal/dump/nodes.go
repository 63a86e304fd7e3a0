package dump

import (
	"slices"

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
