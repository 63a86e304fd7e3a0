package rollout_test

import (
	"math"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/rollout"
)

// decideRow is one rule of the update step. Nodes are written "name old:Health new:Health";
// an exclamation mark after the name is a node that takes no new pod. Steps are written as
// lines puts them.
type decideRow struct {
	name        string
	why         string
	give        []string
	giveBudget  rollout.Budget
	giveDesired int
	want        []string
}

func TestDecideWithoutSurge(t *testing.T) {
	one, three := rollout.Budget{MaxUnavailable: 1}, rollout.Budget{MaxUnavailable: 3}
	runDecideRows(t, []decideRow{
		{
			name: "no nodes", why: "there is nothing to do, and nothing to choose from",
			giveBudget: three,
		},
		{
			name: "all current", why: "a finished update holds and takes nothing",
			give:       []string{"a new:Available", "b new:Available"},
			giveBudget: three,
		},
		{
			name: "available outdated within the budget", why: "the budget is there to be spent",
			give:       []string{"a old:Available", "b old:Available", "c old:Available"},
			giveBudget: three,
			want:       []string{"delete a/a-0 Outdated", "delete b/b-0 Outdated", "delete c/c-0 Outdated"},
		},
		{
			name: "available outdated beyond the budget", why: "the rest waits, and says what for",
			give:       []string{"c old:Available", "a old:Available", "b old:Available"},
			giveBudget: one,
			want:       []string{"delete a/a-0 Outdated", "hold b BudgetExhausted", "hold c BudgetExhausted"},
		},
		{
			name: "no budget", why: "zero is no permission to take an available pod",
			give: []string{"a old:Available"},
			want: []string{"hold a BudgetExhausted"},
		},
		{
			name: "negative budget", why: "it is read as zero",
			give:       []string{"a old:Available", "b old:Unhealthy"},
			giveBudget: rollout.Budget{MaxUnavailable: math.MinInt, MaxSurge: math.MinInt},
			want:       []string{"delete b/b-0 OutdatedUnavailable", "hold a BudgetExhausted"},
		},
		{
			name: "outdated and unhealthy", why: "it costs no availability, so no budget is asked",
			give: []string{"a old:Unhealthy", "b old:Ready"},
			want: []string{"delete a/a-0 OutdatedUnavailable", "delete b/b-0 OutdatedUnavailable"},
		},
		{
			name: "outdated and unhealthy counts", why: "its node is without an available pod already",
			give:       []string{"a old:Available", "b old:Unhealthy", "c old:Ready", "d old:Available"},
			giveBudget: three,
			want: []string{
				"delete a/a-0 Outdated", "delete b/b-0 OutdatedUnavailable", "delete c/c-0 OutdatedUnavailable",
				"hold d BudgetExhausted",
			},
		},
		{
			name: "current and not available counts", why: "ready is not yet available",
			give:       []string{"a new:Unhealthy", "b new:Ready", "c old:Available", "d old:Available"},
			giveBudget: three,
			want:       []string{"delete c/c-0 Outdated", "hold d BudgetExhausted"},
		},
		{
			name: "current and available does not count", why: "its node is served",
			give:       []string{"a new:Available", "b old:Available"},
			giveBudget: one,
			want:       []string{"delete b/b-0 Outdated"},
		},
		{
			name: "no pod counts", why: "the first pod, or the one after a terminating one, is still to come",
			give:       []string{"a", "b old:Available"},
			giveBudget: one,
			want:       []string{"hold b BudgetExhausted"},
		},
		{
			name: "no pod on a node that takes none counts", why: "without surge eligibility plays no part",
			give:       []string{"a!", "b! old:Available"},
			giveBudget: one,
			want:       []string{"hold b BudgetExhausted"},
		},
		{
			name: "ineligible nodes update like any other", why: "without surge eligibility plays no part",
			give:       []string{"a! old:Available", "b! old:Unhealthy"},
			giveBudget: rollout.Budget{MaxUnavailable: 2},
			want:       []string{"delete a/a-0 Outdated", "delete b/b-0 OutdatedUnavailable"},
		},
		{
			name: "one of each revision counts and waits", why: "which one stays is not for the update to say",
			give:       []string{"a new:Available old:Available", "b old:Available"},
			giveBudget: one,
			want:       []string{"hold a ExcessPods", "hold b BudgetExhausted"},
		},
		{
			name: "two current count and wait", why: "too many pods are ambiguous, available or not",
			give:       []string{"a new:Available new:Available", "b old:Available"},
			giveBudget: one,
			want:       []string{"hold a ExcessPods", "hold b BudgetExhausted"},
		},
		{
			name: "two outdated count and wait", why: "too many pods are ambiguous, even if all are down",
			give:       []string{"a old:Unhealthy old:Unhealthy", "b old:Available"},
			giveBudget: one,
			want:       []string{"hold a ExcessPods", "hold b BudgetExhausted"},
		},
		{
			name: "two outdated beside a current one", why: "one pair too many makes the node ambiguous",
			give:       []string{"a old:Available new:Available old:Available"},
			giveBudget: three,
			want:       []string{"hold a ExcessPods"},
		},
		{
			name: "counted beyond the budget", why: "no room is not negative room",
			give:       []string{"a", "b", "c new:Ready", "d old:Available", "e old:Unhealthy"},
			giveBudget: one,
			want:       []string{"delete e/e-0 OutdatedUnavailable", "hold d BudgetExhausted"},
		},
		{
			name: "budget beyond all nodes", why: "the largest int is a budget like any other",
			give:       []string{"a", "b old:Available"},
			giveBudget: rollout.Budget{MaxUnavailable: math.MaxInt},
			want:       []string{"delete b/b-0 Outdated"},
		},
	})
}

