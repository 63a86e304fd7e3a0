package controllerruntime_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/daemonplan/daemonplan/clusterapi/controllerruntime"
)

// syncer is a Syncer made of functions.
type syncer struct {
	sync   func(ctx context.Context, key types.NamespacedName) (clusterapi.Result, error)
	settle func(w daemonset.Wakes)
}

func (s *syncer) Sync(ctx context.Context, key types.NamespacedName) (clusterapi.Result, error) {
	return s.sync(ctx, key)
}

func (s *syncer) Settle(w daemonset.Wakes) { s.settle(w) }

var request = reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "agent"}}

func TestReconcileDelays(t *testing.T) {
	busy := apierrors.NewTooManyRequests("busy", 7)
	busier := apierrors.NewTooManyRequests("busier", 20)
	failed := func(err error) clusterapi.Write {
		return clusterapi.Write{Verb: clusterapi.CreatePod, Outcome: clusterapi.Failed, Err: err}
	}
	tests := []struct {
		name   string
		why    string
		result clusterapi.Result
		err    error
		want   time.Duration // RequeueAfter, or after an error what the rate limiter says
	}{
		{"nothing", "wait for a change", clusterapi.Result{}, nil, 0},
		{"wake", "time alone changes the plan", clusterapi.Result{Requeue: 30 * time.Second}, nil, 30 * time.Second},
		{"below zero", "a controller takes that for none", clusterapi.Result{Requeue: -1}, nil, 0},
		{"error", "the first retry is quick", clusterapi.Result{}, errors.New("x"), 10 * time.Millisecond},
		{"error, wake later", "the retry does not wait for the plan", clusterapi.Result{Requeue: time.Minute}, errors.New("x"), 10 * time.Millisecond},
		{"error, wake sooner", "the plan does not wait for the retry", clusterapi.Result{Requeue: time.Millisecond}, errors.New("x"), time.Millisecond},
		{"server delay", "nothing goes before it", clusterapi.Result{}, busy, 7 * time.Second},
		{"server delay, wrapped", "it is looked for in the whole error", clusterapi.Result{}, fmt.Errorf("observe: %w", busy), 7 * time.Second},
		{"server delay, wake sooner", "nothing goes before it", clusterapi.Result{Requeue: time.Second}, busy, 7 * time.Second},
		{
			"server delays of writes", "the longest counts",
			clusterapi.Result{Writes: []clusterapi.Write{failed(busy), failed(busier), failed(busy)}},
			errors.Join(busy, busier, busy), 20 * time.Second,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &syncer{sync: func(context.Context, types.NamespacedName) (clusterapi.Result, error) { return tt.result, tt.err }}
			r, err := controllerruntime.NewReconciler(s, controllerruntime.ReconcilerOptions{FirstRetry: 10 * time.Millisecond})
			require.NoError(t, err)
			got, err := r.Reconcile(t.Context(), request)
			require.ErrorIs(t, err, tt.err)
			if tt.err == nil {
				require.Equal(t, reconcile.Result{RequeueAfter: tt.want}, got, tt.why)
				return
			}
			require.Zero(t, got, "a controller warns of a delay beside an error")
			require.Equal(t, tt.want, r.RateLimiter().When(request), tt.why)
			require.Equal(t, 20*time.Millisecond, r.RateLimiter().When(request), "what a pass asked for counts once")
		})
	}
}

func TestRetries(t *testing.T) {
	outcome := errors.New("x")
	result := clusterapi.Result{}
	s := &syncer{sync: func(context.Context, types.NamespacedName) (clusterapi.Result, error) { return result, outcome }}
	r, err := controllerruntime.NewReconciler(s, controllerruntime.ReconcilerOptions{FirstRetry: time.Second, LastRetry: 5 * time.Second})
	require.NoError(t, err)
	limiter := r.RateLimiter()
	next := func() time.Duration {
		_, err := r.Reconcile(t.Context(), request)
		require.Error(t, err)
		return limiter.When(request)
	}
	for _, want := range []string{"1s", "2s", "4s", "5s", "5s"} {
		require.Equal(t, want, next().String())
	}
	require.Equal(t, 5, limiter.NumRequeues(request))
	other := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "other"}}
	require.Equal(t, time.Second, limiter.When(other), "each set has its own retries")

	limiter.Forget(request) // as controllers do after a pass without an error
	require.Equal(t, time.Second, next(), "a pass that did not fail starts this over")

	// A pass that succeeds takes back what a failed one asked for and no queue picked up.
	outcome = apierrors.NewTooManyRequests("busy", 60)
	_, err = r.Reconcile(t.Context(), request)
	require.Error(t, err)
	outcome = nil
	_, err = r.Reconcile(t.Context(), request)
	require.NoError(t, err)
	require.Less(t, limiter.When(request), time.Minute)
}

