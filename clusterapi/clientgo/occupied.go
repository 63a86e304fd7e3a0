package clientgo

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// occupied counts what the pods on each node hold, and keeps the count until one of them
// changes. In a large cluster counting all anew is most of what a pass would cost.
type occupied struct {
	pods    cache.SharedIndexInformer
	trimmed atomic.Pointer[corev1.Pod] // a pod that lacks what has to be counted; nil if none was seen

	mu    sync.Mutex
	nodes map[string]*occupancy
}

// occupancy is that of one node. It is nil while it is being counted, and is not written to
// after that.
type occupancy struct{ held *placement.Occupancy }

// watch has counts dropped at every change: whoever sees it in the cache finds no count that is
// older.
func (o *occupied) watch(pods cache.SharedIndexInformer) error {
	o.pods, o.nodes = pods, map[string]*occupancy{}
	return onChange(pods, o, func(pod *corev1.Pod) {
		o.drop(pod)
		if len(pod.Spec.Containers) == 0 { // no API server admits that
			o.trimmed.Store(pod)
		}
	})
}

// drop forgets the count of a pod's node.
func (o *occupied) drop(pod *corev1.Pod) {
	node, ok := placement.TargetNode(pod)
	if !ok {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.nodes, node)
}

// dropping drops counts before a pod's event wakes anybody. A list that takes the place of
// what was watched shows no index the pods that are not in it any more; their events come.
func (o *occupied) dropping(changed func(prev, cur *corev1.Pod) daemonset.Wakes) func(prev, cur *corev1.Pod) daemonset.Wakes {
	return func(prev, cur *corev1.Pod) daemonset.Wakes {
		o.drop(prev)
		o.drop(cur)
		return changed(prev, cur)
	}
}

// on returns what the pods on a node hold.
func (o *occupied) on(node string) *placement.Occupancy {
	o.mu.Lock()
	if known := o.nodes[node]; known != nil && known.held != nil {
		o.mu.Unlock()
		return known.held
	}
	mine := &occupancy{}
	o.nodes[node] = mine
	o.mu.Unlock()
	// The cache's lock is taken without the one here, which its index takes.
	pods, _ := o.pods.GetIndexer().ByIndex(roomIndex, node) // there is the index
	held := placement.NewOccupancy(typed[*corev1.Pod](pods)...)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.nodes[node] == mine { // or it is old already
		mine.held = held
	}
	return held
}

// view answers the same throughout a pass, which must be made by one goroutine. That of nil
// is nil.
func (o *occupied) view() daemonset.Beside {
	if o == nil {
		return nil
	}
	seen := map[string]*placement.Occupancy{}
	return func(node string) *placement.Occupancy {
		held, known := seen[node]
		if !known {
			held = o.on(node)
			seen[node] = held
		}
		return held
	}
}

// whole is an error if the cache does not keep what has to be counted. A nil o counts nothing.
func (o *occupied) whole() error {
	if o == nil {
		return nil
	}
	if pod := o.trimmed.Load(); pod != nil {
		return fmt.Errorf("clientgo: %w: pod %s/%s has no containers in the cache, so its informer drops what Options.Fit and Options.Surge read: make the factory with NewFactoryForFit",
			clusterapi.ErrAdapter, pod.Namespace, pod.Name)
	}
	return nil
}
