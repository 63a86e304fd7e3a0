package clusterapi

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/daemonset"
)

// pass is one application of one plan.
type pass struct {
	*Driver
	key    types.NamespacedName
	seen   sighting
	plan   daemonset.Plan
	now    time.Time
	result *Result
	// revisions are the resource versions of revisions that this pass has patched.
	revisions map[string]string
	// halted says why nothing more of what the plan rests on may be done; nil if it may.
	halted error
	// asked is the longest delay that a server asked for.
	asked time.Duration
}

var (
	errEarlierWrite = errors.New("an earlier write of the plan failed")
	errSetChanged   = errors.New("the DaemonSet is gone, being deleted, not ours, or another one")
)

// apply carries the plan out, field by field. What a field needs of an earlier one decides
// how far a failure goes: without its claims and history the plan stands on nothing, and
// no pod is touched; a failed create or delete concerns that pod alone. Status is written
// in any case.
func (p *pass) apply(ctx context.Context) {
	defer func() { p.result.Requeue = max(p.result.Requeue, p.asked) }()
	p.applyClaims(ctx)
	p.applyRelabels(ctx)
	p.applyRevisions(ctx)
	if p.plan.Reason == daemonset.RevisionCollision {
		p.applyCollision(ctx)
		return
	}
	p.applyPods(ctx)
	p.applyStatus(ctx)
	p.applyEvents(ctx)
}

// record adds a write to the result, decides its outcome by its error, and returns whether
// what depends on it may go on.
func (p *pass) record(w Write, err error) bool {
	switch {
	case err == nil:
		w.Outcome = Done
	case refused(err):
		w.Outcome, w.Err = Failed, err
	default:
		w.Outcome, w.Err = Unknown, err
	}
	p.honour(err)
	p.result.Writes = append(p.result.Writes, w)
	return err == nil
}

func (p *pass) skip(w Write, why error) {
	w.Outcome, w.Err = Skipped, nil
	if why != errEarlierWrite { //nolint:errorlint // the sentinel itself is meant
		w.Err = why
	}
	p.result.Writes = append(p.result.Writes, w)
}

// honour keeps to the delay that a server asked for.
func (p *pass) honour(err error) {
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		p.asked = max(p.asked, time.Duration(seconds)*time.Second)
	}
}

// retry asks for another pass after delay, or sooner if time alone changes the plan before.
func (p *pass) retry(delay time.Duration) {
	if p.result.Requeue <= 0 || delay < p.result.Requeue {
		p.result.Requeue = delay
	}
}

// wrote notes the version of an object as it is stored now. The time is that of the answer:
// a pass can take long.
func (p *pass) wrote(version Versions) { p.own.wrote(p.key, p.plan.For.UID, p.cfg.Now(), version) }

func (p *pass) halt(why error) {
	if p.halted == nil {
		p.halted = why
	}
}

// stopped is why the next write must not be sent.
func (p *pass) stopped(ctx context.Context) error {
	if p.halted != nil {
		return p.halted
	}
	return context.Cause(ctx)
}
