package daemonset

import (
	"slices"
	"time"

	"github.com/daemonplan/daemonplan/rollout"
)

// stepUpdate runs the update step over the fleet: rollout decides, this translates.
func (p *pass) stepUpdate(f *fleet, step *actions) error {
	if !f.behind {
		return nil
	}
	budget, err := p.set.budget(f.desired)
	if err != nil {
		return err
	}
	nodes := f.updatable(budget)
	result := rollout.Decide(rollout.Input{
		Nodes:          p.rolloutNodes(f, nodes),
		Desired:        f.desired,
		Budget:         budget,
		Prefer:         p.options.Prefer,
		ReplaceInPlace: p.options.Surge == SurgeOrReplace,
		Profile:        p.options.Profile,
	})
	walk := walker{fleet: f, ahead: nodes}
	for _, s := range result.Surges {
		a := action{node: walk.to(s.Node).number, reason: Reason(s.Reason), chosen: chosen(s.Reason, rollout.Available)}
		step.creates = append(step.creates, a)
	}
	walk = walker{fleet: f, ahead: nodes}
	for _, d := range result.Deletes {
		n := walk.to(d.Node)
		a := action{node: n.number, pod: n.podNamed(d.Pod.Name), reason: Reason(d.Reason), chosen: chosen(d.Reason, d.Pod.Health)}
		step.deletes = append(step.deletes, a)
	}
	walk = walker{fleet: f, ahead: nodes}
	for _, h := range result.Holds {
		n := walk.to(h.Node)
		n.wait(Reason(h.Reason), p.holdEnds(n, h.Reason))
	}
	slices.SortStableFunc(step.creates, urgentFirst)
	slices.SortStableFunc(step.deletes, urgentFirst)
	return nil
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

// chosen reports whether a step was one of several equals that the budget had room for.
func chosen(reason rollout.Reason, health rollout.Health) bool {
	switch reason {
	case rollout.Outdated, rollout.SurgeStarted, rollout.ReplacedInPlace:
		return true
	case rollout.LeftIneligibleNode:
		return health == rollout.Available
	case rollout.OutdatedUnavailable, rollout.SurgeComplete,
		rollout.BudgetExhausted, rollout.SurgeBlocked, rollout.SurgeWaiting, rollout.ExcessPods, rollout.AvailabilityShort:
	}
	return false
}

// updatable lists the nodes that an update looks at, by name: those that should run a pod
// and those that have one.
//
// That includes nodes which do not exist, as in Kubernetes v1.37.2. With surge, that
// controller gives the whole update up when such a node has only an outdated pod; here
// that node is left out, because no pod can be added beside another on a node that is gone.
func (f *fleet) updatable(budget rollout.Budget) []int32 {
	numbers := f.named(func(n node) bool { return n.eligible() || len(n.pods) > 0 })
	if len(f.missing) == 0 {
		return numbers
	}
	for _, number := range f.gone() {
		if n := f.node(number); len(n.pods) > 0 && (budget.MaxSurge == 0 || !n.onlyOutdated()) {
			numbers = append(numbers, number)
		}
	}
	f.sortByName(numbers)
	return numbers
}

// onlyOutdated reports whether one outdated pod is all there is on the node.
func (n node) onlyOutdated() bool {
	staying := n.podsByName((*pod).staying)
	return len(staying) == 1 && !staying[0].current
}

// rolloutNodes reduces nodes to what the arithmetic needs.
func (p *pass) rolloutNodes(f *fleet, numbers []int32) []rollout.Node {
	pods := make([]rollout.Pod, 0, len(f.pods))
	reduced := make([]rollout.Node, len(numbers))
	for i, number := range numbers {
		n, start := f.node(number), len(pods)
		for _, on := range n.pods {
			if on.staying() {
				pods = append(pods, rollout.Pod{Name: on.obj.Name, UID: on.obj.UID, Current: on.current, Health: on.health})
			}
		}
		reduced[i] = rollout.Node{Name: n.name(), Eligible: n.eligible(), Pods: pods[start:len(pods):len(pods)]}
		if p.surges != nil && n.eligible() && n.onlyOutdated() {
			reduced[i].Room = p.room(n)
		}
	}
	return reduced
}

// walker finds nodes by name when asked in ascending order, in one pass over all of them.
type walker struct {
	fleet *fleet
	ahead []int32
}

func (w *walker) to(name string) node {
	for w.fleet.nameOf(w.ahead[0]) != name {
		w.ahead = w.ahead[1:]
	}
	return w.fleet.node(w.ahead[0])
}

func (n node) podNamed(name string) *pod {
	i := slices.IndexFunc(n.pods, func(p pod) bool { return p.obj.Name == name })
	return &n.pods[i]
}
