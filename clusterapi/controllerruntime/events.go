package controllerruntime

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// EventsOptions say what Events goes by.
type EventsOptions struct {
	// PodsOn returns the pods of DaemonSets on a node, of all namespaces; more do no harm.
	// The pods are only read. Required.
	PodsOn func(ctx context.Context, node string) ([]*corev1.Pod, error)

	// Choose says which DaemonSets events may wake, as for the function Choose. Nil means all.
	Choose func(*appsv1.DaemonSet) bool

	// Placement judges nodes; it has to be that of the plans.
	Placement placement.Options
}

// Events tells a controller which DaemonSets a watch event concerns. It gives out one handler
// for each kind, and all of them have to be in use. What an event settles, the syncer learns
// before any key is enqueued. Handlers may run at the same time as each other.
//
// Objects may come typed or unstructured; what is nil or of another kind asks for nothing.
type Events struct {
	syncer  clusterapi.Syncer
	options EventsOptions

	mu    sync.RWMutex
	index *daemonset.SetIndex
	known map[types.NamespacedName]struct{} // what is in index
}

// NewEvents returns the handlers for the passes that syncer makes, which must not be nil.
func NewEvents(syncer clusterapi.Syncer, options EventsOptions) (*Events, error) {
	switch {
	case syncer == nil:
		return nil, errors.New("controllerruntime: the Syncer of Events is nil")
	case options.PodsOn == nil:
		return nil, errors.New("controllerruntime: EventsOptions.PodsOn is nil")
	}
	if options.Choose == nil {
		options.Choose = func(*appsv1.DaemonSet) bool { return true }
	}
	return &Events{
		syncer:  syncer,
		options: options,
		index:   daemonset.NewSetIndex(options.Placement),
		known:   map[types.NamespacedName]struct{}{},
	}, nil
}

// DaemonSets returns the handler for events of DaemonSets. A generic event wakes the set.
func (e *Events) DaemonSets() handler.EventHandler {
	h := handle(e.setChanged)
	h.GenericFunc = func(ctx context.Context, generic event.GenericEvent, q queue) {
		if set := as[appsv1.DaemonSet](generic.Object); set != nil {
			e.setChanged(ctx, change[appsv1.DaemonSet]{prev: set, cur: set}, q)
		}
	}
	return h
}

// Pods returns the handler for events of pods.
func (e *Events) Pods() handler.EventHandler { return handle(e.podChanged) }

// Revisions returns the handler for events of ControllerRevisions.
func (e *Events) Revisions() handler.EventHandler { return handle(e.revisionChanged) }

// Nodes returns the handler for events of nodes. It passes over the nodes that are there when
// a controller starts: each set is woken by its own event then, and its pass sees them all.
func (e *Events) Nodes() handler.EventHandler { return handle(e.nodeChanged) }

// change is what an event tells of an object.
type change[T any] struct {
	prev, cur *T // nil: it was not there, or is not any more
	initial   bool
}

func handle[T any](changed func(context.Context, change[T], queue)) handler.Funcs {
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) {
			changed(ctx, change[T]{cur: as[T](e.Object), initial: e.IsInInitialList}, q)
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			changed(ctx, change[T]{prev: as[T](e.ObjectOld), cur: as[T](e.ObjectNew)}, q)
		},
		// A delete that was missed and learned later shows the last state that was known.
		// Whoever was woken by that is woken now.
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) {
			changed(ctx, change[T]{prev: as[T](e.Object)}, q)
		},
	}
}

// setChanged treats a set that is no longer chosen like one that is gone, and one that is
// chosen now like a new one.
func (e *Events) setChanged(_ context.Context, c change[appsv1.DaemonSet], q queue) {
	prev, cur := e.chosen(c.prev), e.chosen(c.cur)
	e.mu.Lock()
	switch {
	case cur != nil:
		e.index.Put(cur)
		e.known[client.ObjectKeyFromObject(cur)] = struct{}{}
	case c.prev != nil || c.cur != nil:
		key := client.ObjectKeyFromObject(cmp.Or(c.cur, c.prev))
		e.index.Remove(key)
		delete(e.known, key)
	}
	e.mu.Unlock()
	e.wake(daemonset.SetChanged(prev, cur), q)
}

func (e *Events) chosen(set *appsv1.DaemonSet) *appsv1.DaemonSet {
	if set == nil || !e.options.Choose(set) {
		return nil
	}
	return set
}

func (e *Events) podChanged(_ context.Context, c change[corev1.Pod], q queue) {
	e.mu.RLock()
	w := e.index.PodChanged(c.prev, c.cur)
	e.mu.RUnlock()
	e.wake(w, q)
}

func (e *Events) revisionChanged(_ context.Context, c change[appsv1.ControllerRevision], q queue) {
	e.mu.RLock()
	w := e.index.RevisionChanged(c.prev, c.cur)
	e.mu.RUnlock()
	e.wake(w, q)
}

func (e *Events) nodeChanged(ctx context.Context, c change[corev1.Node], q queue) {
	if c.initial || !daemonset.NodeMatters(c.prev, c.cur) {
		return
	}
	pods, err := e.options.PodsOn(ctx, c.cur.Name)
	if err != nil {
		log.FromContext(ctx).Error(err, "pods of the node are unknown: waking all DaemonSets", "node", c.cur.Name)
		e.wake(daemonset.Wakes{Sets: e.all()}, q)
		return
	}
	e.mu.RLock()
	w := e.index.NodeChanged(c.prev, c.cur, pods)
	e.mu.RUnlock()
	e.wake(w, q)
}

func (e *Events) all() []types.NamespacedName {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return slices.Collect(maps.Keys(e.known))
}

// wake lets the syncer know what was seen before anybody can make a pass for it.
func (e *Events) wake(w daemonset.Wakes, q queue) {
	e.syncer.Settle(w)
	for _, key := range w.Sets {
		q.Add(reconcile.Request{NamespacedName: key})
	}
	for _, later := range w.Later {
		q.AddAfter(reconcile.Request{NamespacedName: later.Set}, later.After)
	}
}
