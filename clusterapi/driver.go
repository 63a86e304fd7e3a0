package clusterapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/backoff"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/expectations"
)

// staleRetry is when a pass is tried again that was refused because of old reads.
const staleRetry = 100 * time.Millisecond

// pruneInterval is how often decayed entries of the backoff store are dropped.
const pruneInterval = time.Minute

// Driver observes, plans and applies, one DaemonSet per Sync. It is safe for concurrent
// use, but only one Sync or Plan of one DaemonSet may be under way at a time; a Runner sees to it.
// Make one with NewDriver.
type Driver struct {
	cfg Config
	own own

	suspended suspended
	followed  followedSets
	turn      turn

	mu     sync.Mutex
	pruned time.Time
}

// NewDriver checks cfg and fills in its defaults.
func NewDriver(cfg Config) (*Driver, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	d := &Driver{cfg: cfg}
	if cfg.Options.Fit != nil {
		d.turn = make(turn, 1)
	}
	return d, nil
}

// Expectations returns the tracker that has to be fed with the watch events of pods.
func (d *Driver) Expectations() *expectations.Tracker { return d.cfg.Expectations }

// Backoff returns the store, to save it. Passes prune it, once a minute at most.
func (d *Driver) Backoff() *backoff.Store { return d.cfg.Backoff }

// Sync makes one pass. The result is valid even when the error is not nil.
//
// The error joins an *ApplyError for each write that failed, in plan order; it is an
// *daemonset.InvalidError if no plan can be made, and wraps ErrAdapter if the adapter broke
// its contract. Whatever it is, another pass later is the right answer to it: after a delay
// of the caller's, by Result.Requeue at the latest, and not before a delay that a server
// asked for in the answer to a write. A Runner does so.
//
// With Options.Fit one Sync waits for the other, and a pass is refused as stale until its
// reads show what was written for any set: no two sets are given the same room.
func (d *Driver) Sync(ctx context.Context, key types.NamespacedName) (Result, error) {
	if err := d.turn.take(ctx); err != nil {
		return Result{}, fmt.Errorf("clusterapi: waiting for the passes of other DaemonSets: %w", err)
	}
	defer d.turn.leave()
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
	if pass.Driver != nil && pass.seen.followed != nil {
		pass.result.Plan.Nodes = pass.seen.planner.Nodes()
	}
	return *pass.result, err
}

// prepare observes and plans. Without a plan the pass holds nothing but a result. A planner in
// which something panics, which may be Options.Prefer, is not used again.
func (d *Driver) prepare(ctx context.Context, key types.NamespacedName) (*pass, error) {
	sound := false
	defer func() {
		if !sound {
			d.followed.drop(key)
		}
	}()
	p, err := d.look(ctx, key)
	sound = true
	return p, err
}

// look is prepare for a planner that does not panic.
func (d *Driver) look(ctx context.Context, key types.NamespacedName) (*pass, error) {
	if d.cfg.Options.Fit != nil || d.cfg.Options.Surge != daemonset.SurgeAnyway {
		d.suspended.observing(key)
	}
	seen, err := d.observe(ctx, key)
	switch {
	case saysGone(err, key):
		return ends(d.gone(key)), nil
	case err != nil:
		return ends(Result{}), fmt.Errorf("clusterapi: observe %s: %w", key, err)
	}
	if !d.cfg.Select(seen.Objects.DaemonSet) {
		return ends(d.gone(key)), nil
	}
	owner := seen.Objects.DaemonSet.UID
	d.forget(d.own.know(key, owner))
	now := d.cfg.Now()
	d.prune(now)
	if stale := d.stale(key, seen.AsOf, now); stale != nil {
		return ends(Result{Stale: stale, Requeue: staleRetry}), nil //nolint:nilerr // a refusal is a result
	}
	d.settle(key, seen)
	pending, expired := d.pending(owner, now)
	plan, err := d.plan(seen, daemonset.Moment{
		Pending:   pending,
		Backoff:   d.cfg.Backoff.View(owner),
		Suspended: d.suspended.of(key),
		Now:       now,
	})
	result := Result{Plan: plan, Expired: expired}
	if err != nil {
		return ends(Result{Expired: expired}), err
	}
	if d.suspended.planned(plan) {
		result.Requeue = time.Millisecond // at once
	} else if wake := seen.wake(plan); !wake.IsZero() {
		result.Requeue = max(wake.Sub(now), time.Millisecond)
	}
	return &pass{Driver: d, key: key, seen: seen, plan: plan, now: now, result: &result}, nil
}

// plan makes the plan of what was seen.
func (d *Driver) plan(seen sighting, m daemonset.Moment) (daemonset.Plan, error) {
	if seen.followed != nil {
		return seen.planner.Plan(m)
	}
	options := d.cfg.Options
	if options.Beside == nil {
		options.Beside = seen.Beside
	}
	return daemonset.Compute(daemonset.Snapshot{
		Objects: seen.Objects, Pending: m.Pending, Backoff: m.Backoff, Suspended: m.Suspended, Now: m.Now,
	}, options)
}

