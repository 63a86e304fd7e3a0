package daemonset

import (
	"time"

	"github.com/daemonplan/daemonplan/placement"
)

// Scratch is memory in which one plan after the other is made, of the same set or of others.
// It saves allocating what a pass only needs while it lasts, and the reports on the nodes
// where nobody reads them. The zero value is ready. It is not for concurrent use.
//
// It remembers nothing from one snapshot to the next that a plan could depend on. But it
// refers to the last one, until the next plan is made or it is dropped.
type Scratch struct {
	pass    pass
	fleet   fleet
	pods    pods
	actions actions
	reason  Reason    // of the last plan
	next    time.Time // of the last plan
	stands  bool      // it leaves the nodes alone
	made    bool      // there is a last plan
}

// Compute makes the same plan as the function [Compute], except that Plan.Nodes is nil: Nodes
// has that. So Plan.Wake does not know when the wait of a node is over, but Wake does. The
// plan shares no memory with the scratch.
func (s *Scratch) Compute(snapshot Snapshot, o Options) (Plan, error) {
	s.made = false
	plan, err := s.compute(snapshot, o)
	if err != nil {
		return Plan{}, err
	}
	s.reason, s.next, s.made = plan.Reason, plan.Next, true
	return plan, nil
}

func (s *Scratch) compute(snapshot Snapshot, o Options) (Plan, error) {
	set, err := readIdentity(snapshot.Objects.DaemonSet)
	if err != nil {
		return Plan{}, err
	}
	set.profile = o.Profile
	s.pass = pass{set: set, now: wallTime(snapshot.Now), options: o}
	p := &s.pass
	p.matcher = placement.NewMatcher(&set.obj.Spec.Template.Spec, o.Placement)
	reason := set.standsBack()
	if s.stands = reason != ""; s.stands {
		return p.standBack(&s.fleet, snapshot.Objects.Nodes, reason)
	}
	w := &world{fleet: &s.fleet, actions: &s.actions, pods: &s.pods}
	if err := p.survey(w, snapshot.Objects); err != nil {
		return Plan{}, err
	}
	plan := Plan{For: set.ref, Findings: p.oddities(w)}
	p.suspend(&plan, w.fleet, snapshot.Suspended)
	if w.history.collision {
		p.writeCollision(&plan, w)
	} else if err := p.plan(&plan, w, snapshot); err != nil {
		return Plan{}, err
	}
	return plan, nil
}

// Nodes reports on every node as Plan.Nodes of the last plan would, sorted by name. The
// reports are made by this call, out of the objects that the plan was made of, and with
// another look at Options.Beside, so these must not have changed since. They share no memory
// with the scratch. Without a last plan, or after an error, there are none and the result is
// nil.
func (s *Scratch) Nodes() []NodeReport {
	if !s.made {
		return nil
	}
	reports := make([]NodeReport, 0, len(s.fleet.nodes))
	pods := make([]PodReport, 0, len(s.fleet.pods))
	for _, number := range s.fleet.named(func(node) bool { return true }) {
		n := s.fleet.node(number)
		why := s.why(n)
		report := NodeReport{Name: n.name(), Verdict: s.pass.verdict(n), Reason: why.reason, Until: why.until}
		if len(n.pods) > 0 {
			start := len(pods)
			pods = appendReports(pods, n.pods)
			report.Pods = pods[start:len(pods):len(pods)]
		}
		reports = append(reports, report)
	}
	return reports
}

// Wake is the earliest instant at which time alone may change the last plan; zero if it
// cannot, or if there is no last plan. It is what Plan.Wake would be if the plan had its
// Nodes, and makes no reports for it.
func (s *Scratch) Wake() time.Time {
	if !s.made {
		return time.Time{}
	}
	at := s.next
	for number := range s.fleet.nodeCount() {
		at = earlier(at, s.why(s.fleet.node(number)).until)
	}
	return at
}

// why is the reason of what happens or waits on a node.
func (s *Scratch) why(n node) note {
	if s.stands {
		return note{reason: s.reason}
	}
	if why := n.note(); why.reason != "" {
		return why
	}
	reason, until := s.pass.waiting(n, s.reason)
	return note{reason: reason, until: until}
}
