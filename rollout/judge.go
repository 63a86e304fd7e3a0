package rollout

// judgeReplacing is the update step of Kubernetes v1.37.2 without surge: outdated pods
// are deleted and their successors created later. It spends one for every node without a
// pod that is surely available.
func judgeReplacing(n *Node) Verdict {
	p := pairUp(n.Pods)
	switch {
	case p.excess, p.current != nil && p.outdated != nil:
		return Verdict{Step: StepHold, Reason: ExcessPods, Spends: true}
	case p.outdated.available():
		return Verdict{Step: StepDelete, Limit: ByBudget, Reason: Outdated, Pod: p.outdated}
	case p.outdated != nil:
		return Verdict{Step: StepDelete, Reason: OutdatedUnavailable, Pod: p.outdated, Spends: true}
	}
	return Verdict{Spends: !p.current.available()}
}

// judgeSurging is the update step of Kubernetes v1.37.2 with surge: a current pod joins an
// outdated one, which is deleted when the current one is available. It spends one for
// every node on which that is under way.
func judgeSurging(n *Node) Verdict {
	p := pairUp(n.Pods)
	switch {
	case p.excess:
		// Upstream leaves such a node before it counts availability.
		return Verdict{Step: StepHold, Reason: ExcessPods, Spends: true}
	case p.outdated == nil:
		return Verdict{Available: p.current.available()}
	}
	v := judgeOutdated(n, p)
	// While both are there the outdated pod is the one that serves, even if it is down.
	v.Available = p.outdated.available()
	return v
}

// judgeOutdated is judgeSurging for a node with an outdated pod, alone or not.
func judgeOutdated(n *Node, p pair) Verdict {
	switch {
	case p.current.available():
		return Verdict{Step: StepDelete, Reason: SurgeComplete, Pod: p.outdated}
	case p.current != nil:
		return Verdict{Step: StepHold, Reason: SurgeWaiting, Spends: true}
	case n.Eligible && n.Room != RoomForBoth:
		return Verdict{Step: StepHold, Reason: SurgeBlocked}
	case n.Eligible && p.outdated.available():
		return Verdict{Step: StepSurge, Limit: ByBudget, Reason: SurgeStarted}
	case n.Eligible:
		return Verdict{Step: StepSurge, Reason: OutdatedUnavailable}
	case p.outdated.available():
		return Verdict{Step: StepDelete, Limit: BySurplus, Reason: LeftIneligibleNode, Pod: p.outdated}
	}
	return Verdict{Step: StepDelete, Reason: LeftIneligibleNode, Pod: p.outdated}
}

// judgeReplacingInPlace is judgeSurging where a pod that cannot be joined by its successor is
// replaced. It also spends one for every node between the two, of which it cannot tell
// whether they were.
func judgeReplacingInPlace(n *Node) Verdict {
	v := judgeSurging(n)
	p := pairUp(n.Pods)
	switch {
	case v.Reason == SurgeBlocked && n.Room == RoomForOne && p.outdated.available():
		v.Step, v.Limit, v.Reason, v.Pod = StepDelete, ByPlace, ReplacedInPlace, p.outdated
	case v.Reason == SurgeBlocked && n.Room == RoomForOne:
		v.Step, v.Reason, v.Pod, v.Spends = StepDelete, OutdatedUnavailable, p.outdated, true
	case n.Eligible && v.Step == StepNone && !v.Available:
		v.Spends = true
	}
	return v
}
