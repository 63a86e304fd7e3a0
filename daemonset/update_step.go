package daemonset

import (
	"slices"
	"strings"

	"github.com/daemonplan/daemonplan/rollout"
)

// stepUpdate runs the update step over the fleet: rollout decides, this translates.
func (p *pass) stepUpdate(f *fleet) (*actions, error) {
	desired := f.desired()
	budget, err := p.set.budget(desired)
	if err != nil {
		return nil, err
	}
	nodes := f.updatable(budget)
	if !slices.ContainsFunc(nodes, (*node).outdated) {
		return &actions{}, nil
	}
	result := rollout.Decide(rollout.Input{
		Nodes:   rolloutNodes(nodes),
		Desired: desired,
		Budget:  budget,
		Prefer:  p.options.Prefer,
	})
	step := &actions{}
	walk := walker{nodes}
	for _, s := range result.Surges {
		a := action{node: walk.to(s.Node), reason: Reason(s.Reason), chosen: chosen(s.Reason, rollout.Available)}
		step.creates = append(step.creates, a)
	}
	walk = walker{nodes}
	for _, d := range result.Deletes {
		n := walk.to(d.Node)
		a := action{node: n, pod: n.podNamed(d.Pod.Name), reason: Reason(d.Reason), chosen: chosen(d.Reason, d.Pod.Health)}
		step.deletes = append(step.deletes, a)
	}
	walk = walker{nodes}
	for _, h := range result.Holds {
		walk.to(h.Node).hold = Reason(h.Reason)
	}
	slices.SortStableFunc(step.creates, urgentFirst)
	slices.SortStableFunc(step.deletes, urgentFirst)
	return step, nil
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
	case rollout.Outdated, rollout.SurgeStarted:
		return true
	case rollout.LeftIneligibleNode:
		return health == rollout.Available
	case rollout.OutdatedUnavailable, rollout.SurgeComplete,
		rollout.BudgetExhausted, rollout.SurgeWaiting, rollout.ExcessPods, rollout.AvailabilityShort:
	}
	return false
}

// updatable lists the nodes that an update looks at, by name: those that should run a pod
// and those that have one.
//
// That includes nodes which do not exist, as in Kubernetes v1.37.2. With surge, that
// controller gives the whole update up when such a node has only an outdated pod; here
// that node is left out, because no pod can be added beside another on a node that is gone.
func (f *fleet) updatable(budget rollout.Budget) []*node {
	nodes := make([]*node, 0, len(f.nodes)+len(f.missing))
	for i := range f.nodes {
		if n := &f.nodes[i]; n.eligible() || len(n.pods) > 0 {
			nodes = append(nodes, n)
		}
	}
	if len(f.missing) == 0 {
		return nodes
	}
	for i := range f.missing {
		if n := &f.missing[i]; budget.MaxSurge == 0 || !n.onlyOutdated() {
			nodes = append(nodes, n)
		}
	}
	slices.SortFunc(nodes, func(a, b *node) int { return strings.Compare(a.name, b.name) })
	return nodes
}

// onlyOutdated reports whether one outdated pod is all there is on the node.
func (n *node) onlyOutdated() bool {
	staying := n.podsByName((*pod).staying)
	return len(staying) == 1 && !staying[0].current
}

// outdated reports whether the node has a pod that an update would replace.
func (n *node) outdated() bool {
	return slices.ContainsFunc(n.pods, func(p pod) bool { return !p.current && p.state != Terminating })
}

// rolloutNodes reduces nodes to what the arithmetic needs.
func rolloutNodes(nodes []*node) []rollout.Node {
	count := 0
	for _, n := range nodes {
		count += len(n.pods)
	}
	pods := make([]rollout.Pod, 0, count)
	reduced := make([]rollout.Node, len(nodes))
	for i, n := range nodes {
		start := len(pods)
		for _, p := range n.pods {
			if p.state != Terminating {
				pods = append(pods, rollout.Pod{Name: p.obj.Name, UID: p.obj.UID, Current: p.current, Health: p.health})
			}
		}
		reduced[i] = rollout.Node{Name: n.name, Eligible: n.eligible(), Pods: pods[start:len(pods):len(pods)]}
	}
	return reduced
}

// walker finds nodes by name when asked in ascending order, in one pass over all of them.
type walker struct{ ahead []*node }

func (w *walker) to(name string) *node {
	for w.ahead[0].name != name {
		w.ahead = w.ahead[1:]
	}
	return w.ahead[0]
}

func (n *node) podNamed(name string) *pod {
	i := slices.IndexFunc(n.pods, func(p pod) bool { return p.obj.Name == name })
	return &n.pods[i]
}
