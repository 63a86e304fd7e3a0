package daemonset

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/backoff"
	"github.com/daemonplan/daemonplan/placement"
)

// pass is what stays the same throughout one computation.
type pass struct {
	set     daemonSet
	matcher *placement.Matcher
	fitting
	revision Revision
	now      time.Time
	options  Options
}

// Compute plans one pass of the DaemonSet controller. Equal snapshots give equal plans,
// whatever the order of their slices, and the plan shares no memory with the snapshot.
//
// A non-nil error is an *InvalidError: no plan can be made, and the plan is zero. Every
// other oddity has a defined meaning and is reported in the plan.
//
// The cost is linear in nodes and pods, apart from sorting by name what the plan lists, if
// it is not in order. Who plans again and again saves most of it with a [Scratch].
func Compute(s Snapshot, o Options) (Plan, error) {
	var scratch Scratch
	plan, err := scratch.Compute(s, o)
	if err != nil {
		return Plan{}, err
	}
	plan.Nodes = scratch.Nodes()
	return plan, nil
}

// world is the snapshot as the steps see it.
type world struct {
	revisions revisions
	history   history
	pods      *pods
	fleet     *fleet
	actions   *actions
}

// survey reads the snapshot: which revision is current, whose the pods are, and which are
// on which node.
func (p *pass) survey(w *world, objects Objects) (err error) {
	if p.set, err = p.set.readSpec(); err != nil {
		return err
	}
	if w.revisions, err = p.set.claimRevisions(objects.Revisions); err != nil {
		return err
	}
	if w.history, err = p.set.readHistory(w.revisions); err != nil {
		return err
	}
	p.revision = w.history.current
	p.readOthers(objects.Others)
	if err = p.muster(w.fleet, objects.Nodes); err != nil {
		return err
	}
	if err = p.claimPods(w.pods, objects.Pods, w.fleet); err != nil {
		return err
	}
	w.fleet.place(w.pods.owned)
	p.fitNodes(w.fleet)
	return nil
}

// plan fills in the changes, in the order of a pass.
func (p *pass) plan(plan *Plan, w *world, s Snapshot) error {
	plan.Claims = slices.Concat(w.pods.changes, w.revisions.changes)
	plan.Revision = p.revision
	plan.Template = p.podTemplate()
	plan.Revisions = p.set.changes(w.history)
	plan.Relabels = w.history.relabels(w.pods.owned)
	if !s.Pending.Settled(s.Now) {
		plan.Reason = WritesPending
		plan.Next = instantOf(s.Pending.Deadline)
		p.writeStatus(plan, w.fleet.count(), p.set.obj.Status.ObservedGeneration)
		return nil
	}
	if err := p.act(plan, w, s.Backoff); err != nil {
		return err
	}
	carriers := func() map[string]int { return carriedHashes(w.pods.owned) }
	plan.Revisions = append(plan.Revisions, w.history.expired(p.set.historyLimit, carriers)...)
	p.writeStatus(plan, w.fleet.count(), p.set.observes())
	return nil
}

// act runs the per-node step, and the update step if that found nothing to do.
func (p *pass) act(plan *Plan, w *world, entries backoff.Entries) error {
	step := w.actions.reset(p.options)
	p.stepNodes(w.fleet, entries, step)
	step.writeTo(plan, w.fleet, p.options.burst())
	if !step.idle() || p.set.onDelete {
		return nil
	}
	step.reset(p.options)
	if err := p.stepUpdate(w.fleet, step); err != nil {
		return err
	}
	step.writeTo(plan, w.fleet, p.options.burst())
	return nil
}

// standBack plans for a set whose pods are not to be touched.
func (p *pass) standBack(f *fleet, nodes []*corev1.Node, reason Reason) (Plan, error) {
	if err := p.muster(f, nodes); err != nil {
		return Plan{}, err
	}
	plan := Plan{For: p.set.ref, Reason: reason}
	if reason == SelectsEverything {
		plan.Events = []Event{{
			Type:   corev1.EventTypeWarning,
			Reason: EventSelectingAll,
			Note:   "The selector is empty and would select every pod; nothing is done until it is not",
		}}
	}
	return plan, nil
}

// writeCollision asks for another hash. Writing it wakes the set again, and apart from what
// concerns revisions nothing is done before: no pod could be told from those of the other
// template.
func (p *pass) writeCollision(plan *Plan, w *world) {
	plan.Reason = RevisionCollision
	plan.Claims = w.revisions.changes
	plan.Revisions = p.set.changes(w.history)
	plan.Status = p.set.obj.Status.DeepCopy()
	collisions := int32(1)
	if count := plan.Status.CollisionCount; count != nil {
		collisions += *count
	}
	plan.Status.CollisionCount = &collisions
}
