package clientgo

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/daemonset"
	"k8s.io/apimachinery/pkg/types"
)

// endSlack is how long after its context is done a pass may take to return.
const endSlack = time.Second

// sink puts into the queue what events ask for.
type sink struct{ *Controller }

// Wake settles, then queues.
func (s sink) Wake(w daemonset.Wakes) {
	s.syncer.Settle(w)
	now := realTime()
	for _, key := range w.Sets {
		switch after, ok := s.pace.wake(key, now); {
		case !ok:
		case after == 0:
			s.queue.Add(key)
		default:
			s.queue.AddAfter(key, after)
		}
	}
	for _, later := range w.Later {
		s.queue.AddAfter(later.Set, later.After)
	}
}

// work makes passes until stop or hold is done. Passes under way may go on for a while
// after stop, but not after hold. The error joins, by key, a *clusterapi.HangError for each
// pass that ignores that its context is done.
func (c *Controller) work(stop, hold context.Context) error {
	passes, cut := context.WithCancelCause(hold)
	defer cut(nil)
	ending, end := context.WithCancel(hold)
	defer end()
	defer context.AfterFunc(stop, end)()
	ended := make(chan struct{})
	defer context.AfterFunc(ending, func() {
		c.queue.ShutDown()
		if elapse(ended, c.cfg.Grace) {
			cut(context.Cause(stop))
		}
	})()

	var all sync.WaitGroup
	for range c.cfg.Workers {
		all.Go(func() { c.worker(ending, passes) })
	}
	go func() {
		defer close(ended)
		all.Wait()
	}()
	c.cfg.Logger.InfoContext(stop, "reconciling", "workers", c.cfg.Workers)
	select {
	case <-ended:
		return nil
	case <-passes.Done():
	}
	if !elapse(ended, endSlack) {
		return nil
	}
	return c.abandoned()
}

// abandoned joins the errors of the passes that nobody waits for any more.
func (c *Controller) abandoned() error {
	var errs []error
	for _, p := range c.passesSince(c.now()) {
		errs = append(errs, &clusterapi.HangError{Key: p.key, After: c.now().Sub(p.since)})
	}
	return errors.Join(errs...)
}

// worker makes passes one after the other.
func (c *Controller) worker(ending, passes context.Context) {
	for {
		key, shutdown := c.queue.Get()
		if shutdown {
			return
		}
		if ending.Err() == nil { // a queue that is shut down still hands out its rest
			c.pass(passes, key)
		}
		c.queue.Done(key)
	}
}

// pass makes one pass, unless a server asked for none yet, and sees to the next one.
func (c *Controller) pass(ctx context.Context, key types.NamespacedName) {
	if left := c.pace.begin(key, realTime()); left > 0 {
		c.queue.AddAfter(key, left)
		return
	}
	if c.cfg.PassTimeout > 0 {
		cause := fmt.Errorf("the pass took longer than %s: %w", c.cfg.PassTimeout, context.DeadlineExceeded)
		limited, cancel := context.WithTimeoutCause(ctx, c.cfg.PassTimeout, cause)
		defer cancel()
		ctx = limited
	}
	since := c.begin(key)
	pass := clusterapi.Pass{Key: key}
	pass.Result, pass.Err = c.sync(ctx, key)
	pass.Duration = c.end(key).Sub(since)
	c.log(ctx, pass)
	c.metrics.observe(pass)
	if c.cfg.OnPass != nil {
		c.cfg.OnPass(pass)
	}
	c.reschedule(pass)
}

// sync calls the Syncer; what it panics with becomes an error.
func (c *Controller) sync(ctx context.Context, key types.NamespacedName) (result clusterapi.Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			result, err = clusterapi.Result{}, &clusterapi.PanicError{Value: r, Stack: debug.Stack()}
		}
	}()
	return c.syncer.Sync(ctx, key)
}

// begin and end note which passes are under way.
func (c *Controller) begin(key types.NamespacedName) time.Time {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.underWay[key] = now
	return now
}

func (c *Controller) end(key types.NamespacedName) time.Time {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.underWay, key)
	return now
}

func (c *Controller) now() time.Time { return c.cfg.Driver.Now() }

// realTime is what the queue waits in, whatever the Driver's clock says.
func realTime() time.Time { return time.Now() } //nolint:forbidigo // see above

// log reports what the Driver does not: passes that came to no plan.
func (c *Controller) log(ctx context.Context, p clusterapi.Pass) {
	switch {
	case p.Err != nil && len(p.Result.Writes) == 0:
		c.cfg.Logger.ErrorContext(ctx, "pass", "daemonset", p.Key.String(), "error", p.Err)
	case p.Result.Stale != nil:
		c.cfg.Logger.DebugContext(ctx, "pass refused", "daemonset", p.Key.String(), "reason", p.Result.Stale)
	case p.Result.Gone:
		c.cfg.Logger.InfoContext(ctx, "daemonset is gone", "daemonset", p.Key.String())
	}
}

// reschedule plans the next pass, if the last one or an event during it asks for one. After
// an error the retry decides; an earlier instant at which time alone changes the plan goes
// before it, and nothing goes before the delay that a server asked for.
func (c *Controller) reschedule(last clusterapi.Pass) {
	if rest, woken := c.pace.end(last.Key, realTime(), c.cfg.Rest, last.ServerDelay()); woken {
		c.queue.AddAfter(last.Key, rest)
	} else if last.Result.Gone {
		c.pace.leave(last.Key)
	}
	wait := last.Result.Requeue
	switch {
	case last.Err != nil:
		retry := c.cfg.RateLimiter.When(last.Key)
		if wait <= 0 || retry < wait {
			wait = retry
		}
		wait = max(wait, last.ServerDelay())
		c.metrics.retried()
	case !last.Idle():
		c.cfg.RateLimiter.Forget(last.Key)
	}
	if wait > 0 {
		c.queue.AddAfter(last.Key, wait)
	}
}

// elapse waits for a time, and reports false if sooner was closed first.
func elapse(sooner <-chan struct{}, wait time.Duration) bool {
	timer := time.NewTimer(max(0, wait)) //nolint:forbidigo // limits a wait, decides nothing
	defer timer.Stop()
	select {
	case <-sooner:
		return false
	case <-timer.C:
		return true
	}
}
