package dump

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Nodes returns the Nodes in the order in which they were read. The World keeps the objects:
// they are read-only.
func (w *World) Nodes() []*corev1.Node { return slices.Clone(w.nodes) }
