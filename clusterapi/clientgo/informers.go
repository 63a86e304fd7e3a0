package clientgo

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// DefaultResync is how often every set is looked at again although nothing happened, as in
// Kubernetes v1.37.2 at the least.
const DefaultResync = 12 * time.Hour

// NewFactory returns a factory of informers that keep only what is needed: see [Trim]. Zero
// or less for resync means that events are not repeated.
func NewFactory(client kubernetes.Interface, resync time.Duration) informers.SharedInformerFactory {
	return informers.NewSharedInformerFactoryWithOptions(client, max(0, resync), informers.WithTransform(Trim))
}

// NewFactoryForFit is NewFactory for Options.Fit and Options.Surge: see [TrimForFit].
func NewFactoryForFit(client kubernetes.Interface, resync time.Duration) informers.SharedInformerFactory {
	return informers.NewSharedInformerFactoryWithOptions(client, max(0, resync), informers.WithTransform(TrimForFit))
}

// Informers are the caches that plans are made from: DaemonSets, pods, nodes and
// ControllerRevisions of all namespaces. Build them with [NewInformers].
type Informers struct {
	sets, pods, nodes, revisions cache.SharedIndexInformer

	nodeList nodeList
	journal  *journal
	occupied *occupied // nil: nobody asks what pods hold
}

// NewInformers takes the informers from factory, which the caller starts and stops, and adds
// the indexes that plans need. Several Informers may share one factory; they must not be
// built at the same time.
func NewInformers(factory informers.SharedInformerFactory) (*Informers, error) {
	if factory == nil {
		return nil, errors.New("clientgo: the informer factory is nil")
	}
	i := &Informers{
		sets:      factory.Apps().V1().DaemonSets().Informer(),
		pods:      factory.Core().V1().Pods().Informer(),
		nodes:     factory.Core().V1().Nodes().Informer(),
		revisions: factory.Apps().V1().ControllerRevisions().Informer(),
		journal:   &journal{},
	}
	if err := addIndexers(i.pods, podIndexers()); err != nil {
		return nil, fmt.Errorf("clientgo: indexing pods: %w", err)
	}
	if err := addIndexers(i.revisions, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}); err != nil {
		return nil, fmt.Errorf("clientgo: indexing revisions: %w", err)
	}
	if err := i.nodeList.watch(i.nodes); err != nil {
		return nil, fmt.Errorf("clientgo: watching nodes: %w", err)
	}
	if err := i.journal.watch(i); err != nil {
		return nil, fmt.Errorf("clientgo: watching for changes: %w", err)
	}
	return i, nil
}

// NewInformersForFit is NewInformers for Options.Fit and Options.Surge: [API.Observe] also counts
// what the pods of others hold, on each node anew only when a pod there changes. The
// informers of factory must keep what is counted, as whole objects and those of
// [NewFactoryForFit] do. An informer whose pods have no containers does not, and Observe then
// returns an error; that a node lacks its allocatable or its conditions cannot be told.
func NewInformersForFit(factory informers.SharedInformerFactory) (*Informers, error) {
	i, err := NewInformers(factory)
	if err != nil {
		return nil, err
	}
	if err := addIndexers(i.pods, cache.Indexers{roomIndex: rooms}); err != nil {
		return nil, fmt.Errorf("clientgo: indexing pods by their node: %w", err)
	}
	i.occupied = &occupied{}
	if err := i.occupied.watch(i.pods); err != nil {
		return nil, fmt.Errorf("clientgo: watching pods: %w", err)
	}
	return i, nil
}

// addIndexers adds those that are not there yet.
func addIndexers(informer cache.SharedIndexInformer, wanted cache.Indexers) error {
	missing := cache.Indexers{}
	present := informer.GetIndexer().GetIndexers()
	for name, index := range wanted {
		if present[name] == nil {
			missing[name] = index
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return informer.AddIndexers(missing)
}

// each yields the informers with the names of what they watch, in a fixed order.
func (i *Informers) each() []named {
	return []named{{"daemonsets", i.sets}, {"pods", i.pods}, {"nodes", i.nodes}, {"controllerrevisions", i.revisions}}
}

type named struct {
	resource string
	informer cache.SharedIndexInformer
}

// HasSynced reports whether every cache has been filled once.
func (i *Informers) HasSynced() bool { return len(i.unsynced()) == 0 }

// unsynced names what has not been listed yet.
func (i *Informers) unsynced() []string {
	var missing []string
	for _, n := range i.each() {
		if !n.informer.HasSynced() {
			missing = append(missing, n.resource)
		}
	}
	return missing
}

// WaitForSync returns once every cache has been filled, or with an error once ctx is done.
func (i *Informers) WaitForSync(ctx context.Context) error {
	var checks []cache.DoneChecker
	for _, n := range i.each() {
		checks = append(checks, n.informer.HasSyncedChecker())
	}
	if !cache.WaitFor(ctx, "", checks...) {
		return fmt.Errorf("clientgo: waiting for %v: %w", i.unsynced(), context.Cause(ctx))
	}
	return nil
}

// PodsOn returns the pods of DaemonSets that are bound or pinned to a node, for a Feed.
func (i *Informers) PodsOn(node string) []*corev1.Pod {
	pods, err := i.pods.GetIndexer().ByIndex(nodeIndex, node)
	if err != nil {
		return nil // there is the index: NewInformers saw to it
	}
	return typed[*corev1.Pod](pods)
}
