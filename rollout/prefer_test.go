package rollout_test

import (
	"cmp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/rollout"
)

func TestDecidePrefer(t *testing.T) {
	backwards := func(a, b rollout.Node) int { return cmp.Compare(b.Name, a.Name) }
	byZone := func(a, b rollout.Node) int { return cmp.Compare(a.Name[1:], b.Name[1:]) }
	tests := []struct {
		name       string
		why        string
		give       []string
		giveBudget rollout.Budget
		givePrefer func(a, b rollout.Node) int
		want       []string
	}{
		{
			name: "nil", why: "candidates go by name",
			give:       []string{"c old:Available", "a old:Available", "b old:Available"},
			giveBudget: rollout.Budget{MaxUnavailable: 2},
			want:       []string{"delete a/a-0 Outdated", "delete b/b-0 Outdated", "hold c BudgetExhausted"},
		},
		{
			name: "preference before name", why: "who goes first is the caller's choice; the result stays sorted",
			give:       []string{"a old:Available", "b old:Available", "c old:Available"},
			giveBudget: rollout.Budget{MaxUnavailable: 2}, givePrefer: backwards,
			want: []string{"delete b/b-0 Outdated", "delete c/c-0 Outdated", "hold a BudgetExhausted"},
		},
		{
			name: "ties by name", why: "a preference need not tell all nodes apart",
			give:       []string{"b2 old:Available", "b1 old:Available", "a2 old:Available", "a1 old:Available"},
			giveBudget: rollout.Budget{MaxUnavailable: 3}, givePrefer: byZone,
			want: []string{
				"delete a1/a1-0 Outdated", "delete a2/a2-0 Outdated", "delete b1/b1-0 Outdated", "hold b2 BudgetExhausted",
			},
		},
		{
			name: "surge", why: "the surge budget goes by the same order",
			give:       []string{"a old:Available", "b old:Available"},
			giveBudget: rollout.Budget{MaxSurge: 1}, givePrefer: backwards,
			want: []string{"surge b SurgeStarted", "hold a BudgetExhausted"},
		},
		{
			name: "leaving", why: "so do the nodes that are left",
			give:       []string{"a! old:Available", "b! old:Available"},
			giveBudget: rollout.Budget{MaxSurge: 1}, givePrefer: backwards,
			want: []string{"delete b/b-0 LeftIneligibleNode", "hold a AvailabilityShort"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := rollout.Decide(rollout.Input{
				Nodes: parseNodes(t, tt.give...), Budget: tt.giveBudget, Desired: 1, Prefer: tt.givePrefer,
			})
			require.Empty(t, gocmp.Diff(tt.want, lines(got)), tt.why)
		})
	}
}

func TestDecideAsksPreferOnlyToChoose(t *testing.T) {
	nodes := parseNodes(t,
		"a old:Available", "b old:Unhealthy", "c new:Ready", "d", "e old:Available", "f old:Available new:Ready")
	asked := map[string]bool{}
	note := func(a, b rollout.Node) int {
		asked[a.Name], asked[b.Name] = true, true
		return 0
	}
	for _, budget := range []rollout.Budget{{MaxUnavailable: 4}, {MaxUnavailable: 6}, {MaxSurge: 1}, {MaxSurge: 3}} {
		rollout.Decide(rollout.Input{Nodes: nodes, Budget: budget, Prefer: note})
		require.Empty(t, asked, "with room for none or for all there is nothing to ask, budget %+v", budget)
	}
	for _, budget := range []rollout.Budget{{MaxUnavailable: 5}, {MaxSurge: 2}} {
		clear(asked)
		rollout.Decide(rollout.Input{Nodes: nodes, Budget: budget, Prefer: note})
		require.Equal(t, map[string]bool{"a": true, "e": true}, asked, "budget %+v", budget)
	}
}

// Names are unique in a cluster. Where they are not, the answer must still not depend on
// the order of the input.
func TestDecideNamesThatComeTwice(t *testing.T) {
	node := func(eligible bool, pods ...rollout.Pod) rollout.Node {
		return rollout.Node{Name: "a", Eligible: eligible, Pods: pods}
	}
	old := func(name, uid string) rollout.Pod {
		return rollout.Pod{Name: name, UID: types.UID(uid), Health: rollout.Available}
	}
	current := rollout.Pod{Name: "new", Current: true, Health: rollout.Available}
	tests := []struct {
		name       string
		why        string
		give       []rollout.Node
		giveBudget rollout.Budget
		want       rollout.Result
	}{
		{
			name: "other pods", why: "the first by pod name is chosen",
			give:       []rollout.Node{node(true, old("q", "1")), node(true, old("p", "2"))},
			giveBudget: rollout.Budget{MaxUnavailable: 1},
			want: rollout.Result{
				Deletes: []rollout.Delete{{Node: "a", Pod: old("p", "2"), Reason: rollout.Outdated}},
				Holds:   []rollout.Hold{{Node: "a", Reason: rollout.BudgetExhausted}},
			},
		},
		{
			name: "other pods of one name", why: "the first by UID is chosen",
			give:       []rollout.Node{node(true, old("p", "2")), node(true, old("p", "1"))},
			giveBudget: rollout.Budget{MaxUnavailable: 1},
			want: rollout.Result{
				Deletes: []rollout.Delete{{Node: "a", Pod: old("p", "1"), Reason: rollout.Outdated}},
				Holds:   []rollout.Hold{{Node: "a", Reason: rollout.BudgetExhausted}},
			},
		},
		{
			name: "one pod twice", why: "steps for one pod go by reason",
			give:       []rollout.Node{node(true, old("p", "1"), current), node(false, old("p", "1"))},
			giveBudget: rollout.Budget{MaxSurge: 1},
			want: rollout.Result{
				Deletes: []rollout.Delete{
					{Node: "a", Pod: old("p", "1"), Reason: rollout.LeftIneligibleNode},
					{Node: "a", Pod: old("p", "1"), Reason: rollout.SurgeComplete},
				},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := rollout.Input{Nodes: tt.give, Desired: 1, Budget: tt.giveBudget}
			require.Empty(t, gocmp.Diff(tt.want, rollout.Decide(in)), tt.why)
			slices.Reverse(in.Nodes)
			require.Empty(t, gocmp.Diff(tt.want, rollout.Decide(in)), "the other way round: "+tt.why)
		})
	}
}
