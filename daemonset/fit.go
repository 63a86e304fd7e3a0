package daemonset

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/placement"
	"github.com/daemonplan/daemonplan/rollout"
)

// fitting judges nodes with what else runs on them, where Options ask for it.
type fitting struct {
	fitter  *placement.Fitter // judges nodes in place of the matcher; nil: it does not
	surges  *placement.Fitter // judges whether two pods fit; nil: nobody does
	beside  Beside
	scratch []*corev1.Pod
}

// readOthers prepares for judging nodes with the pods of others, if anybody asks.
func (p *pass) readOthers(others []*corev1.Pod) {
	surges := p.set.surging && (p.options.Fit != nil || p.options.Surge != SurgeAnyway)
	if p.options.Fit == nil && !surges {
		return
	}
	fitter := p.set.fitter(p.options)
	if p.options.Fit != nil {
		p.fitter = fitter
	}
	if surges {
		p.surges = fitter
	}
	p.beside = p.options.Beside
	if p.beside == nil {
		p.beside = p.occupied(others)
	}
}

// fitter prepares the set's template for being placed by its controller.
func (set daemonSet) fitter(options Options) *placement.Fitter {
	var o placement.FitOptions
	if options.Fit != nil {
		o = *options.Fit
	}
	o.Matching = options.Placement
	o.Namespace = cmp.Or(o.Namespace, set.ref.Namespace)
	return placement.NewFitter(&set.obj.Spec.Template.Spec, o)
}

// occupied counts what the pods of others hold on each node. A pod that is pinned to a node
// will come to run there, so it counts there already.
func (p *pass) occupied(others []*corev1.Pod) Beside {
	nodes := map[string]*placement.Occupancy{}
	for _, pod := range others {
		if owner, ok := OwnerOf(pod); ok && owner.UID == p.set.ref.UID {
			continue
		}
		name, ok := placement.TargetNode(pod)
		if !ok {
			continue
		}
		if nodes[name] == nil {
			nodes[name] = &placement.Occupancy{}
		}
		nodes[name].Add(pod)
	}
	return func(node string) *placement.Occupancy { return nodes[node] }
}

// fitNodes judges the nodes with what runs on them, but without the set's own pods, as
// Kubernetes v1.12 does: what they hold is theirs already.
func (p *pass) fitNodes(f *fleet) {
	if p.fitter == nil {
		return
	}
	for number := range f.nodeCount() {
		n := f.node(number)
		f.judged(number, p.fitter.Decide(f.nodes[number], p.beside(n.name()), p.own(n)...))
	}
}

// verdict judges a node again, with all the evidence.
func (p *pass) verdict(n node) placement.Verdict {
	obj := n.fleet.nodes[n.number]
	if p.fitter == nil {
		return p.matcher.Evaluate(obj)
	}
	return p.fitter.Fit(obj, p.beside(n.name()), p.own(n)...)
}

// own lists the set's pods on a node. The slice is used again.
func (p *pass) own(n node) []*corev1.Pod {
	p.scratch = p.scratch[:0]
	for i := range n.pods {
		p.scratch = append(p.scratch, n.pods[i].obj)
	}
	return p.scratch
}

// room says whether another pod of the set can start on a node beside those that are there.
func (p *pass) room(n node) rollout.Room {
	if p.surges == nil {
		return rollout.RoomForBoth
	}
	own := p.own(n)
	all := &placement.Occupancy{}
	if others := p.beside(n.name()); others != nil {
		all = others.Clone()
	}
	for _, pod := range own { // they may or may not be counted
		all.Remove(pod)
		all.Add(pod)
	}
	switch {
	case p.surges.Decide(n.fleet.nodes[n.number], all) == placement.Run:
		return rollout.RoomForBoth
	case p.surges.Decide(n.fleet.nodes[n.number], p.beside(n.name()), own...) == placement.Run:
		return rollout.RoomForOne
	}
	return rollout.RoomForNone
}

// Suspension is a node that the set waits for, with Options.Fit: it has no pod of the set that
// lives and cannot be given one now, and what is in the way can go away by itself: there is
// no room, or another pod holds a host port. Suspensions are state in and state out: a
// Snapshot brings back those of the last plan, so that the set's users hear of each change
// once.
type Suspension struct {
	Node  string           `json:"node"`
	Codes []placement.Code `json:"codes"` // of what holds the pod back, each once, as in the report on the node
}

func (s Suspension) text() string {
	codes := make([]string, len(s.Codes))
	for i, code := range s.Codes {
		codes[i] = string(code)
	}
	return strings.Join(codes, " ")
}

// suspend lists the nodes on which the set is suspended, and tells of those that were not,
// or not for the same reasons, at the time of the last plan.
func (p *pass) suspend(plan *Plan, f *fleet, last []Suspension) {
	if p.fitter == nil {
		return
	}
	byNode := func(a, b Suspension) int { return strings.Compare(a.Node, b.Node) }
	told := slices.SortedStableFunc(slices.Values(last), byNode)
	for _, number := range f.named(p.waits) {
		n := f.node(number)
		s, verdict := Suspension{Node: n.name()}, p.verdict(n)
		if !passing(verdict) {
			continue
		}
		for _, finding := range verdict.Findings {
			if !slices.Contains(s.Codes, finding.Code) {
				s.Codes = append(s.Codes, finding.Code)
			}
		}
		plan.Suspended = append(plan.Suspended, s)
		if at, ok := slices.BinarySearchFunc(told, s, byNode); !ok || !slices.Equal(told[at].Codes, s.Codes) {
			plan.Events = append(plan.Events, suspendedEvent(n, verdict.Findings))
		}
	}
}

// waits reports whether the set may be suspended on the node: none of its pods lives there,
// and what rules the node out is nothing that the node alone says.
func (p *pass) waits(n node) bool {
	ruledOut := n.decision() == placement.Evict && p.matcher.Decide(n.fleet.nodes[n.number]) == placement.Run
	return (ruledOut || n.decision() == placement.Suspend) &&
		!slices.ContainsFunc(n.pods, func(on pod) bool { return on.state == Live })
}

// passing reports whether all that keeps a pod from a node can go away by itself. To
// Kubernetes v1.12 a node whose host port is taken is one that the set does not want, and
// nothing tells it when the port is free; here the node counts no more than there, and the
// set waits for it.
func passing(verdict placement.Verdict) bool {
	return !slices.ContainsFunc(verdict.Findings, func(f placement.Finding) bool {
		return f.Code != placement.HostPortTaken && f.Code.Decision() != placement.Suspend
	})
}

// suspendedEvent says why a node gets no pod. A lack of resources is worth a word only if
// nothing else holds the pod back, as in Kubernetes v1.12.
func suspendedEvent(n node, findings []placement.Finding) Event {
	var why, lacks []string
	for _, finding := range findings {
		if finding.Code == placement.InsufficientResources {
			lacks = append(lacks, finding.Detail)
		} else {
			why = append(why, finding.Detail)
		}
	}
	if len(why) == 0 {
		why = lacks
	}
	return Event{
		Type:   corev1.EventTypeWarning,
		Reason: EventFailedPlacement,
		Note:   "No pod can be placed on node " + n.name() + ": " + strings.Join(why, "; "),
	}
}
