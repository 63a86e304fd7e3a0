// Package goldentest is a small controller of somebody else, to show how one is tested with
// daemonset/plantest: it updates DaemonSets like Kubernetes, but takes available pods away
// only at night, and those of canary nodes first.
package goldentest

import (
	"slices"
	"time"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/rollout"
)

// OutsideWindow is the reason of a node that has to wait for the window.
const OutsideWindow daemonset.Reason = "OutsideWindow"

// Window is the hours of the day, in UTC, in which an update may take available pods away:
// from From up to but without To. It may go past midnight; with both equal it is never open.
type Window struct{ From, To int }

// Open reports whether an instant is in the window.
func (w Window) Open(at time.Time) bool {
	hour := at.UTC().Hour()
	if w.From <= w.To {
		return w.From <= hour && hour < w.To
	}
	return hour >= w.From || hour < w.To
}

// Plan is the plan of a pass. Outside the window it holds back what the update would take by
// choice; repairs, and pods that serve nobody, go on. The plan then asks to be made again
// within the hour.
func (w Window) Plan(s daemonset.Snapshot, canaries ...string) (daemonset.Plan, error) {
	plan, err := daemonset.Compute(s, daemonset.Options{Prefer: preferring(canaries)})
	if err != nil || w.Open(s.Now) {
		return plan, err
	}
	byChoice := func(d daemonset.Delete) bool { return d.Reason == daemonset.Outdated }
	if !slices.ContainsFunc(plan.Deletes, byChoice) {
		return plan, nil
	}
	plan.Deletes = slices.DeleteFunc(plan.Deletes, byChoice)
	plan.Next = s.Now.Truncate(time.Hour).Add(time.Hour)
	for i := range plan.Nodes {
		if plan.Nodes[i].Reason == daemonset.Outdated {
			plan.Nodes[i].Reason, plan.Nodes[i].Until = OutsideWindow, plan.Next
		}
	}
	return plan, nil
}

// preferring puts the canaries first.
func preferring(canaries []string) func(a, b rollout.Node) int {
	rank := func(n rollout.Node) int {
		if slices.Contains(canaries, n.Name) {
			return 0
		}
		return 1
	}
	return func(a, b rollout.Node) int { return rank(a) - rank(b) }
}
