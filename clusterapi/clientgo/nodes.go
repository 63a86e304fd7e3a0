package clientgo

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// nodeList hands out all nodes by name. Every pass needs them and few events change them, so
// the sorted list is kept until the cache of nodes changes.
type nodeList struct {
	informer cache.SharedIndexInformer
	changes  atomic.Uint64

	mu    sync.Mutex
	at    nodesAt
	nodes []*corev1.Node
}

// nodesAt tells two states of the cache apart. The count misses one change, that to no nodes
// at all by a new list; that one has another version.
type nodesAt struct {
	changes uint64
	version string
}

// watch counts the changes of the cache.
func (l *nodeList) watch(informer cache.SharedIndexInformer) error {
	l.informer = informer
	return onChange(informer, l, func(*corev1.Node) { l.changes.Add(1) })
}

// get returns the nodes by name. The list is shared.
func (l *nodeList) get() []*corev1.Node {
	l.mu.Lock()
	defer l.mu.Unlock()
	store := l.informer.GetIndexer()
	// What is read after this is no older.
	at := nodesAt{changes: l.changes.Load(), version: store.LastStoreSyncResourceVersion()}
	if l.nodes != nil && l.at == at {
		return l.nodes
	}
	nodes := typed[*corev1.Node](store.List())
	slices.SortFunc(nodes, func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	l.nodes, l.at = nodes, at
	return nodes
}

// typed converts what a cache hands out.
func typed[T any](objects []any) []T {
	out := make([]T, 0, len(objects))
	for _, object := range objects {
		if o, ok := object.(T); ok {
			out = append(out, o)
		}
	}
	return out
}
