package daemonset

import (
	"math"
	"slices"

	"github.com/daemonplan/daemonplan/rollout"
)

// track makes a plan out of what is kept, in the order of a pass.
func (p *Planner) track() Plan {
	plan := Plan{For: p.pass.set.ref, Findings: p.findings()}
	p.acting, p.updating = false, false
	if p.history.collision {
		p.pass.writeCollision(&plan, &world{history: p.history, revisions: p.claimed})
		plan.Claims = slices.Clone(plan.Claims)
	} else {
		p.fillIn(&plan)
	}
	for i := range plan.Revisions { // the history is read once for many plans
		change := &plan.Revisions[i]
		change.Reasons = slices.Clone(change.Reasons)
		if change.Op == CreateRevision {
			change.Revision = change.Revision.DeepCopy()
		}
	}
	return plan
}

func (p *Planner) fillIn(plan *Plan) {
	set := &p.pass.set
	plan.Claims = slices.Concat(p.claims, p.claimed.changes)
	plan.Revision = p.pass.revision
	plan.Template = p.template
	if p.rewrites {
		plan.Revisions = set.changes(p.history)
	}
	plan.Relabels = p.relabels()
	if !p.moment.Pending.Settled(p.moment.Now) {
		plan.Reason = WritesPending
		plan.Next = instantOf(p.moment.Pending.Deadline)
		p.pass.writeStatus(plan, p.totals.counts, set.obj.Status.ObservedGeneration)
		return
	}
	p.act(plan)
	carriers := func() map[string]int { return p.carried }
	plan.Revisions = append(plan.Revisions, p.history.expired(set.historyLimit, carriers)...)
	p.pass.writeStatus(plan, p.totals.counts, set.observes())
}

// findings are those of the set, of the pods that are on no node, and of the nodes that do not
// exist.
func (p *Planner) findings() []Finding {
	findings := slices.Clone(p.oddities)
	for _, obj := range p.lost {
		findings = append(findings, podFinding(obj, PodWithoutNode, ""))
	}
	for number := range p.posts.order.Marked(stranding) {
		findings = appendStranded(findings, p.posts.node(number))
	}
	return findings
}

// relabels reads all pods, if they are to be relabelled.
func (p *Planner) relabels() []Relabel {
	if len(p.history.surplus) == 0 {
		return nil
	}
	var owned []pod
	for i := range p.pods.all {
		if k := &p.pods.all[i]; k.obj != nil && k.standing.counts() {
			owned = append(owned, p.pass.readOn(k.obj, nowhere))
		}
	}
	return p.history.relabels(owned)
}

// act puts into the plan what the node step finds, and if that is nothing what the update step
// does.
func (p *Planner) act(plan *Plan) {
	p.acting = true
	p.write(plan, p.stepNodes(), int(p.totals.creates), int(p.totals.deletes))
	if p.totals.creates+p.totals.deletes > 0 || p.pass.set.onDelete || p.totals.behind == 0 {
		return
	}
	p.updating = true
	in := p.pass.rolloutInput(int(p.totals.desired), p.budget)
	p.room = in.Room(p.tally)
	creates, deletes := p.posts.order.Count(dueSurge), p.posts.order.Count(dueDelete)+p.room[rollout.BySurplus]
	if p.budget.MaxSurge > 0 {
		creates += p.room[rollout.ByBudget]
	} else {
		deletes += p.room[rollout.ByBudget]
	}
	p.write(plan, p.stepUpdate(), creates, deletes)
}

// write puts actions into the plan: all there are, or as many as a burst takes. How many there
// are in all is told.
func (p *Planner) write(plan *Plan, step *actions, creates, deletes int) {
	step.writeTo(plan, &p.posts.fleet, p.options.burst())
	plan.Deferred = Deferred{Creates: creates - len(plan.Creates), Deletes: deletes - len(plan.Deletes)}
	for _, a := range step.creates {
		p.noted = append(p.noted, a.node)
	}
	for _, a := range step.deletes {
		p.noted = append(p.noted, a.node)
	}
}

