package clusterapi

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/backoff"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/expectations"
)

// staleRetry is when a pass is tried again that was refused because of old reads.
const staleRetry = 100 * time.Millisecond

// Driver observes, plans and applies, one DaemonSet per Sync. It is safe for concurrent
// use, but only one Sync of one DaemonSet may be under way at a time; a Runner sees to it.
type Driver struct {
	cfg Config
	own own
}

// NewDriver checks cfg and fills in its defaults.
func NewDriver(cfg Config) (*Driver, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Driver{cfg: cfg}, nil
}

// Expectations returns the tracker that has to be fed with the watch events of pods.
func (d *Driver) Expectations() *expectations.Tracker { return d.cfg.Expectations }

// Backoff returns the store, to save it and to prune it every minute or so.
func (d *Driver) Backoff() *backoff.Store { return d.cfg.Backoff }

// Sync makes one pass. The result is valid even when the error is not nil.
//
// The error joins an *ApplyError for each write that failed, in plan order; it is an
// *daemonset.InvalidError if no plan can be made, and wraps ErrAdapter if the adapter broke
// its contract. Whatever it is, another pass later is the right answer to it, no sooner
// than Result.Requeue if that is set.
func (d *Driver) Sync(ctx context.Context, key types.NamespacedName) (Result, error) {
	pass, err := d.prepare(ctx, key)
	if pass.Driver == nil {
		return *pass.result, err
	}
	pass.apply(ctx)
	err = pass.result.errors()
	d.log(ctx, key, *pass.result, err)
	return *pass.result, err
}

// Plan is Sync without its writes: the result says what a pass would do and has no Writes.
// Expectations that have expired are given up all the same. With a Runner it makes a
// controller that only reports: a Syncer whose Sync is Plan.
func (d *Driver) Plan(ctx context.Context, key types.NamespacedName) (Result, error) {
	pass, err := d.prepare(ctx, key)
	return *pass.result, err
}

// prepare observes and plans. Without a plan the pass holds nothing but a result.
func (d *Driver) prepare(ctx context.Context, key types.NamespacedName) (*pass, error) {
	seen, err := call(ctx, d, func(ctx context.Context) (Observation, error) { return d.cfg.API.Observe(ctx, key) })
	switch {
	case apierrors.IsNotFound(err):
		return ends(d.gone(key)), nil
	case err != nil:
		return ends(Result{}), fmt.Errorf("clusterapi: observe %s: %w", key, err)
	}
	if err := belongs(seen, key); err != nil {
		return ends(Result{}), err
	}
	if !d.cfg.Select(seen.Objects.DaemonSet) {
		return ends(d.gone(key)), nil
	}
	owner := seen.Objects.DaemonSet.UID
	d.forget(d.own.know(key, owner))
	now := d.cfg.Now()
	if stale := d.own.stale(key, seen.AsOf, now); stale != nil {
		return ends(Result{Stale: stale, Requeue: staleRetry}), nil //nolint:nilerr // a refusal is a result
	}
	pending, expired := d.pending(owner, now)
	plan, err := daemonset.Compute(daemonset.Snapshot{
		Objects: seen.Objects,
		Pending: pending,
		Backoff: d.cfg.Backoff.View(owner),
		Now:     now,
	}, d.cfg.Options)
	result := Result{Plan: plan, Expired: expired}
	if err != nil {
		return ends(Result{Expired: expired}), err
	}
	if wake := plan.Wake(); !wake.IsZero() {
		result.Requeue = max(wake.Sub(now), time.Millisecond)
	}
	return &pass{Driver: d, key: key, seen: seen.Objects, plan: plan, now: now, result: &result}, nil
}

// ends is a pass without a plan.
func ends(result Result) *pass { return &pass{result: &result} }

// gone forgets a set that is not there or not ours.
func (d *Driver) gone(key types.NamespacedName) Result {
	d.forget(d.own.forget(key))
	return Result{Gone: true}
}

// belongs checks that the adapter answered what it was asked.
func belongs(seen Observation, key types.NamespacedName) error {
	set := seen.Objects.DaemonSet
	if set == nil {
		return fmt.Errorf("clusterapi: observe %s: %w: neither a DaemonSet nor an error", key, ErrAdapter)
	}
	if got := (types.NamespacedName{Namespace: set.Namespace, Name: set.Name}); got != key {
		return fmt.Errorf("clusterapi: observe %s: %w: the DaemonSet is %s", key, ErrAdapter, got)
	}
	return nil
}

// pending returns what is still waited for at now, and what has been waited for too long.
func (d *Driver) pending(owner types.UID, now time.Time) (pending, expired expectations.Pending) {
	pending = d.cfg.Expectations.Pending(owner)
	if waits := pending.Creates > 0 || len(pending.Deletes) > 0; waits && pending.Settled(now) {
		d.cfg.Expectations.Forget(owner)
		return expectations.Pending{}, pending
	}
	return pending, expectations.Pending{}
}

func (d *Driver) forget(owner types.UID) {
	if owner != "" {
		d.cfg.Expectations.Forget(owner)
		d.cfg.Backoff.Forget(owner)
	}
}

func (d *Driver) log(ctx context.Context, key types.NamespacedName, r Result, err error) {
	attributes := []any{
		"daemonset", key.String(),
		"creates", r.Count(CreatePod, Done),
		"deletes", r.Count(DeletePod, Done),
		"requeue", r.Requeue,
	}
	for _, w := range r.Writes {
		if w.Outcome == Failed || w.Outcome == Unknown {
			d.cfg.Logger.DebugContext(ctx, "write", "verb", w.Verb, "name", w.Ref.Name, "node", w.Node, "outcome", w.Outcome, "error", w.Err)
		}
	}
	if err != nil {
		d.cfg.Logger.ErrorContext(ctx, "pass", append(attributes, "error", err)...)
		return
	}
	d.cfg.Logger.InfoContext(ctx, "pass", attributes...)
}