func TestDecideWithSurge(t *testing.T) {
	one, three := rollout.Budget{MaxSurge: 1}, rollout.Budget{MaxSurge: 3}
	runDecideRows(t, []decideRow{
		{
			name: "no nodes", why: "there is nothing to do",
			giveBudget: three,
		},
		{
			name: "current or empty nodes", why: "creating the first pod is not part of an update",
			give:       []string{"a new:Available", "b new:Unhealthy", "c", "d!", "e! new:Available"},
			giveBudget: one,
		},
		{
			name: "empty and unavailable current nodes do not spend", why: "only two pods on a node are a surge",
			give:       []string{"a", "b new:Unhealthy", "c old:Available"},
			giveBudget: one, giveDesired: 3,
			want: []string{"surge c SurgeStarted"},
		},
		{
			name: "available outdated within the budget", why: "a new pod comes first",
			give:       []string{"a old:Available", "b old:Available"},
			giveBudget: three, giveDesired: 2,
			want: []string{"surge a SurgeStarted", "surge b SurgeStarted"},
		},
		{
			name: "available outdated beyond the budget", why: "the rest waits",
			give:       []string{"b old:Available", "a old:Available"},
			giveBudget: one, giveDesired: 2,
			want: []string{"surge a SurgeStarted", "hold b BudgetExhausted"},
		},
		{
			name: "maxUnavailable is not read", why: "with surge nothing available is taken away",
			give:       []string{"a old:Available", "b old:Available"},
			giveBudget: rollout.Budget{MaxUnavailable: 2, MaxSurge: 1}, giveDesired: 2,
			want: []string{"surge a SurgeStarted", "hold b BudgetExhausted"},
		},
		{
			name: "outdated and not available", why: "a new pod at once, and it does not count as surging",
			give:       []string{"a old:Unhealthy", "b old:Ready", "c old:Available"},
			giveBudget: one, giveDesired: 3,
			want: []string{"surge a OutdatedUnavailable", "surge b OutdatedUnavailable", "surge c SurgeStarted"},
		},
		{
			name: "new pod available", why: "the old one is no longer needed, and the surge is over",
			give:       []string{"a old:Available new:Available", "b old:Available"},
			giveBudget: one, giveDesired: 2,
			want: []string{"delete a/a-0 SurgeComplete", "surge b SurgeStarted"},
		},
		{
			name: "new pod not available", why: "the surge goes on and takes its part of the budget",
			give:       []string{"a new:Ready old:Available", "b old:Available"},
			giveBudget: one, giveDesired: 2,
			want: []string{"hold a SurgeWaiting", "hold b BudgetExhausted"},
		},
		{
			name: "both down", why: "the node keeps both until the new one is available",
			give:       []string{"a new:Unhealthy old:Unhealthy"},
			giveBudget: one, giveDesired: 1,
			want: []string{"hold a SurgeWaiting"},
		},
		{
			name: "two current spend and wait", why: "ambiguous nodes are taken for surging",
			give:       []string{"a new:Available new:Available", "b old:Available"},
			giveBudget: one, giveDesired: 2,
			want: []string{"hold a ExcessPods", "hold b BudgetExhausted"},
		},
		{
			name: "two outdated spend and wait", why: "ambiguous nodes are taken for surging",
			give:       []string{"a old:Unhealthy old:Unhealthy", "b old:Available"},
			giveBudget: one, giveDesired: 2,
			want: []string{"hold a ExcessPods", "hold b BudgetExhausted"},
		},
		{
			name: "more surging than the budget", why: "no room is not negative room",
			give: []string{
				"a new:Ready old:Available", "b new:Ready old:Available", "c old:Available", "d old:Unhealthy",
			},
			giveBudget: one, giveDesired: 4,
			want: []string{
				"surge d OutdatedUnavailable", "hold a SurgeWaiting", "hold b SurgeWaiting", "hold c BudgetExhausted",
			},
		},
		{
			name: "surging on an ineligible node", why: "two pods are settled the same way everywhere",
			give:       []string{"a! old:Available new:Available", "b! old:Available new:Ready"},
			giveBudget: one, giveDesired: 9,
			want: []string{"delete a/a-0 SurgeComplete", "hold b SurgeWaiting"},
		},
		{
			name: "budget beyond all nodes", why: "the largest int is a budget like any other",
			give:       []string{"a new:Ready old:Available", "b old:Available"},
			giveBudget: rollout.Budget{MaxSurge: math.MaxInt}, giveDesired: 2,
			want: []string{"surge b SurgeStarted", "hold a SurgeWaiting"},
		},
	})
}