// stepNodes collects the actions of the node step, as far as a burst takes them.
func (p *Planner) stepNodes() *actions {
	step := p.steps.reset(p.options)
	burst := p.options.burst()
	step.creates = append(step.creates, p.walk(burst, creating).creates...)
	ending := p.walk(burst, deleting, stranding)
	step.deletes = append(step.deletes, ending.deletes...)
	step.failures = append(step.failures, ending.failures...)
	step.events = append(step.events, p.walk(math.MaxInt, telling).events...)
	for _, wait := range p.waits {
		step.wake(p.pass.now.Add(wait.length))
	}
	return step
}

// walk visits the nodes with a mark, by name, until there are enough actions.
func (p *Planner) walk(enough int, kinds ...int) *actions {
	step := nodeStep{pass: &p.pass, backoff: p.moment.Backoff, actions: p.actions.reset(p.options)}
	for _, kind := range kinds {
		for number := range p.posts.order.Marked(kind) {
			found := len(step.deletes)
			if kind == creating {
				found = len(step.creates)
			}
			if found >= enough {
				break
			}
			notes := len(p.posts.fleet.notes)
			p.visitWith(&step, number)
			p.posts.fleet.forget(number, notes)
		}
	}
	return &p.actions
}

// stepUpdate collects the actions of the update step, as far as a burst takes them: what is due
// first, then what there is room for.
func (p *Planner) stepUpdate() *actions {
	step := p.steps.reset(p.options)
	burst, order := p.options.burst(), p.posts.order
	for number := range order.Marked(dueSurge) {
		if len(step.creates) >= burst {
			break
		}
		p.update(step, number)
	}
	for number := range order.Marked(dueDelete) {
		if len(step.deletes) >= burst {
			break
		}
		p.update(step, number)
	}
	if p.budget.MaxSurge > 0 {
		p.choose(step, rollout.ByBudget, burst-len(step.creates))
		p.choose(step, rollout.BySurplus, burst-len(step.deletes))
	} else {
		p.choose(step, rollout.ByBudget, burst-len(step.deletes))
	}
	return step
}

// markUnder is the mark of the nodes under a limit.
func markUnder(limit rollout.Limit) int {
	if limit == rollout.BySurplus {
		return inSurplus
	}
	return inBudget
}

// choose takes the first of the nodes under a limit, as many as there is room for and no more
// than most.
func (p *Planner) choose(step *actions, limit rollout.Limit, most int) {
	most = min(most, p.room[limit])
	if p.options.Prefer != nil {
		p.prefer(limit)
		for _, number := range p.preferred[limit][:max(0, most)] {
			p.update(step, number)
		}
		return
	}
	for number := range p.posts.order.Marked(markUnder(limit)) {
		if most <= 0 {
			break
		}
		p.update(step, number)
		most--
	}
}

// prefer finds the nodes under a limit that go first, and puts them in order of name.
func (p *Planner) prefer(limit rollout.Limit) {
	p.preferred[limit] = p.preferred[limit][:0]
	room := p.room[limit]
	if room == 0 {
		return
	}
	nodes := map[int32]rollout.Node{}
	for number := range p.posts.order.Marked(markUnder(limit)) {
		p.preferred[limit] = append(p.preferred[limit], number)
		nodes[number] = p.pass.identify(p.posts.node(number))
	}
	slices.SortStableFunc(p.preferred[limit], func(a, b int32) int { return p.options.Prefer(nodes[a], nodes[b]) })
	p.preferred[limit] = p.preferred[limit][:room]
	p.posts.fleet.sortByName(p.preferred[limit])
}

// update adds what the update step does on a node.
func (p *Planner) update(step *actions, number int32) {
	v := p.verdict(number)
	a := action{node: number, reason: Reason(v.Reason), chosen: v.Limit != rollout.ByNothing}
	if v.Step == rollout.StepSurge {
		step.creates = append(step.creates, a)
		return
	}
	a.pod = p.posts.node(number).outdated()
	step.deletes = append(step.deletes, a)
}
