package controllerruntime

import (
	"errors"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/daemonset"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Events enqueues the DaemonSets that watch events concern. It gives out one handler for each
// kind; all four must be in use, in one controller. What an event settles, the syncer learns
// before any key is enqueued. Handlers may be called from several goroutines.
//
// Objects may come typed or unstructured; what is nil or of another kind asks for nothing. A
// delete that was learned late brings the last state that was known, and wakes whom that
// concerned.
type Events struct {
	feed   *clusterapi.Feed
	syncer clusterapi.Syncer
}

// NewEvents returns the handlers that go by feed, for the passes that syncer makes. Neither
// may be nil.
func NewEvents(feed *clusterapi.Feed, syncer clusterapi.Syncer) (*Events, error) {
	switch {
	case feed == nil:
		return nil, errors.New("controllerruntime: the Feed of Events is nil")
	case syncer == nil:
		return nil, errors.New("controllerruntime: the Syncer of Events is nil")
	}
	return &Events{feed: feed, syncer: syncer}, nil
}

// DaemonSets returns the handler for events of DaemonSets. A generic event wakes the set, as
// a repeat does.
func (e *Events) DaemonSets() handler.EventHandler {
	return handle(func(c change[appsv1.DaemonSet], q queue) {
		e.wake(e.feed.DaemonSet(c.prev, c.cur), q)
	})
}

// Pods returns the handler for events of pods. Generic events ask for nothing.
func (e *Events) Pods() handler.EventHandler {
	return handle(func(c change[corev1.Pod], q queue) {
		// Of a delete the feed learns in any case, or it would keep a pod that changed hands
		// before it went.
		switch {
		case c.why == generic:
		case c.cur != nil && foreign(c.prev) && foreign(c.cur):
			e.wake(e.feed.Room(c.prev, c.cur), q)
		default:
			e.wake(e.feed.Pod(c.prev, c.cur), q)
		}
	})
}

// foreign says that a pod is controlled by something other than a DaemonSet, or is nil. The
// feed need not keep it.
func foreign(pod *corev1.Pod) bool {
	if pod == nil {
		return true
	}
	controller := metav1.GetControllerOfNoCopy(pod)
	return controller != nil && controller.Kind != string(daemonset.DaemonSetKind)
}

// Revisions returns the handler for events of ControllerRevisions. Generic events ask for
// nothing.
func (e *Events) Revisions() handler.EventHandler {
	return handle(func(c change[appsv1.ControllerRevision], q queue) {
		if c.why != generic {
			e.wake(e.feed.Revision(c.prev, c.cur), q)
		}
	})
}

// Nodes returns the handler for events of nodes. Generic events ask for nothing, and so do the
// nodes that are there when a controller starts: each set is woken by its own event then, and
// its pass sees them all.
func (e *Events) Nodes() handler.EventHandler {
	return handle(func(c change[corev1.Node], q queue) {
		if c.why == ordinary {
			e.wake(e.feed.Node(c.prev, c.cur), q)
		}
	})
}

// wake lets the syncer know what was seen before anybody can make a pass for it. A priority
// queue forgets a key's later time when the key is added before; the pass that is made then
// says itself when the next one is due.
func (e *Events) wake(w daemonset.Wakes, q queue) {
	if len(w.Sets)+len(w.Later)+len(w.Seen)+len(w.Forget) == 0 {
		return // most pods of a cluster are of no interest
	}
	e.syncer.Settle(w)
	for _, key := range w.Sets {
		q.Add(reconcile.Request{NamespacedName: key})
	}
	for _, later := range w.Later {
		q.AddAfter(reconcile.Request{NamespacedName: later.Set}, later.After)
	}
}
