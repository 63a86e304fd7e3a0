package clusterapi

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// applyStatus writes the plan's status, and after a conflict once more on a fresh read. A
// pass whose plan was halted has not acted on the spec and does not claim to have seen its
// generation.
func (p *pass) applyStatus(ctx context.Context) {
	if p.plan.Status == nil {
		return
	}
	w := Write{Verb: UpdateStatus, Ref: p.plan.For}
	if why := context.Cause(ctx); why != nil {
		p.skip(w, why)
		return
	}
	if p.halted == errSetChanged { //nolint:errorlint // the sentinel itself is meant
		p.skip(w, p.halted)
		return
	}
	set := p.withStatus(p.seen.Objects.DaemonSet)
	if equality.Semantic.DeepEqual(set.Status, p.seen.Objects.DaemonSet.Status) {
		return
	}
	err := p.putStatus(ctx, set)
	if apierrors.IsConflict(err) {
		err = p.retryStatus(ctx)
	}
	if apierrors.IsNotFound(err) {
		w.Outcome = AlreadyDone // the set is gone
		p.result.Writes = append(p.result.Writes, w)
		return
	}
	p.record(w, err)
}

func (p *pass) retryStatus(ctx context.Context) error {
	live, err := p.live(ctx)
	if err != nil {
		return err
	}
	if live.UID != p.plan.For.UID || !p.cfg.Select(live) {
		return apierrors.NewNotFound(appsv1.Resource("daemonsets"), p.key.Name)
	}
	return p.putStatus(ctx, p.withStatus(live))
}

// withStatus copies the set with what this controller counts in its status. What others
// write there stays.
func (p *pass) withStatus(set *appsv1.DaemonSet) *appsv1.DaemonSet {
	set = set.DeepCopy()
	planned, status := p.plan.Status, &set.Status
	status.DesiredNumberScheduled = planned.DesiredNumberScheduled
	status.CurrentNumberScheduled = planned.CurrentNumberScheduled
	status.NumberMisscheduled = planned.NumberMisscheduled
	status.NumberReady = planned.NumberReady
	status.NumberAvailable = planned.NumberAvailable
	status.NumberUnavailable = planned.NumberUnavailable
	status.UpdatedNumberScheduled = planned.UpdatedNumberScheduled
	if p.halted == nil {
		status.ObservedGeneration = max(status.ObservedGeneration, planned.ObservedGeneration)
	}
	return set
}

func (p *pass) putStatus(ctx context.Context, set *appsv1.DaemonSet) error {
	stored, err := object(ctx, p.Driver, p.plan.For, func(ctx context.Context) (*appsv1.DaemonSet, error) {
		return p.cfg.API.UpdateStatus(ctx, set)
	})
	if err == nil {
		p.wrote(Versions{DaemonSets: stored.ResourceVersion})
	}
	return err
}
