package daemonset

import (
	"slices"
	"strings"
	"time"

	"github.com/daemonplan/daemonplan/rollout"
)

// updateStep moves the set to its current revision: rollout says what each node asks for and
// how many of them may have it, the rest is bookkeeping.
type updateStep struct {
	*pass
	*actions
	fleet *fleet
	rules rollout.Input
	tally rollout.Tally
	node  rollout.Node // one at a time
	due   []due        // by name

	verdicts [shapes]rollout.Verdict // on nodes of each shape
	judged   [shapes]bool            // whether there is one
}

// due is a node that an update asks something of.
type due struct {
	node  int32 // its number
	step  rollout.Step
	limit rollout.Limit
	held  bool // the limit has no room for it
	why   rollout.Reason
}

// stepUpdate runs the update step over the fleet.
func (p *pass) stepUpdate(f *fleet, into *actions) error {
	if !f.behind {
		return nil
	}
	budget, err := p.set.budget(f.desired)
	if err != nil {
		return err
	}
	s := updateStep{pass: p, actions: into, fleet: f, rules: p.rolloutInput(f.desired, budget), due: f.due[:0]}
	if p.options.Profile == rollout.Kubernetes112 {
		s.updatePods()
	} else {
		s.judge()
		s.choose()
		s.settle()
	}
	f.due = s.due
	slices.SortStableFunc(s.creates, urgentFirst)
	slices.SortStableFunc(s.deletes, urgentFirst)
	return nil
}

// rolloutInput is what an update goes by, without the nodes.
func (p *pass) rolloutInput(desired int, budget rollout.Budget) rollout.Input {
	return rollout.Input{
		Desired:        desired,
		Budget:         budget,
		Prefer:         p.options.Prefer,
		ReplaceInPlace: p.options.Surge == SurgeOrReplace,
		Profile:        p.options.Profile,
	}
}

// judge finds the nodes that are due.
func (s *updateStep) judge() {
	f := s.fleet
	for number := range int32(len(f.sites)) {
		n := f.node(number)
		switch {
		case n.calm():
			s.rules.Desired-- // whatever is decided, its pod is available
		case number < f.nodeCount() && n.updatable(), number >= f.nodeCount() && n.updatableThoughGone(s.rules.Budget):
			s.consider(n)
		}
	}
	if !f.ordered || len(f.names) > len(f.nodes) {
		slices.SortFunc(s.due, func(a, b due) int { return strings.Compare(f.nameOf(a.node), f.nameOf(b.node)) })
	}
}

// updatable is true of the nodes that an update looks at: those that should run a pod and those
// that have one.
func (n node) updatable() bool { return n.eligible() || len(n.pods) > 0 }

// updatableThoughGone is updatable for a node that does not exist. Kubernetes v1.37.2 looks at
// such nodes as well. With surge, it gives the whole update up when there is only an outdated
// pod; here that node is left out, because no pod can be added beside another on a node that is
// gone.
func (n node) updatableThoughGone(budget rollout.Budget) bool {
	return len(n.pods) > 0 && (budget.MaxSurge == 0 || n.loneOutdated() == nil)
}

// calm is true of a node as most are at rest: one that should run a pod and has one, which is
// up to date and available.
func (n node) calm() bool {
	if len(n.pods) != 1 || !n.eligible() {
		return false
	}
	on := &n.pods[0]
	return on.current && on.health == rollout.Available && on.staying()
}

// loneOutdated is the one pod on the node that stays, if there is one and it is outdated.
func (n node) loneOutdated() *pod {
	var lone *pod
	for i := range n.pods {
		on := &n.pods[i]
		switch {
		case !on.staying():
		case on.current || lone != nil:
			return nil
		default:
			lone = on
		}
	}
	return lone
}

// consider notes what a node asks for, if anything.
func (s *updateStep) consider(n node) {
	verdict := s.verdictOn(n)
	s.tally.Add(verdict)
	if verdict.Step != rollout.StepNone {
		s.due = append(s.due, due{node: n.number, step: verdict.Step, limit: verdict.Limit, why: verdict.Reason})
	}
}

// verdictOn judges a node, unless one that is alike has been judged before.
func (s *updateStep) verdictOn(n node) rollout.Verdict {
	shape, simple := n.shape()
	if !simple || s.surges != nil {
		s.node = s.reduce(n, s.node.Pods[:0])
		return s.rules.Judge(&s.node)
	}
	if !s.judged[shape] {
		s.node = s.reduce(n, s.node.Pods[:0])
		s.verdicts[shape], s.judged[shape] = s.rules.Judge(&s.node), true
	}
	return s.verdicts[shape]
}

// shapes is how many shapes there are.
const shapes = 2 * (1 + 2*3)

// shape tells nodes with at most one pod apart by all that rollout judges them by, room set
// aside; simple is false if there are more.
func (n node) shape() (shape int, simple bool) {
	if len(n.pods) > 1 {
		return 0, false
	}
	if len(n.pods) == 1 && n.pods[0].staying() {
		shape = 1 + int(n.pods[0].health)
		if n.pods[0].current {
			shape += 3
		}
	}
	if n.eligible() {
		shape += shapes / 2
	}
	return shape, true
}