func TestDecideLeavingIneligibleNodes(t *testing.T) {
	one := rollout.Budget{MaxSurge: 1}
	runDecideRows(t, []decideRow{
		{
			name: "not available", why: "nothing is lost with it, however few others there are",
			give:       []string{"a! old:Unhealthy", "b! old:Ready"},
			giveBudget: one, giveDesired: 9,
			want: []string{"delete a/a-0 LeftIneligibleNode", "delete b/b-0 LeftIneligibleNode"},
		},
		{
			name: "available and needed", why: "the set has no more available pods than it needs",
			give:       []string{"a! old:Available", "b"},
			giveBudget: one, giveDesired: 1,
			want: []string{"hold a AvailabilityShort"},
		},
		{
			name: "fewer available than desired", why: "a shortage is not a negative surplus",
			give:       []string{"a! old:Available", "b", "c"},
			giveBudget: one, giveDesired: 3,
			want: []string{"hold a AvailabilityShort"},
		},
		{
			name: "available and spare", why: "as many go as there are available pods beyond the desired number",
			give:       []string{"c! old:Available", "a! old:Available", "b! old:Available", "x new:Available"},
			giveBudget: one, giveDesired: 2,
			want: []string{
				"delete a/a-0 LeftIneligibleNode", "delete b/b-0 LeftIneligibleNode", "hold c AvailabilityShort",
			},
		},
		{
			name: "the surge budget does not matter", why: "leaving adds no pod",
			give:       []string{"a! old:Available", "b! old:Available", "x old:Available new:Ready"},
			giveBudget: one, giveDesired: 1,
			want: []string{
				"delete a/a-0 LeftIneligibleNode", "delete b/b-0 LeftIneligibleNode", "hold x SurgeWaiting",
			},
		},
		{
			name: "leaving does not surge", why: "nodes that are left take nothing from the surge budget",
			give:       []string{"a! old:Available", "b! old:Unhealthy", "x old:Available", "y old:Available"},
			giveBudget: one, giveDesired: 2,
			want: []string{
				"delete a/a-0 LeftIneligibleNode", "delete b/b-0 LeftIneligibleNode",
				"surge x SurgeStarted", "hold y BudgetExhausted",
			},
		},
		{
			name: "a surging node counts by its old pod", why: "the new one does not serve yet, even if available",
			give:       []string{"a! old:Available", "x old:Unhealthy new:Available"},
			giveBudget: one, giveDesired: 1,
			want: []string{"delete x/x-0 SurgeComplete", "hold a AvailabilityShort"},
		},
		{
			name: "a surging node counts by its old pod, up", why: "the old one serves while the new one starts",
			give:       []string{"a! old:Available", "x old:Available new:Unhealthy"},
			giveBudget: one, giveDesired: 1,
			want: []string{"delete a/a-0 LeftIneligibleNode", "hold x SurgeWaiting"},
		},
		{
			name: "ambiguous nodes do not count as available", why: "Kubernetes leaves them out before it counts",
			give:       []string{"a! old:Available", "x new:Available new:Available"},
			giveBudget: one, giveDesired: 1,
			want: []string{"hold a AvailabilityShort", "hold x ExcessPods"},
		},
		{
			name: "current pods that are not available do not count", why: "ready is not yet available",
			give:       []string{"a! old:Available", "x new:Ready"},
			giveBudget: one, giveDesired: 1,
			want: []string{"hold a AvailabilityShort"},
		},
		{
			name: "negative desired", why: "it is read as zero, and no more than the available pods go",
			give:       []string{"a! old:Available"},
			giveBudget: one, giveDesired: math.MinInt,
			want: []string{"delete a/a-0 LeftIneligibleNode"},
		},
		{
			name: "desired beyond all nodes", why: "the largest int is a number like any other",
			give:       []string{"a! old:Available"},
			giveBudget: one, giveDesired: math.MaxInt,
			want: []string{"hold a AvailabilityShort"},
		},
	})
}

func runDecideRows(t *testing.T, rows []decideRow) {
	t.Helper()
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			in := rollout.Input{Nodes: parseNodes(t, tt.give...), Budget: tt.giveBudget, Desired: tt.giveDesired}

			got := rollout.Decide(in)

			require.Empty(t, gocmp.Diff(tt.want, lines(got)), tt.why)
			require.Empty(t, gocmp.Diff(twin(in), got), "the slow twin disagrees")
		})
	}
}

func TestDecideCarriesThePod(t *testing.T) {
	pod := rollout.Pod{Name: "agent-x7", UID: "e3f1", Health: rollout.Available}
	got := rollout.Decide(rollout.Input{
		Nodes:  []rollout.Node{{Name: "a", Pods: []rollout.Pod{pod}}},
		Budget: rollout.Budget{MaxUnavailable: 1},
	})
	want := rollout.Result{Deletes: []rollout.Delete{{Node: "a", Pod: pod, Reason: rollout.Outdated}}}
	assert.Empty(t, gocmp.Diff(want, got), "a delete needs the UID, and empty slices are nil")
}