// TestRetriesOverIdlePasses: a pass that could not do its work starts nothing over.
func TestRetriesOverIdlePasses(t *testing.T) {
	var result clusterapi.Result
	outcome := errors.New("x")
	s := &syncer{sync: func(context.Context, types.NamespacedName) (clusterapi.Result, error) { return result, outcome }}
	r, err := controllerruntime.NewReconciler(s, controllerruntime.ReconcilerOptions{FirstRetry: time.Second, Rest: -1})
	require.NoError(t, err)
	limiter := r.RateLimiter()
	reconcile := func() {
		_, err := r.Reconcile(t.Context(), request)
		require.Equal(t, outcome, err)
	}
	reconcile()
	require.Equal(t, time.Second, limiter.When(request))

	result, outcome = clusterapi.Result{Stale: &clusterapi.StaleError{}, Requeue: time.Second}, nil
	reconcile()
	limiter.Forget(request) // as controllers do after a pass without an error
	result, outcome = clusterapi.Result{}, errors.New("x")
	reconcile()
	require.Equal(t, 2*time.Second, limiter.When(request), "the second failure in a row")

	outcome = nil
	reconcile()
	limiter.Forget(request)
	require.Equal(t, time.Second, limiter.When(request))
}

func TestDefaultRetries(t *testing.T) {
	s := &syncer{sync: func(context.Context, types.NamespacedName) (clusterapi.Result, error) {
		return clusterapi.Result{}, errors.New("x")
	}}
	r, err := controllerruntime.NewReconciler(s, controllerruntime.ReconcilerOptions{})
	require.NoError(t, err)
	require.Equal(t, clusterapi.DefaultFirstRetry, r.RateLimiter().When(request))
	for range 40 {
		r.RateLimiter().When(request)
	}
	require.Equal(t, clusterapi.DefaultLastRetry, r.RateLimiter().When(request))
}

func TestReconcilePanic(t *testing.T) {
	cause := errors.New("the cause")
	var passes []clusterapi.Pass
	s := &syncer{sync: func(context.Context, types.NamespacedName) (clusterapi.Result, error) { panic(cause) }}
	now := time.Unix(0, 0)
	r, err := controllerruntime.NewReconciler(s, controllerruntime.ReconcilerOptions{
		OnPass: func(p clusterapi.Pass) { passes = append(passes, p) },
		Now:    func() time.Time { now = now.Add(time.Second); return now },
	})
	require.NoError(t, err)
	_, err = r.Reconcile(t.Context(), request)
	panicked, ok := errors.AsType[*clusterapi.PanicError](err)
	require.True(t, ok, "%v", err)
	require.ErrorIs(t, err, cause)
	require.Contains(t, string(panicked.Stack), "TestReconcilePanic")
	require.Len(t, passes, 1)
	require.Equal(t, clusterapi.Pass{Key: request.NamespacedName, Err: err, Duration: time.Second}, passes[0])
}

func TestReconcileTellsOfPasses(t *testing.T) {
	var counters clusterapi.Counters
	outcomes := []error{nil, errors.New("x"), nil}
	s := &syncer{sync: func(_ context.Context, key types.NamespacedName) (clusterapi.Result, error) {
		err := outcomes[0]
		outcomes = outcomes[1:]
		return clusterapi.Result{Gone: key.Name == "agent"}, err
	}}
	r, err := controllerruntime.NewReconciler(s, controllerruntime.ReconcilerOptions{OnPass: counters.Add})
	require.NoError(t, err)
	for range 3 {
		_, _ = r.Reconcile(t.Context(), request) // the counters know
	}
	require.Equal(t, clusterapi.PassCounts{Gone: 2, Failed: 1}, counters.Passes)
}

func TestNewReconcilerNeedsASyncer(t *testing.T) {
	_, err := controllerruntime.NewReconciler(nil, controllerruntime.ReconcilerOptions{})
	require.ErrorContains(t, err, "nil")
}
