package rollout_test

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/rollout"
)

// TestRoom: what an update with surge does where two pods do not fit.
func TestRoom(t *testing.T) {
	const both, one, none = rollout.RoomForBoth, rollout.RoomForOne, rollout.RoomForNone
	tests := []struct {
		name    string
		why     string
		give    []string
		rooms   []rollout.Room
		budget  int
		wait    []string // what happens without ReplaceInPlace
		replace []string // and with it
	}{
		{
			name: "no room beside", why: "a pod that cannot start is not created",
			give: []string{"a old:Available", "b old:Available"}, rooms: []rollout.Room{one, both}, budget: 2,
			wait:    []string{"surge b SurgeStarted", "hold a SurgeBlocked"},
			replace: []string{"delete a/a-0 ReplacedInPlace", "surge b SurgeStarted"},
		},
		{
			name: "no room at all", why: "deleting the old pod would leave the node without any",
			give: []string{"a old:Available", "b old:Unhealthy"}, rooms: []rollout.Room{none, none}, budget: 2,
			wait:    []string{"hold a SurgeBlocked", "hold b SurgeBlocked"},
			replace: []string{"hold a SurgeBlocked", "hold b SurgeBlocked"},
		},
		{
			name: "the budget is one for both", why: "surges go first",
			give: []string{"a old:Available", "b old:Available", "c old:Available"}, rooms: []rollout.Room{one, both, one}, budget: 2,
			wait:    []string{"surge b SurgeStarted", "hold a SurgeBlocked", "hold c SurgeBlocked"},
			replace: []string{"delete a/a-0 ReplacedInPlace", "surge b SurgeStarted", "hold c BudgetExhausted"},
		},
		{
			name: "a pod that is down", why: "replacing it costs no availability, and counts",
			give: []string{"a old:Unhealthy", "b old:Available"}, rooms: []rollout.Room{one, one}, budget: 1,
			wait:    []string{"hold a SurgeBlocked", "hold b SurgeBlocked"},
			replace: []string{"delete a/a-0 OutdatedUnavailable", "hold b BudgetExhausted"},
		},
		{
			name: "on the way from one to the other", why: "no more than MaxSurge nodes are without a pod",
			give: []string{"a", "b new:Unhealthy", "c old:Available", "d old:Available"}, rooms: []rollout.Room{one, one, one, one}, budget: 3,
			wait:    []string{"hold c SurgeBlocked", "hold d SurgeBlocked"},
			replace: []string{"delete c/c-0 ReplacedInPlace", "hold d BudgetExhausted"},
		},
		{
			name: "nodes that take no pod", why: "they are on no way",
			give: []string{"a!", "b old:Available"}, rooms: []rollout.Room{both, one}, budget: 1,
			wait:    []string{"hold b SurgeBlocked"},
			replace: []string{"delete b/b-0 ReplacedInPlace"},
		},
		{
			name: "a successor is there already", why: "it has got in after all",
			give: []string{"a old:Available new:Available", "b old:Available new:Ready"}, rooms: []rollout.Room{one, one}, budget: 1,
			wait:    []string{"delete a/a-0 SurgeComplete", "hold b SurgeWaiting"},
			replace: []string{"delete a/a-0 SurgeComplete", "hold b SurgeWaiting"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := rollout.Input{Nodes: parseNodes(t, tt.give...), Budget: rollout.Budget{MaxSurge: tt.budget}, Desired: len(tt.give)}
			for i := range in.Nodes {
				in.Nodes[i].Room = tt.rooms[i]
			}
			require.Empty(t, gocmp.Diff(tt.wait, lines(rollout.Decide(in))), tt.why)
			in.ReplaceInPlace = true
			require.Empty(t, gocmp.Diff(tt.replace, lines(rollout.Decide(in))), tt.why)
		})
	}
}
