package rollout_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/daemonplan/daemonplan/rollout"
)

// checkHalves: judging nodes one by one and then asking what there is room for comes to the
// same as Decide, also after nodes were counted and taken back.
func checkHalves(t *testing.T, in rollout.Input, s seen) {
	t.Helper()
	want := rollout.Decide(in)
	var tally rollout.Tally
	under := map[rollout.Limit][]rollout.Node{}
	steps := map[rollout.Step]int{}
	for i := range in.Nodes {
		v := in.Judge(&in.Nodes[i])
		tally.Add(v)
		tally.Add(v)
		tally.Remove(v)
		under[v.Limit] = append(under[v.Limit], in.Nodes[i])
		if v.Limit == rollout.ByNothing {
			steps[v.Step]++
		}
	}
	room := in.Room(tally)
	for _, limit := range []rollout.Limit{rollout.ByBudget, rollout.ByPlace, rollout.BySurplus} {
		nodes := under[limit]
		slices.SortStableFunc(nodes, func(a, b rollout.Node) int {
			if in.Prefer != nil {
				if c := in.Prefer(a, b); c != 0 {
					return c
				}
			}
			return strings.Compare(a.Name, b.Name)
		})
		for i := range nodes {
			step := in.Judge(&nodes[i]).Step
			if i >= room[limit] {
				s["held"]++
				step = rollout.StepHold
				assert.Contains(t, want.Holds, rollout.Hold{Node: nodes[i].Name, Reason: limit.Held()})
			}
			steps[step]++
		}
	}
	if len(want.Surges) > 0 {
		s["surges"]++
	}
	assert.Equal(t, len(want.Deletes), steps[rollout.StepDelete], "deletes")
	assert.Equal(t, len(want.Surges), steps[rollout.StepSurge], "surges")
	assert.Equal(t, len(want.Holds), steps[rollout.StepHold], "holds")
}