// reduce brings a node down to what rollout judges by, with its pods in the memory of pods.
// Names are left out: reading them again would be the larger part of the work.
func (p *pass) reduce(n node, pods []rollout.Pod) rollout.Node {
	for i := range n.pods {
		if on := &n.pods[i]; on.staying() {
			pods = append(pods, rollout.Pod{Current: on.current, Health: on.health})
		}
	}
	reduced := rollout.Node{Eligible: n.eligible(), Pods: pods}
	if p.surges != nil && n.eligible() && n.loneOutdated() != nil {
		reduced.Room = p.room(n)
	}
	return reduced
}

// identify is reduce with names, for those who prefer one node to another.
func (p *pass) identify(n node) rollout.Node {
	identified := p.reduce(n, nil)
	identified.Name = n.name()
	staying := identified.Pods
	for i := range n.pods {
		if on := &n.pods[i]; on.staying() {
			staying[0].Name, staying[0].UID = on.obj.Name, on.obj.UID
			staying = staying[1:]
		}
	}
	return identified
}

// choose holds those for which their limit has no room.
func (s *updateStep) choose() {
	room := s.rules.Room(s.tally)
	for limit := rollout.ByBudget; limit <= rollout.BySurplus; limit++ {
		if room[limit] == s.tally.Under[limit] {
			continue
		}
		candidates := s.candidates(limit)
		if s.rules.Prefer != nil && room[limit] > 0 {
			candidates = s.preferred(candidates)
		}
		for _, i := range candidates[room[limit]:] {
			s.due[i].held = true
		}
	}
}

// candidates lists the nodes under a limit, by name: their places in due.
func (s *updateStep) candidates(limit rollout.Limit) []int32 {
	found := s.fleet.numbers[:0]
	for i := range s.due {
		if s.due[i].limit == limit {
			found = append(found, int32(i))
		}
	}
	s.fleet.numbers = found
	return found
}

// preferred sorts candidates by what the options prefer, and then by name.
func (s *updateStep) preferred(candidates []int32) []int32 {
	nodes := make(map[int32]rollout.Node, len(candidates))
	for _, i := range candidates {
		nodes[i] = s.identify(s.fleet.node(s.due[i].node))
	}
	slices.SortStableFunc(candidates, func(a, b int32) int { return s.rules.Prefer(nodes[a], nodes[b]) })
	return candidates
}

// settle turns what is due into actions and reasons to wait.
func (s *updateStep) settle() {
	for i := range s.due {
		d := &s.due[i]
		n, reason, chosen := s.fleet.node(d.node), Reason(d.why), d.limit != rollout.ByNothing
		switch {
		case d.held:
			n.wait(Reason(d.limit.Held()), time.Time{})
		case d.step == rollout.StepHold:
			n.wait(reason, s.holdEnds(n, d.why))
		case d.step == rollout.StepDelete:
			s.deletes = append(s.deletes, action{node: d.node, pod: n.outdated(), reason: reason, chosen: chosen})
		case d.step == rollout.StepSurge:
			s.creates = append(s.creates, action{node: d.node, reason: reason, chosen: chosen})
		}
	}
}

// outdated is the first outdated pod that stays; a node that is told to delete one has no
// other.
func (n node) outdated() *pod {
	return &n.pods[slices.IndexFunc(n.pods, func(on pod) bool { return on.staying() && !on.current })]
}

// holdEnds is when time alone ends a hold, zero if it does not: a surge goes on once the
// current pod on the node has been ready for long enough.
func (p *pass) holdEnds(n node, reason rollout.Reason) time.Time {
	if reason != rollout.SurgeWaiting {
		return time.Time{}
	}
	i := slices.IndexFunc(n.pods, func(on pod) bool { return on.current && on.staying() })
	if n.pods[i].health != rollout.Ready {
		return time.Time{}
	}
	return p.readyUntil(n.pods[i].obj)
}

// urgentFirst puts what is done regardless of the budget before what is chosen within it,
// so that a burst cut takes from the chosen ones.
func urgentFirst(a, b action) int {
	switch {
	case a.chosen == b.chosen:
		return 0
	case b.chosen:
		return -1
	}
	return 1
}

// updatePods is the update step of Kubernetes v1.12, which looks at pods and not at nodes.
func (s *updateStep) updatePods() {
	for number := range int32(len(s.fleet.sites)) {
		n := s.fleet.node(number)
		if n.eligible() || len(n.pods) > 0 {
			s.rules.Nodes = append(s.rules.Nodes, s.identify(n))
		}
	}
	result := rollout.Decide(s.rules)
	for _, d := range result.Deletes {
		n := s.fleet.node(s.fleet.number(d.Node))
		on := &n.pods[slices.IndexFunc(n.pods, func(on pod) bool { return on.obj.Name == d.Pod.Name })]
		s.deletes = append(s.deletes, action{node: n.number, pod: on, reason: Reason(d.Reason), chosen: d.Reason == rollout.Outdated})
	}
	for _, h := range result.Holds {
		s.fleet.node(s.fleet.number(h.Node)).wait(Reason(h.Reason), time.Time{})
	}
}
