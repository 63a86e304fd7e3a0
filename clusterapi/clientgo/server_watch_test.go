package clientgo_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi/fake"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// changeLog keeps what has happened in a cluster, for watches from any version on.
type changeLog struct {
	cluster *fake.Cluster
	watch   *fake.Watch
	done    chan struct{}
	ended   sync.WaitGroup

	mu      sync.Mutex
	changes []loggedChange
	news    chan struct{} // closed when there is something to send
	held    int           // how many changes are shown; less than zero means all
	cut     chan struct{} // closed to end the watches of now
	oldest  uint64        // versions before it are too old to watch from
	newest  map[string]uint64
}

type loggedChange struct {
	kind   string
	action watch.EventType
	object runtime.Object
	number uint64 // its version: watches from an earlier one on show it
}

func newChangeLog(cluster *fake.Cluster) *changeLog {
	l := &changeLog{
		cluster: cluster, watch: cluster.NewClient().Watch(), held: -1, newest: map[string]uint64{},
		done: make(chan struct{}), news: make(chan struct{}), cut: make(chan struct{}),
	}
	l.ended.Go(func() {
		for {
			select {
			case <-l.done:
				return
			case <-after(time.Millisecond):
				l.mu.Lock()
				l.drain()
				l.mu.Unlock()
			}
		}
	})
	return l
}

func (l *changeLog) close() {
	close(l.done)
	l.ended.Wait()
}

// drain needs the lock. The cluster does not say at which version an object was deleted: it
// was before the change that comes next, or before now.
func (l *changeLog) drain() {
	bound, events := number(l.cluster.Version()), l.watch.Drain()
	changes := make([]loggedChange, len(events))
	for i := len(events) - 1; i >= 0; i-- {
		changes[i] = logged(events[i])
		if c := &changes[i]; c.action == watch.Deleted {
			c.number = max(bound, c.number)
			c.object.(metav1.Object).SetResourceVersion(strconv.FormatUint(c.number, 10))
		}
		bound = changes[i].number - 1
	}
	for _, c := range changes {
		l.newest[c.kind] = max(l.newest[c.kind], c.number)
	}
	if len(changes) > 0 {
		l.changes = append(l.changes, changes...)
		l.tell()
	}
}

func logged(e fake.Event) loggedChange {
	c := loggedChange{kind: string(e.Kind), action: watch.Modified}
	obj := e.New
	switch {
	case e.New == nil:
		obj, c.action = e.Old, watch.Deleted
	case e.Old == nil:
		c.action = watch.Added
	}
	c.number = number(obj.GetResourceVersion())
	c.object = obj.(runtime.Object).DeepCopyObject()
	return c
}

// tell needs the lock.
func (l *changeLog) tell() {
	close(l.news)
	l.news = make(chan struct{})
}

func number(version string) uint64 {
	n, _ := strconv.ParseUint(version, 10, 64) // the empty one comes before all
	return n
}

// hold shows nothing new until release.
func (l *changeLog) hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drain()
	l.held = len(l.changes)
}

func (l *changeLog) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = -1
	l.tell()
}

// latest is the version of the last change of a kind.
func (l *changeLog) latest(kind string) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drain()
	return l.newest[kind]
}

// expire ends all watches; those who watched have to list again.
func (l *changeLog) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drain()
	l.oldest = number(l.cluster.Version())
	close(l.cut)
	l.cut = make(chan struct{})
}

func (l *changeLog) since(place int) (changes []loggedChange, news <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	end := len(l.changes)
	if l.held >= 0 {
		end = min(end, l.held)
	}
	return l.changes[min(place, end):end], l.news
}

// stream answers a watch. It knows no initial events; clients then list.
func (l *changeLog) stream(w http.ResponseWriter, r *http.Request, k kind) {
	query := r.URL.Query()
	if query.Get("sendInitialEvents") != "" {
		respond(w, nil, apierrors.NewInvalid(schema.GroupKind{Kind: k.name}, "", nil))
		return
	}
	l.mu.Lock()
	cut, expired := l.cut, number(query.Get("resourceVersion")) < l.oldest
	l.mu.Unlock()
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	w.WriteHeader(http.StatusOK)
	encoder, flush := json.NewEncoder(w), http.NewResponseController(w).Flush
	send := func(action watch.EventType, obj any) {
		_ = encoder.Encode(map[string]any{"type": action, "object": obj})
	}
	if expired {
		status := apierrors.NewResourceExpired("too old").Status()
		status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		send(watch.Error, status)
		return
	}
	from, place := number(query.Get("resourceVersion")), 0
	for flush() == nil {
		changes, news := l.since(place)
		place += len(changes)
		for _, c := range changes {
			if c.kind == k.name && c.number > from {
				obj, _ := typedAs(k)(c.object, nil)
				send(c.action, obj)
			}
		}
		if len(changes) > 0 {
			continue
		}
		select {
		case <-news:
		case <-cut:
			return
		case <-l.done:
			return
		case <-r.Context().Done():
			return
		}
	}
}
