package rollout_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/rollout"
)

// TestProfiles puts the three generations side by side on the same nodes.
func TestProfiles(t *testing.T) {
	profiles := []rollout.Profile{rollout.Kubernetes137, rollout.Kubernetes127, rollout.Kubernetes112}
	tests := []struct {
		name   string
		why    string
		give   []string
		budget rollout.Budget
		want   [3][]string // in the order of profiles
	}{
		{
			name: "an outdated pod that is down", why: "only v1.37 and v1.12 count its node",
			give:   []string{"a old:Unhealthy", "b old:Available", "c old:Available"},
			budget: rollout.Budget{MaxUnavailable: 1},
			want: [3][]string{
				{"delete a/a-0 OutdatedUnavailable", "hold b BudgetExhausted", "hold c BudgetExhausted"},
				{"delete a/a-0 OutdatedUnavailable", "delete b/b-0 Outdated", "hold c BudgetExhausted"},
				{"delete a/a-0 OutdatedUnavailable", "hold b BudgetExhausted", "hold c BudgetExhausted"},
			},
		},
		{
			name: "one of each revision", why: "v1.12 looks at pods, and deletes the outdated one",
			give:   []string{"a old:Available new:Available", "b old:Available"},
			budget: rollout.Budget{MaxUnavailable: 1},
			want: [3][]string{
				{"hold a ExcessPods", "hold b BudgetExhausted"},
				{"hold a ExcessPods", "hold b BudgetExhausted"},
				{"delete a/a-0 Outdated", "hold b BudgetExhausted"},
			},
		},
		{
			name: "several outdated pods", why: "v1.12 may delete more than one of a node",
			give:   []string{"a old:Available old:Unhealthy old:Unhealthy old:Available", "b old:Available"},
			budget: rollout.Budget{MaxUnavailable: 1},
			want: [3][]string{
				{"hold a ExcessPods", "hold b BudgetExhausted"},
				{"hold a ExcessPods", "hold b BudgetExhausted"},
				{"delete a/a-0 Outdated", "delete a/a-1 OutdatedUnavailable", "delete a/a-2 OutdatedUnavailable", "hold b BudgetExhausted"},
			},
		},
		{
			name: "waiting with several pods", why: "a node waits once",
			give: []string{"a old:Available old:Available"},
			want: [3][]string{{"hold a ExcessPods"}, {"hold a ExcessPods"}, {"hold a BudgetExhausted"}},
		},
		{
			name: "no pod on a node that takes none", why: "v1.12 counts eligible nodes only",
			give:   []string{"a!", "b old:Available"},
			budget: rollout.Budget{MaxUnavailable: 1},
			want: [3][]string{
				{"hold b BudgetExhausted"},
				{"hold b BudgetExhausted"},
				{"delete b/b-0 Outdated"},
			},
		},
		{
			name: "surge", why: "v1.12 has none",
			give:   []string{"a old:Available", "b old:Unhealthy"},
			budget: rollout.Budget{MaxSurge: 1},
			want: [3][]string{
				{"surge a SurgeStarted", "surge b OutdatedUnavailable"},
				{"surge a SurgeStarted", "surge b OutdatedUnavailable"},
				{"delete b/b-0 OutdatedUnavailable", "hold a BudgetExhausted"},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i, profile := range profiles {
				in := rollout.Input{Nodes: parseNodes(t, tt.give...), Budget: tt.budget, Desired: len(tt.give), Profile: profile}
				got := rollout.Decide(in)
				require.Empty(t, gocmp.Diff(tt.want[i], lines(got)), "%s: %s", profile, tt.why)
				require.Empty(t, gocmp.Diff(profileTwin(in), got), "%s: the slow twin disagrees", profile)
			}
		})
	}
}

