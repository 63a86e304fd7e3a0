package controllerruntime_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi/fake"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
)

// eventLog keeps all events of a cluster, for watches of any resource version.
type eventLog struct {
	client *fake.Client
	watch  *fake.Watch
	done   chan struct{}
	ended  sync.WaitGroup

	mu     sync.Mutex
	events []fake.Event
	more   chan struct{} // closed when there is more, or what was held is let go
	held   int           // only so many events are shown; less than zero: all
}

func newEventLog(cluster *fake.Cluster) *eventLog {
	client := cluster.NewClient()
	l := &eventLog{client: client, watch: client.Watch(), done: make(chan struct{}), more: make(chan struct{}), held: -1}
	l.ended.Go(func() {
		for {
			select {
			case <-l.done:
				return
			case <-time.After(time.Millisecond): //nolint:forbidigo // the cluster does not say when something happened
				l.drain()
			}
		}
	})
	return l
}

func (l *eventLog) stop() {
	close(l.done)
	l.ended.Wait()
}

// drain takes in what has happened until now.
func (l *eventLog) drain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if events := l.watch.Drain(); len(events) > 0 {
		l.events = append(l.events, events...)
		l.wake()
	}
}

func (l *eventLog) wake() {
	close(l.more)
	l.more = make(chan struct{})
}

// hold shows watchers nothing new until release.
func (l *eventLog) hold() {
	l.drain()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = len(l.events)
}

func (l *eventLog) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = -1
	l.wake()
}

// after returns the events from a place on, and what is closed when there are more.
func (l *eventLog) after(place int) (events []fake.Event, more <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	end := len(l.events)
	if l.held >= 0 {
		end = min(end, l.held)
	}
	if place >= end {
		return nil, l.more
	}
	return l.events[place:end], l.more
}

// latest is the version of the last event of a kind, zero for none.
func (l *eventLog) latest(kind fake.Kind) uint64 {
	l.drain()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range slices.Backward(l.events) {
		if e.Kind == kind {
			return versionOf(e)
		}
	}
	return 0
}

func versionOf(e fake.Event) uint64 {
	obj := e.New
	if obj == nil {
		obj = e.Old
	}
	return number(obj.GetResourceVersion())
}

func number(version string) uint64 {
	n, _ := strconv.ParseUint(version, 10, 64) // empty is before everything
	return n
}

// watch streams the events of one kind. It knows no initial events; clients list then.
func (s *resource[T]) watch(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("sendInitialEvents") != "" {
		writeError(w, apierrors.NewInvalid(s.gvk.GroupKind(), "", nil))
		return
	}
	s.calls.add("watch " + s.name)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w).Flush
	since, place := number(r.URL.Query().Get("resourceVersion")), 0
	for flush() == nil {
		events, more := s.log.after(place)
		place += len(events)
		for _, e := range events {
			if string(e.Kind) == s.gvk.Kind && versionOf(e) > since {
				s.send(w, e)
			}
		}
		if len(events) > 0 {
			continue
		}
		select {
		case <-more:
		case <-s.log.done:
			return
		case <-r.Context().Done():
			return
		}
	}
}

func (s *resource[T]) send(w http.ResponseWriter, e fake.Event) {
	kind, obj := watch.Modified, e.New
	switch {
	case e.New == nil:
		kind, obj = watch.Deleted, e.Old
	case e.Old == nil:
		kind = watch.Added
	}
	typed := obj.(T).DeepCopyObject()
	typed.GetObjectKind().SetGroupVersionKind(s.gvk)
	_ = json.NewEncoder(w).Encode(map[string]any{"type": kind, "object": typed}) // a client that has gone is seen by flush
}

// callCount counts what the server was asked for.
type callCount struct {
	mu    sync.Mutex
	calls map[string]int
}

func newCallCount() *callCount { return &callCount{calls: map[string]int{}} }

func (c *callCount) add(call string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[call]++
}

func (c *callCount) get() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.calls)
}
