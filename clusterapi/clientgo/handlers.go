package clientgo

import (
	"errors"
	"fmt"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/daemonset"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// Sink takes what events ask for; a clusterapi.Runner is one. Wake is called from several
// goroutines and must not block. What it is given to settle comes before the passes that it
// is given to make.
type Sink interface {
	Wake(w daemonset.Wakes)
}

// Handlers are registered with informers and tell a Sink which sets to look at.
//
// Each kind has a goroutine of its own, so the events of two kinds come in any order. That
// loses no wake. An informer shows a change in its cache before it tells of it, so a pass
// sees what woke it. An event that is judged before that of its set, or by the set as it was
// before an edit, may wake nobody; but the event of the set wakes it in any case, and comes
// after it is indexed. What an event settles does not depend on the index.
type Handlers struct {
	remove []func() error
	synced []cache.DoneChecker
}

// Handle registers handlers. What the caches hold already comes to them as added. feed is to
// be made with [Informers.PodsOn], and ends with [Handlers.Remove].
func (i *Informers) Handle(feed *clusterapi.Feed, sink Sink) (*Handlers, error) {
	if feed == nil || sink == nil {
		return nil, errors.New("clientgo: handlers need a Feed and a Sink")
	}
	h := &Handlers{}
	gone := func(set types.NamespacedName) daemonset.Wakes {
		return daemonset.Wakes{Sets: []types.NamespacedName{set}} // its pass finds out
	}
	pod := feed.Pod
	if i.occupied != nil {
		pod = i.occupied.dropping(pod)
	}
	err := errors.Join(
		register(h, i.sets, events[*appsv1.DaemonSet]{sink: sink, changed: feed.DaemonSet, lost: gone}),
		register(h, i.pods, events[*corev1.Pod]{sink: sink, changed: pod}),
		register(h, i.nodes, events[*corev1.Node]{sink: sink, changed: feed.Node}),
		register(h, i.revisions, events[*appsv1.ControllerRevision]{sink: sink, changed: feed.Revision}),
	)
	if err != nil {
		return nil, errors.Join(err, h.Remove())
	}
	return h, nil
}

// Remove ends the handlers. A call that is under way may still come to its end after it.
func (h *Handlers) Remove() error {
	var errs []error
	for _, remove := range h.remove {
		errs = append(errs, remove())
	}
	h.remove = nil
	return errors.Join(errs...)
}

func register[T cache.Object](h *Handlers, informer cache.SharedIndexInformer, e events[T]) error {
	registration, err := cache.NewTypedSharedIndexInformer[T](informer).AddTypedEventHandler(e)
	if err != nil {
		return fmt.Errorf("clientgo: adding an event handler: %w", err)
	}
	h.remove = append(h.remove, func() error { return informer.RemoveEventHandler(registration) })
	h.synced = append(h.synced, registration.HasSyncedChecker())
	return nil
}

// events turns what an informer tells into the two states around a change.
type events[T cache.Object] struct {
	sink    Sink
	changed func(prev, cur T) daemonset.Wakes              // nil for a state that is not there
	lost    func(key types.NamespacedName) daemonset.Wakes // a deletion of which no state is left; nil ignores it
}

// OnAdd is called by an informer.
func (e events[T]) OnAdd(obj T, _ bool) {
	var none T
	e.wake(e.changed(none, obj))
}

// OnUpdate is called by an informer. It may be another object of the same name: client-go
// does not tell a delete and a create apart from an update that it saw no middle of.
func (e events[T]) OnUpdate(prev, cur T) { e.wake(e.changed(prev, cur)) }

// OnDelete is called by an informer. The state that it has left may be an old one, if the
// deletion was learned by listing.
func (e events[T]) OnDelete(deleted cache.DeletedObject[T]) {
	var none T
	if deleted.FinalStateUnknown == nil || deleted.FinalStateUnknown.Obj != nil {
		e.wake(e.changed(deleted.OptionalObj, none))
		return
	}
	if e.lost != nil {
		name := deleted.GetObjectName()
		e.wake(e.lost(types.NamespacedName{Namespace: name.Namespace, Name: name.Name}))
	}
}

// wake spares the sink the many events that concern nobody.
func (e events[T]) wake(w daemonset.Wakes) {
	if len(w.Sets)+len(w.Later)+len(w.Seen)+len(w.Forget) > 0 {
		e.sink.Wake(w)
	}
}
