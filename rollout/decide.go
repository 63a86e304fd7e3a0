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
	// Desired is how many nodes should run a pod; negative is read as 0. Only an update with
	// surge asks, to keep as many pods available while others leave ineligible nodes.
	Desired int
	// Budget is what may be spent; negative values are read as 0. MaxSurge above 0 selects
	// the rules of an update with surge.
	Budget Budget
	// Prefer says which of two nodes goes first, as for [slices.SortFunc], when there is
	// room for some of several but not for all of them. It is only asked about such
	// candidates, each of which has exactly one pod (with Kubernetes112 also more). Ties go by name, and so does everything
	// if it is nil. It must be a pure function and must not write to its arguments.
	Prefer func(a, b Node) int
	// ReplaceInPlace has an update with surge delete outdated pods on nodes with RoomForOne,
	// where it would wait for room otherwise. MaxSurge limits that, too: then nodes that
	// should run a pod and have none that is available are counted against it, because they
	// may be on the way from one to the other.
	ReplaceInPlace bool
	// Profile says whose rules these are; zero is Kubernetes v1.37.
	Profile Profile
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
// it is deleted without a successor, but only while more pods than Desired are available. A
// node without Room for both pods waits, or has its pod replaced in place.
//
// Input.Profile selects older rules. Kubernetes v1.27 differs without surge: deleting an
// outdated pod that is not available leaves the budget as it is. Kubernetes v1.12 knows no
// surge and looks at pods, not at nodes: it deletes all outdated ones that are not
// available, however many a node has, and of the available ones as many as MaxUnavailable
// has room for after every eligible node without an available pod is counted; a node may
// then lose several pods in one pass, and no node is held for ExcessPods. An unknown
// profile is Kubernetes v1.37.
//
// The time is linear in the nodes if they come in name order, and otherwise n log n in the
// nodes that are due. Asking Prefer takes n log n in the candidates.
func Decide(in Input) Result {
	if in.Profile == Kubernetes112 {
		return decide112(in)
	}
	r := round{Input: in, judge: in.judge()}
	r.classify()
	r.choose()
	return r.result()
}

// round is one call of Decide. All nodes are classified before any is chosen, because what
// may be chosen depends on the counts over all of them.
type round struct {
	Input
	judge func(*Node) Verdict

	tally Tally
	steps [StepSurge + 1]int  // nodes by what is done with them
	pools [BySurplus + 1]pool // nodes by what has to have room for them
}

// pool is the nodes whose step is under the same limit. They all want the same step, except
// for those under no limit, among which nothing is chosen.
type pool struct {
	step   Step
	size   int
	chosen int   // how many may take the step
	picks  []int // indices of those, ascending; nil if it is all or none
}

func (r *round) classify() {
	for i := range r.Nodes {
		v := r.judge(&r.Nodes[i])
		r.tally.Add(v)
		r.steps[v.Step]++
		r.pools[v.Limit].step = v.Step
	}
}

// choose picks as many of the nodes under each limit as there is room for. Who updates is
// decided here and nowhere else.
func (r *round) choose() {
	room := r.Room(r.tally)
	for l := ByBudget; l <= BySurplus; l++ {
		p := &r.pools[l]
		p.size, p.chosen = r.tally.Under[l], room[l]
		r.steps[p.step] -= p.size - p.chosen
		r.steps[StepHold] += p.size - p.chosen
		r.pick(l)
	}
}

// pick finds those that take their step, if some under a limit do and others do not.
func (r *round) pick(l Limit) {
	p := &r.pools[l]
	if p.chosen == 0 || p.chosen == p.size {
		return
	}
	p.picks = r.candidates(l)
	slices.SortFunc(p.picks, func(i, j int) int { return r.compare(&r.Nodes[i], &r.Nodes[j]) })
	p.picks = p.picks[:p.chosen]
	slices.Sort(p.picks)
}

// candidates lists the nodes under a limit by their indices.
func (r *round) candidates(l Limit) []int {
	found := make([]int, 0, r.pools[l].size)
	for i := range r.Nodes {
		if r.judge(&r.Nodes[i]).Limit == l {
			found = append(found, i)
		}
	}
	return found
}

// compare says which of two candidates goes first. Candidates have exactly one pod.
func (r *round) compare(a, b *Node) int {
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

// result walks the nodes once more, with the choices made.
func (r *round) result() Result {
	if r.steps[StepNone] == len(r.Nodes) {
		return Result{}
	}
	out := Result{
		Deletes: space[Delete](r.steps[StepDelete]),
		Surges:  space[Surge](r.steps[StepSurge]),
		Holds:   space[Hold](r.steps[StepHold]),
	}
	for i := range r.Nodes {
		name := r.Nodes[i].Name
		v := r.settle(i)
		switch v.Step {
		case StepNone:
		case StepHold:
			out.Holds = append(out.Holds, Hold{Node: name, Reason: v.Reason})
		case StepDelete:
			out.Deletes = append(out.Deletes, Delete{Node: name, Pod: *v.Pod, Reason: v.Reason})
		case StepSurge:
			out.Surges = append(out.Surges, Surge{Node: name, Reason: v.Reason})
		}
	}
	// Sorting what is in order already takes one pass.
	slices.SortFunc(out.Deletes, compareDeletes)
	slices.SortFunc(out.Surges, compareSurges)
	slices.SortFunc(out.Holds, compareHolds)
	return out
}

// space is an empty slice with room for n, nil if that is none.
func space[T any](n int) []T {
	if n == 0 {
		return nil
	}
	return make([]T, 0, n)
}

// settle is the verdict on node i with the choices made. It has to be asked in ascending
// order, because it uses up the picks.
func (r *round) settle(i int) Verdict {
	v := r.judge(&r.Nodes[i])
	p := &r.pools[v.Limit]
	if v.Limit == ByNothing || p.chosen == p.size {
		return v
	}
	if len(p.picks) > 0 && p.picks[0] == i {
		p.picks = p.picks[1:]
		return v
	}
	return Verdict{Step: StepHold, Reason: v.Limit.Held()}
}
