package clientgo

import (
	"fmt"
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

// watch counts the changes of the cache with an index that holds nothing: a cache calls the
// function of an index at every change, before anybody can see it or is told of it.
func (l *nodeList) watch(informer cache.SharedIndexInformer) error {
	l.informer = informer
	name := fmt.Sprintf("daemonplan.dev/changes-%p", l) // the factory may be shared
	return informer.AddIndexers(cache.Indexers{name: func(any) ([]string, error) {
		l.changes.Add(1)
		return nil, nil
	}})
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