// stale says which reads are behind our writes, if any. Who places pods has to see those of
// all sets.
func (d *Driver) stale(key types.NamespacedName, asOf Versions, now time.Time) *StaleError {
	if stale := d.own.stale(key, asOf, now); stale != nil || d.cfg.Options.Fit == nil {
		return stale
	}
	return d.own.staleByAny(asOf, now)
}

// prune drops from time to time what has decayed in the backoff store.
func (d *Driver) prune(now time.Time) {
	d.mu.Lock()
	due := now.Sub(d.pruned) >= pruneInterval || now.Before(d.pruned)
	if due {
		d.pruned = now
	}
	d.mu.Unlock()
	if due {
		d.cfg.Backoff.Prune(now)
	}
}

// ends is a pass without a plan.
func ends(result Result) *pass { return &pass{result: &result} }

// gone forgets a set that is not there or not ours.
func (d *Driver) gone(key types.NamespacedName) Result {
	d.forget(d.own.forget(key))
	d.suspended.forget(key)
	d.followed.drop(key)
	return Result{Gone: true}
}

// saysGone reports whether an error says that there is no such set. Another object's absence
// says nothing of the set.
func saysGone(err error, key types.NamespacedName) bool {
	if !apierrors.IsNotFound(err) {
		return false
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return true
	}
	about := status.Status().Details
	return (about.Name == "" || about.Name == key.Name) && (about.Kind == "" || strings.HasPrefix(strings.ToLower(about.Kind), "daemonset"))
}

// belongs checks that the adapter answered what it was asked.
func belongs(seen Observation, key types.NamespacedName) error {
	set := seen.Objects.DaemonSet
	if set == nil {
		return fmt.Errorf("%w: neither a DaemonSet nor an error", ErrAdapter)
	}
	if got := (types.NamespacedName{Namespace: set.Namespace, Name: set.Name}); got != key {
		return fmt.Errorf("%w: the DaemonSet is %s", ErrAdapter, got)
	}
	if set.UID == "" {
		return fmt.Errorf("%w: the DaemonSet has no UID", ErrAdapter)
	}
	return nil
}

// settle lets reads show what events may not have. That a pod is absent says that it is gone
// only if the reads are known to be newer than what was written about it.
func (d *Driver) settle(key types.NamespacedName, seen sighting) {
	owner, first := seen.Objects.DaemonSet.UID, seen.first()
	pending := d.cfg.Expectations.Pending(owner)
	if pending.Empty() {
		return
	}
	absent := expectations.Unclear
	if d.own.covered(key, seen.AsOf.Pods) {
		absent = expectations.Gone
	}
	pods := seen.Objects.Pods
	if seen.followed != nil {
		if !first && (absent == expectations.Unclear || pending.Creates == 0) {
			return // the changes have told
		}
		pods = seen.planner.Objects().Pods // a created pod may have come and gone unseen
	}
	sights := make(map[types.UID]expectations.Sight, len(pods))
	for _, pod := range pods {
		switch {
		case pod == nil:
		case pod.DeletionTimestamp != nil:
			sights[pod.UID] = expectations.Going
		default:
			sights[pod.UID] = expectations.Present
		}
	}
	d.cfg.Expectations.Observed(owner, func(pod types.UID) expectations.Sight {
		if sight, ok := sights[pod]; ok {
			return sight
		}
		return absent
	})
}

// pending returns what is still waited for at now, and what has been waited for too long. A
// clock that was turned back must not make that longer.
func (d *Driver) pending(owner types.UID, now time.Time) (pending, expired expectations.Pending) {
	pending = d.cfg.Expectations.Pending(owner)
	turnedBack := pending.Deadline.Sub(now) > max(d.cfg.Expectations.Timeout, expectations.DefaultTimeout)
	if !pending.Empty() && (pending.Settled(now) || turnedBack) {
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

// log reports a pass: one that wrote or failed as what happens, the others for those who look
// into details.
func (d *Driver) log(ctx context.Context, key types.NamespacedName, r Result, err error) {
	level := slog.LevelDebug
	switch {
	case err != nil:
		level = slog.LevelError
	case len(r.Writes) > 0:
		level = slog.LevelInfo
	}
	if !d.cfg.Logger.Enabled(ctx, level) {
		return
	}
	for _, w := range r.Writes {
		if w.Outcome == Failed || w.Outcome == Unknown {
			d.cfg.Logger.DebugContext(ctx, "write", "verb", w.Verb, "name", w.Ref.Name, "node", w.Node, "outcome", w.Outcome, "error", w.Err)
		}
	}
	attributes := []any{
		"daemonset", key.String(),
		"creates", r.Count(CreatePod, Done),
		"deletes", r.Count(DeletePod, Done),
		"requeue", r.Requeue,
	}
	if err != nil {
		attributes = append(attributes, "error", err)
	}
	d.cfg.Logger.Log(ctx, level, "pass", attributes...)
}
