package rollout_test

import (
	"cmp"
	"slices"

	"github.com/daemonplan/daemonplan/rollout"
)

// twin is the update step again, written for its likeness to the text and not for speed:
// one loop for each sentence, nothing shared with Decide but the types.
func twin(in rollout.Input) rollout.Result {
	if in.Budget.MaxSurge > 0 {
		return twinSurging(in)
	}
	return twinReplacing(in)
}

func twinReplacing(in rollout.Input) rollout.Result {
	var out rollout.Result
	counted := 0
	var candidates []rollout.Node
	for _, n := range in.Nodes {
		fresh, old := split(n)
		switch {
		case len(fresh) > 1 || len(old) > 1:
			counted++
			out.Holds = append(out.Holds, rollout.Hold{Node: n.Name, Reason: rollout.ExcessPods})
		case len(fresh) == 0 && len(old) == 0:
			counted++
		case len(fresh) == 1 && len(old) == 1:
			counted++
			out.Holds = append(out.Holds, rollout.Hold{Node: n.Name, Reason: rollout.ExcessPods})
		case len(fresh) == 1 && fresh[0].Health != rollout.Available:
			counted++
		case len(fresh) == 1:
		case old[0].Health != rollout.Available:
			counted++
			out.Deletes = append(out.Deletes, rollout.Delete{Node: n.Name, Pod: old[0], Reason: rollout.OutdatedUnavailable})
		default:
			candidates = append(candidates, n)
		}
	}
	taken, left := twinChoose(candidates, max(in.Budget.MaxUnavailable, 0)-counted, in.Prefer)
	for _, n := range taken {
		out.Deletes = append(out.Deletes, rollout.Delete{Node: n.Name, Pod: n.Pods[0], Reason: rollout.Outdated})
	}
	for _, n := range left {
		out.Holds = append(out.Holds, rollout.Hold{Node: n.Name, Reason: rollout.BudgetExhausted})
	}
	return twinSorted(out)
}

func twinSurging(in rollout.Input) rollout.Result {
	var out rollout.Result
	surging, available := 0, 0
	var candidates, leaving []rollout.Node
	for _, n := range in.Nodes {
		fresh, old := split(n)
		if len(fresh) > 1 || len(old) > 1 {
			surging++
			out.Holds = append(out.Holds, rollout.Hold{Node: n.Name, Reason: rollout.ExcessPods})
			continue
		}
		for _, p := range append(old, fresh...)[:min(1, len(n.Pods))] {
			if p.Health == rollout.Available {
				available++
			}
		}
		switch {
		case len(old) == 0:
		case len(fresh) == 1 && fresh[0].Health == rollout.Available:
			out.Deletes = append(out.Deletes, rollout.Delete{Node: n.Name, Pod: old[0], Reason: rollout.SurgeComplete})
		case len(fresh) == 1:
			surging++
			out.Holds = append(out.Holds, rollout.Hold{Node: n.Name, Reason: rollout.SurgeWaiting})
		case n.Eligible && old[0].Health != rollout.Available:
			out.Surges = append(out.Surges, rollout.Surge{Node: n.Name, Reason: rollout.OutdatedUnavailable})
		case n.Eligible:
			candidates = append(candidates, n)
		case old[0].Health != rollout.Available:
			out.Deletes = append(out.Deletes, rollout.Delete{Node: n.Name, Pod: old[0], Reason: rollout.LeftIneligibleNode})
		default:
			leaving = append(leaving, n)
		}
	}
	taken, left := twinChoose(candidates, in.Budget.MaxSurge-surging, in.Prefer)
	for _, n := range taken {
		out.Surges = append(out.Surges, rollout.Surge{Node: n.Name, Reason: rollout.SurgeStarted})
	}
	for _, n := range left {
		out.Holds = append(out.Holds, rollout.Hold{Node: n.Name, Reason: rollout.BudgetExhausted})
	}
	taken, left = twinChoose(leaving, available-max(in.Desired, 0), in.Prefer)
	for _, n := range taken {
		out.Deletes = append(out.Deletes, rollout.Delete{Node: n.Name, Pod: n.Pods[0], Reason: rollout.LeftIneligibleNode})
	}
	for _, n := range left {
		out.Holds = append(out.Holds, rollout.Hold{Node: n.Name, Reason: rollout.AvailabilityShort})
	}
	return twinSorted(out)
}

func split(n rollout.Node) (fresh, old []rollout.Pod) {
	for _, p := range n.Pods {
		if p.Current {
			fresh = append(fresh, p)
		} else {
			old = append(old, p)
		}
	}
	return fresh, old
}

// twinChoose takes the best of those left, as long as there is room.
func twinChoose(nodes []rollout.Node, room int, prefer func(a, b rollout.Node) int) (taken, left []rollout.Node) {
	left = slices.Clone(nodes)
	for ; room > 0 && len(left) > 0; room-- {
		best := 0
		for i := range left {
			if twinCompare(left[i], left[best], prefer) < 0 {
				best = i
			}
		}
		taken = append(taken, left[best])
		left = slices.Delete(left, best, best+1)
	}
	return taken, left
}

func twinCompare(a, b rollout.Node, prefer func(a, b rollout.Node) int) int {
	preferred := 0
	if prefer != nil {
		preferred = prefer(a, b)
	}
	return cmp.Or(
		preferred,
		cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.Pods[0].Name, b.Pods[0].Name),
		cmp.Compare(a.Pods[0].UID, b.Pods[0].UID),
	)
}

// twinSorted orders by every field, so that equal sets of steps are equal slices.
func twinSorted(out rollout.Result) rollout.Result {
	slices.SortFunc(out.Deletes, func(a, b rollout.Delete) int {
		return cmp.Or(
			cmp.Compare(a.Node, b.Node),
			cmp.Compare(a.Pod.Name, b.Pod.Name),
			cmp.Compare(a.Pod.UID, b.Pod.UID),
			cmp.Compare(a.Pod.Health, b.Pod.Health),
			cmp.Compare(a.Reason, b.Reason),
		)
	})
	slices.SortFunc(out.Surges, func(a, b rollout.Surge) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Reason, b.Reason))
	})
	slices.SortFunc(out.Holds, func(a, b rollout.Hold) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}
