package rollout

// verdict is what one node, looked at by itself, asks for and costs.
type verdict struct {
	action action
	limit  limit
	reason Reason // of the action, if it is taken
	pod    *Pod   // what remove removes
	// spends says that the node takes one from the budget whatever is chosen.
	spends bool
	// available says that the node has an available pod. Only surge asks.
	available bool
}

// action is what may be done with a node.
type action uint8

const (
	leave action = iota // not due
	hold
	remove
	add
)

// limit is what has to have room before an action is taken.
type limit uint8

const (
	byNothing limit = iota
	byBudget        // MaxUnavailable or MaxSurge, less what is spent
	byPlace         // the same, after those
	bySurplus       // available pods beyond the desired number
)

// judgeReplacing is the update step of Kubernetes v1.37.2 without surge: outdated pods
// are deleted and their successors created later. It spends one for every node without a
// pod that is surely available.
func judgeReplacing(n *Node) verdict {
	p := pairUp(n.Pods)
	switch {
	case p.excess, p.current != nil && p.outdated != nil:
		return verdict{action: hold, reason: ExcessPods, spends: true}
	case p.outdated.available():
		return verdict{action: remove, limit: byBudget, reason: Outdated, pod: p.outdated}
	case p.outdated != nil:
		return verdict{action: remove, reason: OutdatedUnavailable, pod: p.outdated, spends: true}
	}
	return verdict{spends: !p.current.available()}
}

// judgeSurging is the update step of Kubernetes v1.37.2 with surge: a current pod joins an
// outdated one, which is deleted when the current one is available. It spends one for
// every node on which that is under way.
func judgeSurging(n *Node) verdict {
	p := pairUp(n.Pods)
	switch {
	case p.excess:
		// Upstream leaves such a node before it counts availability.
		return verdict{action: hold, reason: ExcessPods, spends: true}
	case p.outdated == nil:
		return verdict{available: p.current.available()}
	}
	v := judgeOutdated(n, p)
	// While both are there the outdated pod is the one that serves, even if it is down.
	v.available = p.outdated.available()
	return v
}

// judgeOutdated is judgeSurging for a node with an outdated pod, alone or not.
func judgeOutdated(n *Node, p pair) verdict {
	switch {
	case p.current.available():
		return verdict{action: remove, reason: SurgeComplete, pod: p.outdated}
	case p.current != nil:
		return verdict{action: hold, reason: SurgeWaiting, spends: true}
	case n.Eligible && n.Room != RoomForBoth:
		return verdict{action: hold, reason: SurgeBlocked}
	case n.Eligible && p.outdated.available():
		return verdict{action: add, limit: byBudget, reason: SurgeStarted}
	case n.Eligible:
		return verdict{action: add, reason: OutdatedUnavailable}
	case p.outdated.available():
		return verdict{action: remove, limit: bySurplus, reason: LeftIneligibleNode, pod: p.outdated}
	}
	return verdict{action: remove, reason: LeftIneligibleNode, pod: p.outdated}
}

// judgeReplacingInPlace is judgeSurging where a pod that cannot be joined by its successor is
// replaced. It also spends one for every node between the two, of which it cannot tell
// whether they were.
func judgeReplacingInPlace(n *Node) verdict {
	v := judgeSurging(n)
	p := pairUp(n.Pods)
	switch {
	case v.reason == SurgeBlocked && n.Room == RoomForOne && p.outdated.available():
		v.action, v.limit, v.reason, v.pod = remove, byPlace, ReplacedInPlace, p.outdated
	case v.reason == SurgeBlocked && n.Room == RoomForOne:
		v.action, v.reason, v.pod, v.spends = remove, OutdatedUnavailable, p.outdated, true
	case n.Eligible && v.action == leave && !v.available:
		v.spends = true
	}
	return v
}
