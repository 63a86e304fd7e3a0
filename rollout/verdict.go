package rollout

// Verdict is what one node, looked at by itself, asks for and costs. The zero value is a node
// that is not due and costs nothing.
type Verdict struct {
	Step   Step
	Limit  Limit  // what has to have room before the step is taken
	Reason Reason // of the step, if it is taken
	Pod    *Pod   // what StepDelete deletes: one of the node's Pods; nil otherwise
	// Spends says that the node takes one from the budget whatever is chosen.
	Spends bool
	// Available says that the node has an available pod. Only an update with surge asks.
	Available bool
}

// Step is what may be done with a node.
type Step uint8

// The steps.
const (
	StepNone   Step = iota // the node is not due
	StepHold               // it is due, and has to wait
	StepDelete             // its outdated pod is deleted
	StepSurge              // a current pod is added
)

// Limit is what has to have room before a step is taken. All nodes under the same limit, but
// for ByNothing, ask for the same step.
type Limit uint8

// The limits, in the order in which they are filled.
const (
	ByNothing Limit = iota // the step is taken whatever the others do
	ByBudget               // MaxUnavailable or MaxSurge, less what is spent
	ByPlace                // the same, after those
	BySurplus              // available pods beyond the desired number
)

// Held returns the reason of a hold on a node for which its limit had no room.
func (l Limit) Held() Reason {
	if l == BySurplus {
		return AvailabilityShort
	}
	return BudgetExhausted
}

// Judge returns what node asks for under the rules of in, whatever the other nodes do;
// in.Nodes and in.Desired are not read. It is the first half of [Decide]; the second half
// needs no more of the nodes than a [Tally] and, under each limit, the order in which they
// are taken. So who keeps both can tell what an update does next without going through all
// nodes again.
//
// Kubernetes112 does not judge nodes: it is read as Kubernetes127.
func (in *Input) Judge(node *Node) Verdict { return in.judge()(node) }

func (in *Input) judge() func(*Node) Verdict {
	switch {
	case in.Budget.MaxSurge > 0 && in.ReplaceInPlace:
		return judgeReplacingInPlace
	case in.Budget.MaxSurge > 0:
		return judgeSurging
	case in.Profile == Kubernetes127, in.Profile == Kubernetes112:
		return judgeReplacing127
	}
	return judgeReplacing
}

// Tally adds up verdicts. Its zero value is that of no nodes.
type Tally struct {
	Spent     int                // nodes that take from the budget whatever is chosen
	Available int                // nodes with an available pod; with surge only
	Under     [BySurplus + 1]int // nodes by the limit they are under
}

// Add counts one more node.
func (t *Tally) Add(v Verdict) { t.count(v, 1) }

// Remove takes back what Add counted.
func (t *Tally) Remove(v Verdict) { t.count(v, -1) }

func (t *Tally) count(v Verdict, by int) {
	t.Under[v.Limit] += by
	if v.Spends {
		t.Spent += by
	}
	if v.Available {
		t.Available += by
	}
}

// Room returns how many of the nodes under each limit may take their step; in.Nodes is not
// read. The first ones take it, by in.Prefer and then by name. Under ByNothing that is all.
func (in *Input) Room(t Tally) [BySurplus + 1]int {
	budget := in.Budget.MaxUnavailable
	if in.Budget.MaxSurge > 0 {
		budget = in.Budget.MaxSurge
	}
	room := t.Under
	left := max(budget, 0) - t.Spent
	room[ByBudget] = within(left, t.Under[ByBudget])
	room[ByPlace] = within(left-room[ByBudget], t.Under[ByPlace])
	room[BySurplus] = within(t.Available-max(in.Desired, 0), t.Under[BySurplus])
	return room
}

// within is how many of size there is room for.
func within(room, size int) int { return min(max(room, 0), size) }
