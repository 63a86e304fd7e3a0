package fake

import (
	"cmp"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Event is what an informer tells its handlers: something became visible to a client. Its
// objects are shared; they must not be written to. Events come from Watch.Drain; the zero
// value is about nothing, and Handlers pass it over.
type Event struct {
	Kind Kind
	Old  metav1.Object // nil for an addition
	New  metav1.Object // nil for a deletion; Old is then the last state

	// Missed marks a deletion that was learned late, by listing: Old is the last state that
	// the client knew, which need not be the last that there was.
	Missed bool

	version uint64
}

// object is what the event is about.
func (e Event) object() metav1.Object {
	if e.New != nil {
		return e.New
	}
	return e.Old
}

type subject struct {
	kind Kind
	key  types.NamespacedName
}

func (e Event) subject() subject { return subject{kind: e.Kind, key: keyOf(e.object())} }

// Handlers are functions for events of each kind. They get nil for old when an object was
// added, and nil for obj when it was deleted. A function that is nil is not called.
type Handlers struct {
	Node      func(old, obj *corev1.Node)
	Pod       func(old, obj *corev1.Pod)
	DaemonSet func(old, obj *appsv1.DaemonSet)
	Revision  func(old, obj *appsv1.ControllerRevision)
}

// Handle calls the function for the event's kind.
func (h Handlers) Handle(e Event) {
	switch e.Kind {
	case NodeKind:
		handle(h.Node, e)
	case PodKind:
		handle(h.Pod, e)
	case DaemonSetKind:
		handle(h.DaemonSet, e)
	case RevisionKind:
		handle(h.Revision, e)
	}
}

func handle[T Object](f func(old, obj T), e Event) {
	if f == nil {
		return
	}
	old, _ := e.Old.(T) // nil if there is none
	obj, _ := e.New.(T)
	f(old, obj)
}

// Distortion is what goes wrong between a client's caches and the handler of a Watch: the
// chance, from 0 to 1, of each event. Events of one object never overtake each other, as
// with an informer.
type Distortion struct {
	Drop    float64 // never delivered
	Repeat  float64 // delivered twice in a row
	Delay   float64 // not before the next Drain, and with it what comes later of that object
	Reorder float64 // after the next event, if that is of another object
}

// Watch collects the events of one client. It keeps them until Drain, however many. Make one
// with Client.Watch; its zero value is of no use.
type Watch struct {
	client     *Client
	number     int
	distortion Distortion
	pending    []Event
	drains     int
}

// Watch returns a new watch of the client. It starts with an addition for each object that
// the client has seen, as an informer's handler does.
func (cl *Client) Watch() *Watch {
	w := &Watch{client: cl}
	cl.locked(func() {
		w.number = cl.watchesCreated
		cl.watchesCreated++
		for _, node := range cl.nodes.sorted(cl.nodes.objects) {
			w.pending = append(w.pending, Event{Kind: NodeKind, New: node})
		}
		for _, set := range cl.sets.sorted(cl.sets.objects) {
			w.pending = append(w.pending, Event{Kind: DaemonSetKind, New: set})
		}
		for _, revision := range cl.revisions.sorted(cl.revisions.objects) {
			w.pending = append(w.pending, Event{Kind: RevisionKind, New: revision})
		}
		for _, pod := range cl.pods.sorted(cl.pods.objects) {
			w.pending = append(w.pending, Event{Kind: PodKind, New: pod})
		}
		cl.watches = append(cl.watches, w)
	})
	return w
}

// Distort changes what goes wrong from the next Drain on. The zero value stops it; what was
// delayed is then delivered.
func (w *Watch) Distort(d Distortion) {
	w.client.locked(func() { w.distortion = d })
}

// Drain lets the client's caches see what their lag lets through, and returns the events
// since the last Drain in the order in which the server made them.
func (w *Watch) Drain() []Event {
	var events []Event
	w.client.locked(func() {
		w.client.advance()
		events = w.deliver()
		w.drains++
	})
	return events
}

// Stop ends the watch. What it holds is forgotten.
func (w *Watch) Stop() {
	w.client.locked(func() {
		w.pending = nil
		w.client.watches = slices.DeleteFunc(w.client.watches, func(other *Watch) bool { return other == w })
	})
}

func (w *Watch) deliver() []Event {
	pending := w.pending
	w.pending = nil
	delayed := map[subject]bool{}
	var events []Event
	for _, e := range pending {
		switch {
		case w.happens("drop", w.distortion.Drop, e):
		case delayed[e.subject()], w.happens("delay "+strconv.Itoa(w.drains), w.distortion.Delay, e):
			delayed[e.subject()] = true
			w.pending = append(w.pending, e)
		case w.happens("repeat", w.distortion.Repeat, e):
			events = append(events, e, e)
		default:
			events = append(events, e)
		}
	}
	w.reorder(events)
	return events
}

// reorder lets an event change places with the next one. What has changed places stays
// there: asked again, it would fall back to the end.
func (w *Watch) reorder(events []Event) {
	for i := 0; i+1 < len(events); i++ {
		e, next := events[i], events[i+1]
		if e.subject() != next.subject() && w.happens("reorder", w.distortion.Reorder, e) {
			events[i], events[i+1] = next, e
			i++
		}
	}
}

func (w *Watch) happens(what string, chance float64, e Event) bool {
	if chance <= 0 {
		return false
	}
	s := e.subject()
	source := w.client.cluster.chance.source("watch", what, strconv.Itoa(w.client.number), strconv.Itoa(w.number),
		formatVersion(e.version), string(s.kind), s.key.Namespace, s.key.Name)
	return source.Float64() < chance
}

// tell collects an event until publish.
func (cl *Client) tell(e Event) {
	if len(cl.watches) > 0 {
		cl.told = append(cl.told, e)
	}
}

// publish hands the collected events to the watches, in the order of the writes.
func (cl *Client) publish() {
	slices.SortStableFunc(cl.told, func(a, b Event) int { return cmp.Compare(a.version, b.version) })
	for _, w := range cl.watches {
		w.pending = append(w.pending, cl.told...)
	}
	clear(cl.told)
	cl.told = cl.told[:0]
}
