package clientgo

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// nodeList reads all nodes.
type nodeList struct{}

func (nodeList) of(store cache.Indexer) []*corev1.Node { return typed[*corev1.Node](store.List()) }

// typed converts what a store hands out.
func typed[T any](objects []any) []T {
	out := make([]T, 0, len(objects))
	for _, object := range objects {
		if o, ok := object.(T); ok {
			out = append(out, o)
		}
	}
	return out
}
