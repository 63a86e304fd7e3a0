package clusterapi

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/daemonset"
)

// Syncer is what a Runner runs: a *Driver, or something around one. Its methods are called
// from several goroutines, Sync never twice at a time for one key.
type Syncer interface {
	// Sync makes one pass.
	Sync(ctx context.Context, key types.NamespacedName) (Result, error)
	// Settle takes note of what an event showed. It must not block.
	Settle(w daemonset.Wakes)
}

// Runner makes passes for the DaemonSets whose keys it is given: a queue, workers and
// retries. Adapters that come with a queue of their own do not need it.
//
// A key that is added while it waits is still one pass; one that is added while its pass is
// under way gets another one after it. Keys come up in the order in which they were added,
// and no key is ever on two workers. A Runner is safe for concurrent use. Make one with
// NewRunner.
type Runner struct {
	syncer  Syncer
	options RunnerOptions

	mu       sync.Mutex
	changed  *sync.Cond // the queue, or whether to stop
	queue    queue
	counters Counters
	started  bool
	stuck    map[types.NamespacedName]*HangError
	alarm    *time.Timer // nil: not set
	alarmAt  time.Time
}

var errRunning = errors.New("clusterapi: the Runner is running already")

// NewRunner returns a Runner for syncer, which must not be nil. It does nothing before Run.
func NewRunner(syncer Syncer, options RunnerOptions) (*Runner, error) {
	if syncer == nil {
		return nil, errors.New("clusterapi: the Syncer of a Runner is nil")
	}
	r := &Runner{
		syncer:  syncer,
		options: options.withDefaults(),
		queue:   newQueue(),
		stuck:   map[types.NamespacedName]*HangError{},
	}
	r.changed = sync.NewCond(&r.mu)
	return r, nil
}

// Wake gives what an event asks for its effect: first it settles, then it adds the keys.
func (r *Runner) Wake(w daemonset.Wakes) {
	r.syncer.Settle(w)
	for _, key := range w.Sets {
		r.Add(key)
	}
	for _, later := range w.Later {
		r.AddAfter(later.Set, later.After)
	}
}

// Add asks for a pass for key. It never blocks, and may be called before and after Run: keys
// are kept.
func (r *Runner) Add(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.options.Now()
	r.queue.promote(now) // what was due before this key goes before it
	if r.queue.add(key, now) {
		r.counters.Added++
	} else {
		r.counters.Repeated++
	}
	r.changed.Signal()
}

// AddAfter asks for a pass for key after delay; zero or less means now. Of several delays
// for a key the one that is over first stands. It is not used up by passes before that.
func (r *Runner) AddAfter(key types.NamespacedName, delay time.Duration) {
	if delay <= 0 {
		r.Add(key)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue.addAt(key, r.options.Now().Add(delay))
	r.changed.Signal() // somebody has to set the alarm
}

// Counters returns what was counted until now. The value shares nothing with the Runner.
func (r *Runner) Counters() Counters {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue.promote(r.options.Now())
	c := r.counters
	c.Writes = slices.Clone(c.Writes)
	c.Queued, c.Delayed = len(r.queue.ready), len(r.queue.delayed)
	c.Running, c.Stuck = r.queue.running, len(r.stuck)
	return c
}

// Run makes passes until ctx is done, and returns once the passes under way have ended.
// Those are not cut short by ctx, but by RunnerOptions.Grace after it. Keys still in the
// queue stay there, for another Run.
//
// The error is nil if all passes have ended. Otherwise it joins, by key, a *HangError for
// each that ignores that its context is done. A second Run at the same time is an error, too.
func (r *Runner) Run(ctx context.Context) error {
	if !r.start() {
		return errRunning
	}
	defer r.stop()
	passes, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	ended := make(chan struct{})
	defer close(ended)
	release := context.AfterFunc(ctx, func() {
		r.broadcast()
		if !elapse(ended, r.options.Grace) {
			return
		}
		cut(context.Cause(ctx))
	})
	defer release()

	var workers sync.WaitGroup
	for range r.options.Workers {
		workers.Go(func() {
			for {
				key, ok := r.next(ctx)
				if !ok {
					return
				}
				r.fly(passes, key)
			}
		})
	}
	workers.Wait()
	return r.hanging()
}

// Drain makes the passes that are due, and those that come due meanwhile, one after another,
// until none is left, and returns how many it made. With RunnerOptions.Now it is for programs
// that move the clock themselves, simulations and tests above all: they call Drain, give its
// effects to Wake, and move on to NextDue. It ends early, with an error, when ctx is done,
// and is an error while Run or another Drain is under way.
func (r *Runner) Drain(ctx context.Context) (passes int, err error) {
	if !r.start() {
		return 0, errRunning
	}
	defer r.stop()
	for ; ctx.Err() == nil; passes++ {
		key, ok := r.due()
		if !ok {
			return passes, r.hanging()
		}
		r.fly(ctx, key)
	}
	return passes, errors.Join(context.Cause(ctx), r.hanging())
}

// NextDue returns when the next key is due by RunnerOptions.Now, which is now if one is due
// already; ok is false if none is queued.
func (r *Runner) NextDue() (at time.Time, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue.ready) > 0 {
		return r.options.Now(), true
	}
	return r.queue.next()
}

func (r *Runner) due() (key types.NamespacedName, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue.promote(r.options.Now())
	return r.queue.take()
}

func (r *Runner) start() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started {
		return false
	}
	r.started = true
	return true
}

func (r *Runner) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started = false
	r.disarm()
}

func (r *Runner) broadcast() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changed.Broadcast()
}

// next waits for a key; ok is false once ctx is done.
func (r *Runner) next(ctx context.Context) (key types.NamespacedName, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for ctx.Err() == nil {
		r.queue.promote(r.options.Now())
		if key, ok = r.queue.take(); ok {
			r.changed.Signal() // there may be more
			return key, true
		}
		r.arm()
		r.changed.Wait()
	}
	return types.NamespacedName{}, false
}

// arm sets the alarm for the next delay. Only an idle worker needs one: the others look at
// the clock whenever they come for a key.
func (r *Runner) arm() {
	due, ok := r.queue.next()
	if !ok || r.alarm != nil && !due.Before(r.alarmAt) {
		return
	}
	r.disarm()
	r.alarmAt = due
	var alarm *time.Timer
	wait := max(due.Sub(r.options.Now()), time.Millisecond) // a clock may stand still
	alarm = time.AfterFunc(wait, func() {                   //nolint:forbidigo // waits for a time that is over by the given clock
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.alarm == alarm {
			r.alarm = nil
		}
		r.changed.Signal()
	})
	r.alarm = alarm
}

func (r *Runner) disarm() {
	if r.alarm != nil {
		r.alarm.Stop()
		r.alarm = nil
	}
}
