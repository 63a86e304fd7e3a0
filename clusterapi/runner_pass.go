package clusterapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// PanicError is a pass that panicked.
type PanicError struct {
	Value any    // what it panicked with; nil if it ended its goroutine instead
	Stack []byte // where
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("clusterapi: a pass panicked: %v\n%s", e.Value, e.Stack)
}

// Unwrap returns the value of the panic if it is an error, else nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// HangError is a pass that goes on although its context is done. Nothing can stop it; its
// key gets no other pass until it returns.
type HangError struct {
	Key   types.NamespacedName
	After time.Duration // how long it had been under way when it was left alone
}

func (e *HangError) Error() string {
	return fmt.Sprintf("clusterapi: the pass for %s hangs: %s after its start it still goes on, and its context is done", e.Key, e.After)
}

// flight is one pass under way. The Runner's lock guards it.
type flight struct {
	key    types.NamespacedName
	since  time.Time
	landed bool // Sync has returned
	left   bool // the worker has turned to other keys
}

// fly makes a pass for key, in a goroutine of its own so that it can be left behind.
func (r *Runner) fly(ctx context.Context, key types.NamespacedName) {
	f := &flight{key: key, since: wallClock()}
	ctx, cancel := r.limit(ctx)
	landed := make(chan struct{})
	go func() {
		defer cancel()
		defer close(landed)
		r.sync(ctx, f)
	}()
	select {
	case <-landed:
		return
	case <-ctx.Done():
	}
	if elapse(landed, hangSlack) && r.leave(f) {
		return
	}
	<-landed
}

func (r *Runner) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.options.PassTimeout < 0 {
		return context.WithCancel(ctx)
	}
	cause := fmt.Errorf("the pass took longer than %s: %w", r.options.PassTimeout, context.DeadlineExceeded)
	return context.WithTimeoutCause(ctx, r.options.PassTimeout, cause)
}

// sync calls Sync and lands the flight, whatever becomes of the call.
func (r *Runner) sync(ctx context.Context, f *flight) {
	pass := Pass{Key: f.key, Err: errUnfinished}
	defer func() {
		if pass.Err == errUnfinished { //nolint:errorlint // the sentinel itself is meant
			pass.Err = &PanicError{Value: recover(), Stack: debug.Stack()}
		}
		r.land(f, pass)
	}()
	pass.Result, pass.Err = r.syncer.Sync(ctx, f.key)
}

// errUnfinished stands for the error of a call that has not returned.
var errUnfinished = errors.New("clusterapi: the pass has not returned")

// land ends a flight: it is reported and counted, and its key goes on.
func (r *Runner) land(f *flight, pass Pass) {
	pass.Duration = wallClock().Sub(f.since)
	r.mu.Lock()
	f.landed = true
	left := f.left
	r.mu.Unlock()
	if !left {
		r.options.OnPass(pass)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if left {
		pass.Err = cmp.Or[error](pass.Err, r.stuck[f.key])
		delete(r.stuck, f.key)
		r.counters.addResult(pass.Result)
	} else {
		r.counters.Add(pass)
	}
	r.reschedule(pass)
	r.queue.done(f.key, r.options.Now())
	r.changed.Signal()
}

// leave gives up waiting for a flight, unless it has landed.
func (r *Runner) leave(f *flight) bool {
	r.mu.Lock()
	if f.landed {
		r.mu.Unlock()
		return false
	}
	f.left = true
	hang := &HangError{Key: f.key, After: wallClock().Sub(f.since)}
	pass := Pass{Key: f.key, Err: hang, Duration: hang.After}
	r.stuck[f.key] = hang
	r.counters.Add(pass)
	r.mu.Unlock()
	r.options.OnPass(pass)
	return true
}

// reschedule plans the next pass, if the last one asks for one.
//
// After an error the retry decides. An earlier instant at which time alone changes the plan
// goes before it, but nothing goes before the delay that a server asked for, events included.
func (r *Runner) reschedule(last Pass) {
	it, wait, now := r.queue.item(last.Key), last.Result.Requeue, r.options.Now()
	switch {
	case last.Err != nil:
		retry := r.options.retry(it.failures)
		if wait <= 0 || retry < wait {
			wait = retry
		}
		it.failures++
		r.counters.Retries++
	case !last.Idle():
		it.failures = 0
	}
	if rest := last.ServerDelay(); rest > 0 {
		r.queue.rest(last.Key, now.Add(rest))
	}
	if wait > 0 {
		r.queue.addAt(last.Key, now.Add(wait))
	}
}

// hanging joins the errors of the passes that hang, by key.
func (r *Runner) hanging() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, hang := range slices.SortedFunc(maps.Values(r.stuck), func(a, b *HangError) int {
		return cmp.Or(cmp.Compare(a.Key.Namespace, b.Key.Namespace), cmp.Compare(a.Key.Name, b.Key.Name))
	}) {
		errs = append(errs, hang)
	}
	return errors.Join(errs...)
}

// wallClock measures how long passes take, and decides nothing.
func wallClock() time.Time { return time.Now() } //nolint:forbidigo // see above

// elapse waits for a time, and reports false if sooner was closed first.
func elapse(sooner <-chan struct{}, wait time.Duration) bool {
	timer := time.NewTimer(wait) //nolint:forbidigo // limits a wait, decides nothing
	defer timer.Stop()
	select {
	case <-sooner:
		return false
	case <-timer.C:
		return true
	}
}