// profileTwin is twin for any profile.
func profileTwin(in rollout.Input) rollout.Result {
	switch {
	case in.Profile == rollout.Kubernetes112:
		return twin112(in)
	case in.Profile == rollout.Kubernetes127 && in.Budget.MaxSurge <= 0:
		// The budget is as much larger as there are nodes that do not count.
		for _, n := range in.Nodes {
			if fresh, old := split(n); len(fresh) == 0 && len(old) == 1 && old[0].Health != rollout.Available {
				in.Budget.MaxUnavailable = max(in.Budget.MaxUnavailable, 0) + 1
			}
		}
	}
	return twin(in)
}

func twin112(in rollout.Input) rollout.Result {
	var out rollout.Result
	unavailable := 0
	for _, n := range in.Nodes {
		if n.Eligible && !slices.ContainsFunc(n.Pods, isAvailable) {
			unavailable++
		}
	}
	// Each available outdated pod as a node of its own, so that the twin's choice serves.
	var single []rollout.Node
	for _, n := range in.Nodes {
		_, old := split(n)
		for _, p := range old {
			if isAvailable(p) {
				single = append(single, rollout.Node{Name: n.Name, Eligible: n.Eligible, Pods: []rollout.Pod{p}})
				continue
			}
			out.Deletes = append(out.Deletes, rollout.Delete{Node: n.Name, Pod: p, Reason: rollout.OutdatedUnavailable})
		}
	}
	taken, left := twinChoose(single, max(in.Budget.MaxUnavailable, 0)-unavailable, in.Prefer)
	for _, n := range taken {
		out.Deletes = append(out.Deletes, rollout.Delete{Node: n.Name, Pod: n.Pods[0], Reason: rollout.Outdated})
	}
	for _, n := range left {
		due := slices.ContainsFunc(out.Deletes, func(d rollout.Delete) bool { return d.Node == n.Name })
		waits := slices.ContainsFunc(out.Holds, func(h rollout.Hold) bool { return h.Node == n.Name })
		if !due && !waits {
			out.Holds = append(out.Holds, rollout.Hold{Node: n.Name, Reason: rollout.BudgetExhausted})
		}
	}
	return twinSorted(out)
}

func isAvailable(p rollout.Pod) bool { return p.Health == rollout.Available }

// TestProfilesAgainstTwins does the same on generated nodes whose names are unique, and
// without surge never takes more under v1.37 than under v1.27.
func TestProfilesAgainstTwins(t *testing.T) {
	s := seen{}
	for seed := range 2000 {
		in := decode(generate(rand.New(rand.NewPCG(uint64(seed), 3))))
		slices.SortStableFunc(in.Nodes, func(a, b rollout.Node) int { return cmp.Compare(a.Name, b.Name) })
		in.Nodes = slices.CompactFunc(in.Nodes, func(a, b rollout.Node) bool { return a.Name == b.Name })
		in.Prefer = nil
		in.Budget.MaxSurge = 0
		today := rollout.Decide(in)
		for _, profile := range []rollout.Profile{rollout.Kubernetes127, rollout.Kubernetes112} {
			in.Profile = profile
			got := rollout.Decide(in)
			require.Empty(t, gocmp.Diff(profileTwin(in), got), "seed %d, %s", seed, profile)
			if len(got.Deletes) != len(today.Deletes) {
				s[profile.String()]++
			}
			if profile == rollout.Kubernetes127 {
				require.GreaterOrEqual(t, len(got.Deletes), len(today.Deletes), "seed %d", seed)
			}
		}
	}
	t.Log(s)
	require.Positive(t, s["v1.27"])
	require.Positive(t, s["v1.12"])
}

func TestProfileString(t *testing.T) {
	require.Equal(t, "v1.37", rollout.Profile(0).String())
	require.Equal(t, "Profile(9)", rollout.Profile(9).String())
	in := rollout.Input{Nodes: parseNodes(t, "a old:Unhealthy", "b old:Available"), Budget: rollout.Budget{MaxUnavailable: 1}}
	want := rollout.Decide(in)
	in.Profile = 9
	require.Equal(t, want, rollout.Decide(in), "an unknown profile is the default")
}
