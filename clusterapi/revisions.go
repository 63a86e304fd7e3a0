package clusterapi

import (
	"context"
	"errors"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/daemonset"
)

var errCollision = errors.New("the revision's name is taken by another template")

// applyRevisions writes history. What cannot be created or updated halts the plan: pods
// must not carry a revision that is not there. What cannot be deleted is in nobody's way.
func (p *pass) applyRevisions(ctx context.Context) {
	for _, change := range p.plan.Revisions {
		w := Write{Verb: revisionVerb(change.Op), Ref: refTo(change.Revision)}
		if why := p.stopped(ctx); why != nil {
			p.skip(w, why)
			continue
		}
		switch change.Op {
		case daemonset.CreateRevision:
			p.createRevision(ctx, w, change.Revision)
		case daemonset.UpdateRevision:
			if !p.record(w, p.updateRevision(ctx, change.Revision)) {
				p.halt(errEarlierWrite)
			}
		case daemonset.DeleteRevision:
			p.deleteRevision(ctx, w)
		}
	}
}

func revisionVerb(op daemonset.RevisionOp) Verb {
	switch op {
	case daemonset.CreateRevision:
		return CreateRevision
	case daemonset.UpdateRevision:
		return UpdateRevision
	case daemonset.DeleteRevision:
	}
	return DeleteRevision
}

func refTo(r *appsv1.ControllerRevision) daemonset.Ref {
	return daemonset.Ref{Namespace: r.Namespace, Name: r.Name, UID: r.UID}
}

func (p *pass) createRevision(ctx context.Context, w Write, revision *appsv1.ControllerRevision) {
	stored, err := object(ctx, p.Driver, named(revision), func(ctx context.Context) (*appsv1.ControllerRevision, error) {
		return p.cfg.API.CreateRevision(ctx, revision)
	})
	switch {
	case err == nil:
		p.storedRevision(stored)
		w.Ref = refTo(stored)
	case apierrors.IsAlreadyExists(err):
		p.resolveName(ctx, w, revision)
		return
	}
	if !p.record(w, err) {
		p.halt(errEarlierWrite)
	}
}

// named is a reference to whatever has the name of a revision.
func named(r *appsv1.ControllerRevision) daemonset.Ref {
	return daemonset.Ref{Namespace: r.Namespace, Name: r.Name}
}

// resolveName looks at who has the name that a new revision was to get. The same template
// under the same hash is as good as created. Another template makes another hash
// necessary.
func (p *pass) resolveName(ctx context.Context, w Write, revision *appsv1.ControllerRevision) {
	key := types.NamespacedName{Namespace: revision.Namespace, Name: revision.Name}
	taken, err := object(ctx, p.Driver, named(revision), func(ctx context.Context) (*appsv1.ControllerRevision, error) {
		return p.cfg.API.Revision(ctx, key)
	})
	if err != nil {
		p.record(w, err)
		p.halt(errEarlierWrite)
		return
	}
	same, err := daemonset.HoldsTemplate(p.seen.Objects.DaemonSet, taken)
	hash := taken.Labels[appsv1.ControllerRevisionHashLabelKey]
	if err == nil && same && (hash == "" || hash == p.plan.Revision.Hash) {
		w.Ref, w.Outcome = refTo(taken), AlreadyDone
		p.result.Writes = append(p.result.Writes, w)
		return
	}
	w.Outcome, w.Err = Failed, errCollision
	p.result.Writes = append(p.result.Writes, w)
	p.halt(errEarlierWrite)
	if !same {
		p.applyCollision(ctx)
	}
}

func (p *pass) updateRevision(ctx context.Context, revision *appsv1.ControllerRevision) error {
	if version, ok := p.revisions[revision.Name]; ok {
		revision = revision.DeepCopy()
		revision.ResourceVersion = version
	}
	stored, err := object(ctx, p.Driver, refTo(revision), func(ctx context.Context) (*appsv1.ControllerRevision, error) {
		return p.cfg.API.UpdateRevision(ctx, revision)
	})
	if err == nil {
		p.storedRevision(stored)
	}
	return err
}

func (p *pass) deleteRevision(ctx context.Context, w Write) {
	err := act(ctx, p.Driver, func(ctx context.Context) error { return p.cfg.API.DeleteRevision(ctx, w.Ref) })
	if apierrors.IsNotFound(err) {
		w.Outcome = AlreadyDone
		p.result.Writes = append(p.result.Writes, w)
		return
	}
	p.record(w, err)
}

func (p *pass) storedRevision(r *appsv1.ControllerRevision) {
	if p.revisions == nil {
		p.revisions = map[string]string{}
	}
	p.revisions[r.Name] = r.ResourceVersion
	p.wrote(Versions{Revisions: r.ResourceVersion})
}

// applyCollision raises the collision count, so that the next pass computes another hash.
// It does so on a fresh read and only from the count that the hash came from: a count that
// has been raised meanwhile makes another hash already.
func (p *pass) applyCollision(ctx context.Context) {
	w := Write{Verb: UpdateStatus, Ref: p.plan.For}
	if why := context.Cause(ctx); why != nil {
		p.skip(w, why)
		return
	}
	live, err := p.live(ctx)
	switch {
	case err != nil:
		p.record(w, err)
		return
	case live.UID != p.plan.For.UID || !p.cfg.Select(live):
		p.skip(w, errSetChanged)
		return
	}
	was := p.seen.Objects.DaemonSet.Status.CollisionCount
	if !equality.Semantic.DeepEqual(live.Status.CollisionCount, was) {
		w.Outcome = AlreadyDone
		p.result.Writes = append(p.result.Writes, w)
		p.retry(staleRetry)
		return
	}
	raised := live.DeepCopy()
	next := int32(1)
	if was != nil {
		next += *was
	}
	raised.Status.CollisionCount = &next
	p.record(w, p.putStatus(ctx, raised))
}
