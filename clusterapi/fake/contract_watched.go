package fake

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/daemonset"
)

// limits are how long the suite waits for a call.
type limits struct {
	deadline time.Duration // of the context that a call gets
	patience time.Duration // how long it may go on once its context is done
}

// watched is the implementation under test as the suite calls it. It ends the part if a
// call does not return in time, or returns neither an object nor an error. Only the
// goroutine of the test may use it.
type watched struct {
	t      *testing.T
	api    clusterapi.ClusterAPI
	limits limits
}

// timed makes one call with a deadline.
func timed[R any](ctx context.Context, w *watched, name Call, call func(ctx context.Context) (R, error)) (R, error) {
	w.t.Helper()
	limited, cancel := context.WithTimeout(ctx, w.limits.deadline)
	defer cancel()
	var result R
	var err error
	if !returns(w.limits.deadline+w.limits.patience, func() { result, err = call(limited) }) {
		w.t.Fatalf("%s has not returned %v after its context was done", name, w.limits.patience)
	}
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		w.t.Fatalf("%s did not end within %v: %v", name, w.limits.deadline, err)
	}
	return result, err
}

// stored makes a call that returns an object, of which what says the kind.
func stored[T any](ctx context.Context, w *watched, name Call, call func(ctx context.Context) (*T, error)) (*T, error) {
	w.t.Helper()
	obj, err := timed(ctx, w, name, call)
	if obj == nil && err == nil {
		w.t.Fatalf("%s returned neither %s nor an error", name, a(obj))
	}
	return obj, err
}

// a is the kind of an object, with its article.
func a(obj any) string {
	switch obj.(type) {
	case *corev1.Pod:
		return "a pod"
	case *appsv1.ControllerRevision:
		return "a revision"
	}
	return "a DaemonSet"
}

// returns tells whether f returned within d.
func returns(d time.Duration, f func()) bool {
	ctx, cancel := context.WithTimeout(context.Background(), d) //nolint:forbidigo // also while the test's own context is done
	defer cancel()
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		f()
	}()
	select {
	case <-finished:
		return true
	case <-ctx.Done():
		return false
	}
}

func (w *watched) Observe(ctx context.Context, key types.NamespacedName) (clusterapi.Observation, error) {
	w.t.Helper()
	seen, err := timed(ctx, w, Observe, func(ctx context.Context) (clusterapi.Observation, error) { return w.api.Observe(ctx, key) })
	if err == nil && seen.Objects.DaemonSet == nil {
		w.t.Fatalf("%s returned neither a DaemonSet nor an error", Observe)
	}
	return seen, err
}

func (w *watched) Live(ctx context.Context, key types.NamespacedName) (*appsv1.DaemonSet, error) {
	w.t.Helper()
	return stored(ctx, w, Live, func(ctx context.Context) (*appsv1.DaemonSet, error) { return w.api.Live(ctx, key) })
}

func (w *watched) Revision(ctx context.Context, key types.NamespacedName) (*appsv1.ControllerRevision, error) {
	w.t.Helper()
	return stored(ctx, w, Revision, func(ctx context.Context) (*appsv1.ControllerRevision, error) { return w.api.Revision(ctx, key) })
}

func (w *watched) CreatePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	w.t.Helper()
	return stored(ctx, w, CreatePod, func(ctx context.Context) (*corev1.Pod, error) { return w.api.CreatePod(ctx, pod) })
}

func (w *watched) PatchPod(ctx context.Context, pod daemonset.Ref, patch []byte) (*corev1.Pod, error) {
	w.t.Helper()
	return stored(ctx, w, PatchPod, func(ctx context.Context) (*corev1.Pod, error) { return w.api.PatchPod(ctx, pod, patch) })
}

func (w *watched) DeletePod(ctx context.Context, pod daemonset.Ref) error {
	w.t.Helper()
	_, err := timed(ctx, w, DeletePod, func(ctx context.Context) (struct{}, error) { return struct{}{}, w.api.DeletePod(ctx, pod) })
	return err
}

func (w *watched) CreateRevision(ctx context.Context, r *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
	w.t.Helper()
	return stored(ctx, w, CreateRevision, func(ctx context.Context) (*appsv1.ControllerRevision, error) { return w.api.CreateRevision(ctx, r) })
}

func (w *watched) UpdateRevision(ctx context.Context, r *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
	w.t.Helper()
	return stored(ctx, w, UpdateRevision, func(ctx context.Context) (*appsv1.ControllerRevision, error) { return w.api.UpdateRevision(ctx, r) })
}

func (w *watched) PatchRevision(ctx context.Context, r daemonset.Ref, patch []byte) (*appsv1.ControllerRevision, error) {
	w.t.Helper()
	return stored(ctx, w, PatchRevision, func(ctx context.Context) (*appsv1.ControllerRevision, error) {
		return w.api.PatchRevision(ctx, r, patch)
	})
}

func (w *watched) DeleteRevision(ctx context.Context, r daemonset.Ref) error {
	w.t.Helper()
	_, err := timed(ctx, w, DeleteRevision, func(ctx context.Context) (struct{}, error) { return struct{}{}, w.api.DeleteRevision(ctx, r) })
	return err
}

func (w *watched) UpdateStatus(ctx context.Context, set *appsv1.DaemonSet) (*appsv1.DaemonSet, error) {
	w.t.Helper()
	return stored(ctx, w, UpdateSetStatus, func(ctx context.Context) (*appsv1.DaemonSet, error) { return w.api.UpdateStatus(ctx, set) })
}

func (w *watched) RecordEvent(ctx context.Context, about daemonset.Ref, event daemonset.Event) {
	w.t.Helper()
	_, _ = timed(ctx, w, RecordEvent, func(ctx context.Context) (struct{}, error) { // there is no error
		w.api.RecordEvent(ctx, about, event)
		return struct{}{}, nil
	})
}
