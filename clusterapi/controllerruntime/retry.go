package controllerruntime

import (
	"sync"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

type limiter = workqueue.TypedRateLimiter[reconcile.Request]

// retries says when a pass that failed is made again. A controller heeds no RequeueAfter
// beside an error, so what the failed pass asked for is kept here until its queue asks.
type retries struct {
	limiter // how long the retry itself waits

	mu    sync.Mutex
	asked map[reconcile.Request]ask
}

// ask is what a failed pass asks for.
type ask struct {
	by      time.Duration // another pass by then, because time changes the plan; zero: none
	noLower time.Duration // but none sooner, because a server said so
	keep    bool          // the pass was idle: failures before it still count
}

func newRetries(first, last time.Duration) *retries {
	return &retries{
		limiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](first, last),
		asked:   map[reconcile.Request]ask{},
	}
}

// failed notes what a pass asks for that failed.
func (r *retries) failed(request reconcile.Request, pass clusterapi.Pass) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked[request] = ask{by: pass.Result.Requeue, noLower: pass.ServerDelay()}
}

// idle notes that a pass could not do its work: the controller takes it for one that went
// well, and asks to forget the failures before it.
func (r *retries) idle(request reconcile.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked[request] = ask{keep: true}
}

// take returns what a failed pass asked for, once.
func (r *retries) take(request reconcile.Request) ask {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.asked[request]
	delete(r.asked, request)
	return a
}

// When implements workqueue.TypedRateLimiter. The retry decides; an earlier instant at which
// time alone changes the plan goes before it, and nothing goes before the delay that a server
// asked for, an event neither: see rests.
func (r *retries) When(request reconcile.Request) time.Duration {
	wait, a := r.limiter.When(request), r.take(request)
	if a.by > 0 {
		wait = min(wait, a.by)
	}
	return max(wait, a.noLower)
}

// Forget implements workqueue.TypedRateLimiter.
func (r *retries) Forget(request reconcile.Request) {
	if !r.take(request).keep {
		r.limiter.Forget(request)
	}
}
