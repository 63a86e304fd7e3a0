package rollout

import (
	"slices"
	"strings"
)

// Input is what [Decide] looks at. Nothing in it is written or kept.
type Input struct {
	// Nodes are the nodes that should run a pod and those that have one, in any order. A
	// name that comes twice is two nodes.
	Nodes []Node
	// Desired is how many nodes should run a pod, Nodes or not; negative is read as 0. Only
	// an update with surge asks, to keep enough pods available.
	Desired int
	// Budget is what may be spent; negative values are read as 0. MaxSurge above 0 selects
	// the rules of an update with surge.
	Budget Budget
	// Prefer says which of two nodes goes first, as for [slices.SortFunc], when there is
	// room for some of several but not for all of them. It is only asked about such
	// candidates, each of which has exactly one pod. Ties go by name, and so does everything
	// if it is nil. It must be a pure function and must not write to its arguments.
	Prefer func(a, b Node) int
}

// Decide returns the steps of one pass of a rolling update, and the nodes that are due but
// have to wait. The result depends on the set of nodes, not on their order; nodes that
// share a name are told apart by the name and UID of their pods. Without nodes it is the
// zero Result.
//
// The rules are those of Kubernetes v1.37.2. Without surge, outdated pods are deleted:
// those that are not available at once, and of the others as many as MaxUnavailable has
// room for after every node without an available pod is counted. With surge, outdated pods
// get a current pod beside them: those that are not available at once, and of the others as
// many as MaxSurge has room for after every node on which that is under way is counted; an
// outdated pod is deleted when its successor is available. On a node that is not eligible
// it is deleted without a successor, but only while more pods than Desired are available.
//
// The time is linear in the nodes if they come in name order, and otherwise n log n in the
// nodes that are due. Asking Prefer takes n log n in the candidates.
func Decide(in Input) Result {
	r := round{Input: in, judge: judgeReplacing}
	budget := in.Budget.MaxUnavailable
	if in.Budget.MaxSurge > 0 {
		r.judge = judgeSurging
		budget = in.Budget.MaxSurge
	}
	r.classify()
	r.choose(&r.budgeted, max(budget, 0)-r.spent)
	r.choose(&r.surplus, r.available-max(in.Desired, 0))
	return r.result()
}

// round is one call of Decide. All nodes are classified before any is chosen: what may be
// chosen depends on the counts over all of them.
type round struct {
	Input
	judge func(*Node) verdict

	spent     int          // nodes that take from the budget whatever is chosen
	available int          // nodes with an available pod
	count     [actions]int // nodes by what is done with them

	budgeted, surplus pool
}

// pool is the nodes that want the same action, of which only some may take it.
type pool struct {
	action  action
	members []int // indices of nodes; after choose, those that go, ascending
}

func (r *round) classify() {
	for i := range r.Nodes {
		v := r.judge(&r.Nodes[i])
		r.count[v.action]++
		if v.spends {
			r.spent++
		}
		if v.available {
			r.available++
		}
		if p := r.poolOf(v); p != nil {
			p.action = v.action
			p.members = append(p.members, i)
		}
	}
}

// poolOf returns where v has to wait for its turn, or nil if it does not.
func (r *round) poolOf(v verdict) *pool {
	switch v.limit {
	case byBudget:
		return &r.budgeted
	case bySurplus:
		return &r.surplus
	case unlimited:
	}
	return nil
}

// choose reduces p to as many members as there is room for. Who updates is decided here
// and nowhere else.
func (r *round) choose(p *pool, room int) {
	chosen := min(max(room, 0), len(p.members))
	held := len(p.members) - chosen
	if chosen > 0 && held > 0 {
		slices.SortFunc(p.members, func(i, j int) int { return r.order(&r.Nodes[i], &r.Nodes[j]) })
		slices.Sort(p.members[:chosen])
	}
	p.members = p.members[:chosen]
	r.count[p.action] -= held
	r.count[hold] += held
}

// order is who of two candidates goes first. Candidates have exactly one pod.
func (r *round) order(a, b *Node) int {
	if r.Prefer != nil {
		if c := r.Prefer(*a, *b); c != 0 {
			return c
		}
	}
	if c := strings.Compare(a.Name, b.Name); c != 0 {
		return c
	}
	return comparePods(a.Pods[0], b.Pods[0])
}

// result walks the nodes again with the choices made.
func (r *round) result() Result {
	out := Result{
		Deletes: slices.Grow([]Delete(nil), r.count[remove]),
		Surges:  slices.Grow([]Surge(nil), r.count[add]),
		Holds:   slices.Grow([]Hold(nil), r.count[hold]),
	}
	if r.count[leave] == len(r.Nodes) {
		return out
	}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		v := r.settle(i)
		switch v.action {
		case remove:
			out.Deletes = append(out.Deletes, Delete{Node: n.Name, Pod: *v.pod, Reason: v.reason})
		case add:
			out.Surges = append(out.Surges, Surge{Node: n.Name, Reason: v.reason})
		case hold:
			out.Holds = append(out.Holds, Hold{Node: n.Name, Reason: v.reason})
		case leave, actions:
		}
	}
	// Sorting what is in order already takes one pass.
	slices.SortFunc(out.Deletes, compareDeletes)
	slices.SortFunc(out.Surges, compareSurges)
	slices.SortFunc(out.Holds, compareHolds)
	return out
}

// settle is the verdict on node i after the choices. It has to be asked in ascending order,
// because it uses up the chosen members.
func (r *round) settle(i int) verdict {
	v := r.judge(&r.Nodes[i])
	p := r.poolOf(v)
	if p == nil {
		return v
	}
	if len(p.members) > 0 && p.members[0] == i {
		p.members = p.members[1:]
		return v
	}
	if v.limit == bySurplus {
		return verdict{action: hold, reason: AvailabilityShort}
	}
	return verdict{action: hold, reason: BudgetExhausted}
}
