package clusterapi

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/daemonset"
)

// nameRetry is when a create is looked at again whose pod name is taken.
const nameRetry = time.Second

// applyPods creates and deletes pods. Both are announced first, so that no event can come
// too early.
func (p *pass) applyPods(ctx context.Context) {
	if len(p.plan.Creates) == 0 && len(p.plan.Deletes) == 0 {
		return
	}
	going := p.terminating()
	var deletes []types.UID
	if p.stopped(ctx) == nil {
		for _, d := range p.plan.Deletes {
			// Deleting a pod that is being deleted gives no event to wait for.
			if _, ok := going[d.Pod.UID]; !ok {
				deletes = append(deletes, d.Pod.UID)
			}
		}
		p.cfg.Expectations.Expect(p.plan.For.UID, len(p.plan.Creates), deletes, p.now)
	}
	p.createPods(ctx)
	p.deletePods(ctx)
	p.cfg.Expectations.Sent(p.plan.For.UID, p.cfg.Now())
}

func (p *pass) terminating() map[types.UID]struct{} {
	going := map[types.UID]struct{}{}
	if len(p.plan.Deletes) == 0 {
		return going
	}
	refs := make([]daemonset.Ref, len(p.plan.Deletes))
	for i, d := range p.plan.Deletes {
		refs[i] = d.Pod
	}
	for _, pod := range p.seen.pods(refs) {
		if pod.DeletionTimestamp != nil {
			going[pod.UID] = struct{}{}
		}
	}
	return going
}

// createPods creates in batches of 1, 2, 4, ...: if something is wrong with the pods
// themselves, one refusal is enough. After a batch with an error the rest is not tried.
func (p *pass) createPods(ctx context.Context) {
	owner, creates := p.plan.For.UID, p.plan.Creates
	why := p.stopped(ctx)
	for size := 1; len(creates) > 0 && why == nil; size *= 2 {
		batch := creates[:min(size, len(creates))]
		creates = creates[len(batch):]
		writes := make([]Write, len(batch))
		p.inParallel(len(batch), func(i int) { writes[i] = p.createPod(ctx, batch[i]) })
		p.append(ctx, writes)
		if slices.ContainsFunc(writes, func(w Write) bool { return w.Outcome != Done && w.Outcome != AlreadyDone }) {
			why = errEarlierWrite
		}
		if why == nil {
			why = p.stopped(ctx)
		}
	}
	for _, c := range creates {
		p.skip(Write{Verb: CreatePod, Node: c.Node}, why)
	}
	p.cfg.Expectations.Cancel(owner, len(creates))
}

func (p *pass) createPod(ctx context.Context, c daemonset.Create) Write {
	owner := p.plan.For.UID
	w := Write{Verb: CreatePod, Node: c.Node, Ref: daemonset.Ref{Namespace: p.plan.For.Namespace}}
	pod := p.plan.Pod(c)
	repeatable := p.cfg.PodNames == DeterministicNames
	if repeatable {
		pod.GenerateName, pod.Name = "", PodName(p.plan.For, c.Node, p.plan.Revision.Hash)
		w.Ref.Name = pod.Name
	}
	if why := context.Cause(ctx); why != nil {
		w.Outcome, w.Err = Skipped, why
		p.cfg.Expectations.Cancel(owner, 1)
		return w
	}
	stored, err := object(ctx, p.Driver, w.Ref, func(ctx context.Context) (*corev1.Pod, error) {
		return p.cfg.API.CreatePod(ctx, pod)
	})
	if err == nil && !metav1.IsControlledBy(stored, p.seen.Objects.DaemonSet) {
		err = fmt.Errorf("%w: the pod that was returned is not the DaemonSet's, %s/%s", ErrAdapter, stored.Namespace, stored.Name)
	}
	switch {
	case err == nil:
		w.Ref, w.Outcome = daemonset.Ref{Namespace: stored.Namespace, Name: stored.Name, UID: stored.UID}, Done
		p.wrote(Versions{Pods: stored.ResourceVersion})
		p.cfg.Expectations.Created(owner, stored.UID)
		return w
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		w.Outcome = Skipped // nothing can be created there any more, and nothing needs to be
	case apierrors.IsAlreadyExists(err) && repeatable:
		w.Outcome = AlreadyDone // by a pass that our reads do not show yet, or not gone yet
	case refused(err):
		w.Outcome, w.Err = Failed, err
	default:
		w.Outcome, w.Err = Unknown, err
		if !repeatable {
			p.cfg.Expectations.Lost(owner, p.cfg.Now())
			return w
		}
	}
	p.cfg.Expectations.Cancel(owner, 1)
	return w
}

