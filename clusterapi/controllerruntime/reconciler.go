package controllerruntime

import (
	"cmp"
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// ReconcilerOptions tune a Reconciler; the zero value has the defaults.
type ReconcilerOptions struct {
	// A pass that failed is made again after FirstRetry, twice that, four times that, until
	// LastRetry; one that did not fail starts this over. Zero or less means
	// clusterapi.DefaultFirstRetry and clusterapi.DefaultLastRetry.
	FirstRetry, LastRetry time.Duration

	// Rest is how long a set rests after a pass that did not fail, so that a swarm of events
	// gets one pass. Zero means clusterapi.DefaultRest, less than zero none. A rest that a server asked
	// for is kept to in any case.
	Rest time.Duration

	// OnPass, if not nil, is told of every pass when it ends. It is called from several
	// goroutines and holds up the worker.
	OnPass func(clusterapi.Pass)

	// Now measures how long passes take and sets rest; nil means time.Now.
	Now func() time.Time
}

// Reconciler makes one pass for each request. It is safe for concurrent use as far as its
// Syncer is, which needs the passes of one DaemonSet one at a time; a controller sees to that.
type Reconciler struct {
	syncer  clusterapi.Syncer
	options ReconcilerOptions
	retries *retries
	rests   rests
}

var _ reconcile.Reconciler = (*Reconciler)(nil)

// NewReconciler returns a Reconciler for syncer, which must not be nil.
func NewReconciler(syncer clusterapi.Syncer, options ReconcilerOptions) (*Reconciler, error) {
	if syncer == nil {
		return nil, errors.New("controllerruntime: the Syncer of a Reconciler is nil")
	}
	if options.FirstRetry <= 0 {
		options.FirstRetry = clusterapi.DefaultFirstRetry
	}
	if options.LastRetry <= 0 {
		options.LastRetry = clusterapi.DefaultLastRetry
	}
	options.Rest = cmp.Or(options.Rest, clusterapi.DefaultRest)
	if options.OnPass == nil {
		options.OnPass = func(clusterapi.Pass) {}
	}
	if options.Now == nil {
		options.Now = time.Now //nolint:forbidigo // the one clock of the reconciler
	}
	return &Reconciler{
		syncer:  syncer,
		options: options,
		retries: newRetries(options.FirstRetry, options.LastRetry),
	}, nil
}

// Reconcile implements reconcile.Reconciler. Without an error, RequeueAfter is when the next
// pass is due, zero for none. The error of a pass that panicked is a *clusterapi.PanicError.
// For a set that rests it makes no pass, and RequeueAfter is the rest of the rest.
//
// After an error the controller asks its rate limiter when to try again, which has to be
// RateLimiter.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	since := r.options.Now()
	if wait := r.rests.left(request, since); wait > 0 {
		r.retries.idle(request)
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	pass := r.sync(ctx, request)
	ended := r.options.Now()
	pass.Duration = ended.Sub(since)
	r.options.OnPass(pass)
	r.rests.begin(request, ended, r.rest(pass))
	if pass.Err != nil {
		r.retries.failed(request, pass)
		return reconcile.Result{}, pass.Err
	}
	r.retries.take(request)
	if pass.Idle() {
		r.retries.idle(request)
	}
	return reconcile.Result{RequeueAfter: max(pass.Result.Requeue, 0)}, nil
}

// rest is how long no pass follows on this one.
func (r *Reconciler) rest(pass clusterapi.Pass) time.Duration {
	if pass.Err != nil || pass.Result.Gone { // the retry has a delay of its own
		return pass.ServerDelay()
	}
	return max(r.options.Rest, pass.ServerDelay())
}

// sync turns a panic into the error of the pass.
func (r *Reconciler) sync(ctx context.Context, request reconcile.Request) (pass clusterapi.Pass) {
	defer func() {
		if value := recover(); value != nil {
			pass = clusterapi.Pass{Key: request.NamespacedName, Err: &clusterapi.PanicError{Value: value, Stack: debug.Stack()}}
		}
	}()
	pass.Key = request.NamespacedName
	pass.Result, pass.Err = r.syncer.Sync(ctx, request.NamespacedName)
	return pass
}

// RateLimiter returns what the controller of this Reconciler has to use as its rate limiter,
// so that retries keep to the delays that servers ask for, and are not later than the time at
// which the plan changes by itself.
func (r *Reconciler) RateLimiter() workqueue.TypedRateLimiter[reconcile.Request] { return r.retries }
