package witness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// retryAfter is how long the recorder waits after the server could not be reached.
const retryAfter = 100 * time.Millisecond

// Recorder keeps what watches tell. Its watches go on where they broke off, so that also
// what happens while the API server is down is seen; where the server cannot do that any
// more, Gaps says so.
type Recorder struct {
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	history History
	gaps    []string
}

// source is one kind of object in the API.
type source struct {
	selector string
	kind     string
	list     func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error)
	watch    func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
}

// Watch records the DaemonSets and pods of a namespace and the nodes that a label selector
// picks out, until Stop or the end of the context. It returns when what is there already has
// been recorded.
func Watch(ctx context.Context, client kubernetes.Interface, namespace, nodes string) (*Recorder, error) {
	ctx, cancel := context.WithCancel(ctx)
	r := &Recorder{cancel: cancel}
	for _, s := range sources(client, namespace, nodes) {
		version, err := r.list(ctx, s)
		if err != nil {
			r.Stop()
			return nil, fmt.Errorf("witness: %s: %w", s.kind, err)
		}
		r.wg.Go(func() { r.follow(ctx, s, version) })
	}
	return r, nil
}

func sources(client kubernetes.Interface, namespace, selector string) []source {
	nodes, pods, sets := client.CoreV1().Nodes(), client.CoreV1().Pods(namespace), client.AppsV1().DaemonSets(namespace)
	return []source{
		{selector, "nodes", func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return nodes.List(ctx, o) }, nodes.Watch},
		{"", "daemonsets", func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return sets.List(ctx, o) }, sets.Watch},
		{"", "pods", func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return pods.List(ctx, o) }, pods.Watch},
	}
}

// Stop ends the watches and returns when nothing is recorded any more.
func (r *Recorder) Stop() {
	r.cancel()
	r.wg.Wait()
}

// History returns what was recorded so far. The objects are only read.
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

// list records what is there and returns the version of the list.
func (r *Recorder) list(ctx context.Context, s source) (string, error) {
	list, err := s.list(ctx, metav1.ListOptions{LabelSelector: s.selector})
	if err != nil {
		return "", err
	}
	meta, ok := list.(metav1.ListInterface)
	if !ok {
		return "", fmt.Errorf("%T is no list", list)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, item := range items(list) {
		r.history = append(r.history, Change{Type: watch.Added, Object: item, Seen: time.Now()})
	}
	return meta.GetResourceVersion(), nil
}

func items(list runtime.Object) []Object {
	var all []Object
	switch list := list.(type) {
	case *corev1.NodeList:
		for i := range list.Items {
			all = append(all, &list.Items[i])
		}
	case *corev1.PodList:
		for i := range list.Items {
			all = append(all, &list.Items[i])
		}
	case *appsv1.DaemonSetList:
		for i := range list.Items {
			all = append(all, &list.Items[i])
		}
	}
	return all
}

// follow watches from a version, again and again.
func (r *Recorder) follow(ctx context.Context, s source, version string) {
	for ctx.Err() == nil {
		next, err := r.watchOnce(ctx, s, version)
		version = next
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			r.gap(s, err)
			return
		}
		if err != nil {
			pause(ctx)
		}
	}
}

func (r *Recorder) gap(s source, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gaps = append(r.gaps, s.kind+": "+err.Error())
}

func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(retryAfter):
	}
}

// watchOnce records until the watch ends, and returns the version from which to go on.
func (r *Recorder) watchOnce(ctx context.Context, s source, version string) (string, error) {
	w, err := s.watch(ctx, metav1.ListOptions{LabelSelector: s.selector, ResourceVersion: version, AllowWatchBookmarks: true})
	if err != nil {
		return version, err
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		if event.Type == watch.Error {
			return version, apierrors.FromObject(event.Object)
		}
		object, ok := event.Object.(Object)
		if !ok {
			return version, errors.New("an event without an object")
		}
		version = object.GetResourceVersion()
		if event.Type != watch.Bookmark {
			r.record(Change{Type: event.Type, Object: object, Seen: time.Now()})
		}
	}
	return version, nil
}

func (r *Recorder) record(change Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history = append(r.history, change)
}