// deletePods deletes all pods at once; none of them depends on another.
func (p *pass) deletePods(ctx context.Context) {
	if why := p.stopped(ctx); why != nil {
		for _, d := range p.plan.Deletes {
			p.skip(Write{Verb: DeletePod, Node: d.Node, Ref: d.Pod}, why)
			p.cfg.Expectations.Cancel(p.plan.For.UID, 0, d.Pod.UID)
		}
		return
	}
	writes := make([]Write, len(p.plan.Deletes))
	p.inParallel(len(writes), func(i int) { writes[i] = p.deletePod(ctx, p.plan.Deletes[i]) })
	p.append(ctx, writes)
	p.recordFailures(writes)
}

func (p *pass) deletePod(ctx context.Context, d daemonset.Delete) Write {
	w := Write{Verb: DeletePod, Node: d.Node, Ref: d.Pod}
	if why := context.Cause(ctx); why != nil {
		w.Outcome, w.Err = Skipped, why
		p.cfg.Expectations.Cancel(p.plan.For.UID, 0, d.Pod.UID)
		return w
	}
	err := act(ctx, p.Driver, func(ctx context.Context) error { return p.cfg.API.DeletePod(ctx, d.Pod) })
	switch {
	case err == nil:
		// No version tells of a deletion, but it is later than the reads it was planned from.
		p.wrote(Versions{Pods: p.seen.AsOf.Pods})
		w.Outcome = Done
		return w
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		w.Outcome = AlreadyDone // this very pod is gone
	case refused(err):
		w.Outcome, w.Err = Failed, err
	default:
		// Deleting it again would be harmless, but the next plan may choose another pod.
		w.Outcome, w.Err = Unknown, err
		p.cfg.Expectations.LostDelete(p.plan.For.UID, d.Pod.UID, p.cfg.Now())
		return w
	}
	p.cfg.Expectations.Cancel(p.plan.For.UID, 0, d.Pod.UID)
	return w
}

// append adds the writes of one batch to the result.
func (p *pass) append(ctx context.Context, writes []Write) {
	p.result.Writes = append(p.result.Writes, writes...)
	for _, w := range writes {
		p.honour(w.Err)
		p.tell(ctx, w)
		if w.Verb == CreatePod && w.Outcome == AlreadyDone {
			// Whoever has the name: look again, also if no event tells when it is free.
			p.retry(nameRetry)
			p.tellOfTaken(w.Ref.Name)
		}
	}
}

// tellOfTaken logs a name that nothing visible of ours has. Either reads lag, or the pod is
// somebody else's and the node waits until it goes.
func (p *pass) tellOfTaken(name string) {
	pods := p.seen.pods([]daemonset.Ref{{Namespace: p.key.Namespace, Name: name}})
	if !slices.ContainsFunc(pods, func(o *corev1.Pod) bool { return o.Name == name }) {
		p.cfg.Logger.Warn("the name of a new pod is taken, and by no visible pod of the DaemonSet", "daemonset", p.key.String(), "pod", name)
	}
}

// recordFailures advances the backoff of the nodes whose failed pod is, or may be, on its way
// out.
func (p *pass) recordFailures(deletes []Write) {
	accepted := map[string]bool{}
	for i, w := range deletes {
		if p.plan.Deletes[i].Reason == daemonset.FailedPod && w.Outcome != Failed && w.Outcome != Skipped {
			accepted[w.Node] = true
		}
	}
	for _, key := range p.plan.Failures {
		if accepted[key.Node] {
			p.cfg.Backoff.Record(key, p.now)
		}
	}
}

// inParallel runs f for 0 to n-1, no more at once than the driver may.
func (p *pass) inParallel(n int, f func(i int)) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, p.cfg.Parallelism)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			f(i)
		})
	}
	wg.Wait()
}
