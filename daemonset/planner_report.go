package daemonset

import (
	"slices"
	"strings"
	"time"

	"github.com/daemonplan/daemonplan/rollout"
)

// Node reports on one node as Plan.Nodes of the last plan would; ok is false if there is no
// such node, no plan, or an error instead. What has changed since the last plan is taken in
// first, as by Plan with the same Moment. The report is the caller's.
func (p *Planner) Node(name string) (report NodeReport, ok bool) {
	if !p.settle() {
		return NodeReport{}, false
	}
	if p.mode == whole {
		return Plan{Nodes: p.Nodes()}.Node(name)
	}
	number, known := p.posts.numbers[name]
	if !known || p.posts.gone(number) {
		return NodeReport{}, false
	}
	report, _ = p.report(number, nil)
	return report, true
}

// Nodes reports on every node as Plan.Nodes of the last plan would, sorted by name; nil without
// a plan. It is like calling Node for each, and puts the reports into one slice, which is the
// caller's.
func (p *Planner) Nodes() []NodeReport {
	if !p.settle() {
		return nil
	}
	if p.mode == whole {
		return p.scratch.Nodes()
	}
	reports := make([]NodeReport, 0, p.posts.order.Len())
	pods := make([]PodReport, 0, len(p.pods.all))
	for number := range p.posts.order.All() {
		if p.posts.gone(number) {
			continue
		}
		var report NodeReport
		report, pods = p.report(number, pods)
		reports = append(reports, report)
	}
	return reports
}

// Wake is the earliest instant at which time alone may change the last plan; zero if it cannot
// or there is none. It is what Plan.Wake would be if the plan had its Nodes, or earlier: also
// where the plan changes what the node is waiting for.
func (p *Planner) Wake() time.Time {
	switch {
	case !p.settle():
		return time.Time{}
	case p.mode == whole:
		return p.scratch.Wake()
	case p.mode == standingBack:
		return p.next
	}
	return earlier(p.next, instantOf(p.agenda.first().at))
}

// settle makes the last plan again if something has changed, and reports whether there is one.
func (p *Planner) settle() bool {
	if p.planned && p.changed {
		_, _ = p.Plan(p.moment)
	}
	return p.planned && p.err == nil
}

// report makes the report on a node that exists. Those on its pods are added to pods.
func (p *Planner) report(number int32, pods []PodReport) (NodeReport, []PodReport) {
	n := p.posts.node(number)
	report := NodeReport{Name: n.name(), Verdict: p.pass.verdict(n)}
	why := note{reason: p.reason}
	if p.mode == tracking {
		why = p.why(number)
	}
	report.Reason, report.Until = why.reason, why.until
	if len(n.pods) > 0 {
		start := len(pods)
		pods = appendReports(pods, n.pods)
		report.Pods = pods[start:len(pods):len(pods)]
	}
	return report, pods
}

// why is the reason of what happens or waits on a node.
func (p *Planner) why(number int32) note {
	n := p.posts.node(number)
	if why := n.note(); why.acted {
		return why
	}
	defer p.posts.fleet.forget(number, len(p.posts.fleet.notes))
	if p.acting {
		if step := p.visit(number); !step.idle() {
			n.wait(BurstExceeded, time.Time{})
		}
	}
	if p.updating {
		p.hold(number)
	}
	if why := n.note(); why.reason != "" {
		return why
	}
	reason, until := p.pass.waiting(n, p.reason)
	return note{reason: reason, until: until}
}

// hold notes why the update step does nothing on a node, if it would.
func (p *Planner) hold(number int32) {
	n, v := p.posts.node(number), p.verdict(number)
	switch {
	case v.Step == rollout.StepNone:
	case v.Step == rollout.StepHold:
		n.wait(Reason(v.Reason), p.pass.holdEnds(n, v.Reason))
	case v.Limit != rollout.ByNothing && !p.chosen(number, v.Limit):
		n.wait(Reason(v.Limit.Held()), time.Time{})
	default:
		n.wait(BurstExceeded, time.Time{})
	}
}

// chosen reports whether a node is one of those under its limit for which there was room.
func (p *Planner) chosen(number int32, limit rollout.Limit) bool {
	if p.options.Prefer != nil {
		f := &p.posts.fleet
		_, found := slices.BinarySearchFunc(p.preferred[limit], f.nameOf(number), func(other int32, name string) int {
			return strings.Compare(f.nameOf(other), name)
		})
		return found
	}
	return p.posts.order.Rank(markUnder(limit), number) < p.room[limit]
}

// forgetReasons takes back what the last plan has noted.
func (p *Planner) forgetReasons() {
	for _, number := range p.noted {
		p.posts.fleet.sites[number].note = 0
	}
	p.noted = p.noted[:0]
	p.posts.fleet.notes = p.posts.fleet.notes[:0]
}
