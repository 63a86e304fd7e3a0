package witness

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

// Recorder keeps every change that etcd stores. It asks etcd and not the API server,
// because a watch of the API server does not outlive it: after a restart its cache begins
// anew, and what happened in between is known to etcd alone.
type Recorder struct {
	client *clientv3.Client
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	history History
	gaps    []string
}

// source is one kind of object in etcd.
type source struct {
	prefix   string
	selector labels.Selector
}

// Watch records the DaemonSets and pods of a namespace and the nodes that a label selector
// picks out, until Stop or the end of the context. It returns when what is there already has
// been recorded. The endpoint is etcd's, as a URL.
func Watch(ctx context.Context, endpoint, namespace string, nodes labels.Selector) (*Recorder, error) {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, DialTimeout: time.Minute})
	if err != nil {
		return nil, fmt.Errorf("witness: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &Recorder{client: client, cancel: cancel}
	for _, s := range []source{
		{"/registry/minions/", nodes},
		{"/registry/daemonsets/" + namespace + "/", labels.Everything()},
		{"/registry/pods/" + namespace + "/", labels.Everything()},
	} {
		revision, err := r.list(ctx, s)
		if err != nil {
			r.Stop()
			return nil, fmt.Errorf("witness: %s: %w", s.prefix, err)
		}
		r.wg.Go(func() { r.follow(ctx, s, revision) })
	}
	return r, nil
}

// Stop ends the watches and returns when nothing is recorded any more.
func (r *Recorder) Stop() {
	r.cancel()
	r.wg.Wait()
	_ = r.client.Close()
}

// History returns what was recorded so far, in no order. The objects are only read.
func (r *Recorder) History() History {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.history)
}

// Pods counts the changes of pods so far.
func (r *Recorder) Pods() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	count := 0
	for _, change := range r.history {
		if _, ok := change.Object.(*corev1.Pod); ok {
			count++
		}
	}
	return count
}

// Gaps says where something may have happened unseen. A test that finds any has no witness.
func (r *Recorder) Gaps() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.gaps)
}

// list records what is there and returns the revision of etcd at which it was read.
func (r *Recorder) list(ctx context.Context, s source) (int64, error) {
	answer, err := r.client.Get(ctx, s.prefix, clientv3.WithPrefix())
	if err != nil {
		return 0, err
	}
	for _, kv := range answer.Kvs {
		object, err := decode(kv, kv.ModRevision)
		if err != nil {
			return 0, err
		}
		r.record(s, Change{Type: watch.Added, Object: object, Seen: time.Now()})
	}
	return answer.Header.Revision, nil
}

// follow records what comes after a revision. The client goes on by itself where a broken
// connection left it.
func (r *Recorder) follow(ctx context.Context, s source, after int64) {
	changes := r.client.Watch(ctx, s.prefix, clientv3.WithPrefix(), clientv3.WithPrevKV(), clientv3.WithRev(after+1))
	for answer := range changes {
		if err := answer.Err(); err != nil && ctx.Err() == nil {
			r.gap(s, err)
		}
		for _, event := range answer.Events {
			change, err := changeOf(event)
			if err != nil {
				r.gap(s, err)
				continue
			}
			r.record(s, change)
		}
	}
	if ctx.Err() == nil {
		r.gap(s, fmt.Errorf("the watch has ended"))
	}
}

func changeOf(event *clientv3.Event) (Change, error) {
	change := Change{Type: watch.Modified, Seen: time.Now()}
	kv := event.Kv
	switch {
	case event.Type == clientv3.EventTypeDelete && event.PrevKv == nil:
		return change, fmt.Errorf("what was deleted is compacted: %s", event.Kv.Key)
	case event.Type == clientv3.EventTypeDelete:
		change.Type, kv = watch.Deleted, event.PrevKv
	case event.IsCreate():
		change.Type = watch.Added
	}
	var err error
	change.Object, err = decode(kv, event.Kv.ModRevision)
	return change, err
}

// decode reads an object as the API server stores it. Its resource version is not stored
// with it, being that of the key.
func decode(kv *mvccpb.KeyValue, revision int64) (Object, error) {
	decoded, err := runtime.Decode(scheme.Codecs.UniversalDeserializer(), kv.Value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kv.Key, err)
	}
	object, ok := decoded.(metav1.Object)
	if !ok {
		return nil, fmt.Errorf("%s: a %T is no object", kv.Key, decoded)
	}
	object.SetResourceVersion(strconv.FormatInt(revision, 10))
	return object, nil
}

func (r *Recorder) record(s source, change Change) {
	if !s.selector.Matches(labels.Set(change.Object.GetLabels())) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history = append(r.history, change)
}

func (r *Recorder) gap(s source, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gaps = append(r.gaps, s.prefix+": "+err.Error())
}
