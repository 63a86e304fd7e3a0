package simulate_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/simulate"
	"github.com/daemonplan/daemonplan/internal/gen"
)

// models are the fortunes that a generated case is put through.
func models(seed uint64) simulate.Model {
	all := []simulate.Model{
		{},
		simulate.DefaultModel(),
		{Bind: time.Second, Start: simulate.Span{Min: time.Second, Max: 9 * time.Second}, Stop: simulate.Span{Max: 5 * time.Second}, FailureRate: 0.3},
		{Start: simulate.Span{Min: 3 * time.Second}, StuckRate: 0.4, SlowRate: 0.5, SlowFactor: 3},
		{Start: simulate.Span{Max: time.Minute}, Stop: simulate.Span{Max: time.Minute}, Resolution: 7 * time.Second},
	}
	return all[seed%uint64(len(all))]
}

func encode(t *testing.T, r simulate.Result) string {
	t.Helper()
	text, err := json.Marshal(r)
	require.NoError(t, err)
	final, err := json.Marshal(r.Final)
	require.NoError(t, err)
	return simulate.Describe(r) + string(text) + string(final)
}

// TestGenerated puts generated clusters through simulations. Whatever they hold: planning
// from what has changed alone changes nothing, nor does running again, inputs stay as they are, and no
// budget is broken.
func TestGenerated(t *testing.T) {
	outcomes := map[simulate.Outcome]int{}
	for seed := range uint64(cases(t)) {
		c := gen.Make(gen.Bytes(seed), gen.Options{Nodes: 30, Lenient: seed%3 == 0, Rewritten: true})
		before, err := json.Marshal(c.Snapshot)
		require.NoError(t, err)
		o := simulate.Options{Model: models(seed), Seed: seed, Plan: c.Options, Limit: 2 * time.Hour, Passes: 600}
		if seed%11 == 0 {
			o.Passes = 3
		}
		first, err := simulate.Run(c.Snapshot, o)
		require.NoError(t, err, seed)
		after, err := json.Marshal(c.Snapshot)
		require.NoError(t, err)
		require.Equal(t, string(before), string(after), "seed %d: the snapshot was written to", seed)

		o.Whole = true
		whole, err := simulate.Run(c.Snapshot, o)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(encode(t, whole), encode(t, first)), "seed %d", seed)
		require.Empty(t, first.Proof.Violations, "seed %d", seed)
		checkStory(t, first, seed)
		outcomes[first.Outcome]++
	}
	t.Log(outcomes)
	assert.NotZero(t, outcomes[simulate.Complete])
	assert.NotZero(t, outcomes[simulate.Stalled])
	assert.NotZero(t, outcomes[simulate.CutOff])
}

func cases(t *testing.T) int {
	t.Helper()
	if testing.Short() {
		return 300
	}
	return 1500
}

// checkStory holds the parts of a result against each other.
func checkStory(t *testing.T, r simulate.Result, seed uint64) {
	t.Helper()
	for _, n := range r.Nodes {
		require.NotEmpty(t, n.Spans)
		require.Zero(t, n.Spans[0].From)
		for i := 1; i < len(n.Spans); i++ {
			require.Less(t, n.Spans[i-1].From, n.Spans[i].From, seed)
			require.NotEqual(t, n.Spans[i-1].State, n.Spans[i].State, seed)
		}
		for i := 1; i < len(n.Story); i++ {
			require.LessOrEqual(t, n.Story[i-1].At, n.Story[i].At)
		}
	}
	worst, pods := 0, 0
	for i, p := range r.Curve {
		require.True(t, i == 0 || r.Curve[i-1].At < p.At, seed)
		worst, pods = max(worst, r.Desired-p.Available), max(pods, p.Pods)
		require.LessOrEqual(t, p.Settled, p.Available)
		require.Equal(t, p.Available, availableAt(r, p.At), "seed %d at %s", seed, p.At)
	}
	require.Equal(t, worst, r.Worst.Unavailable, seed)
	require.Equal(t, pods, r.PeakPods, seed)
	zones := 0
	for _, z := range r.Zones {
		zones += z.Desired
		require.LessOrEqual(t, z.Worst.Unavailable, min(z.Desired, r.Worst.Unavailable))
	}
	require.Equal(t, r.Desired, zones)
}

func availableAt(r simulate.Result, at time.Duration) int {
	available := 0
	for _, n := range r.Nodes {
		state := simulate.Idle
		for _, s := range n.Spans {
			if s.From <= at {
				state = s.State
			}
		}
		if n.Eligible && state.Available() {
			available++
		}
	}
	return available
}

// TestConverges changes the image of sets at rest: when nothing fails, every node that should
// run a pod has one current available pod at the end, and the status says so.
func TestConverges(t *testing.T) {
	for _, s := range []strategy{
		{},
		{unavailable: "3"},
		{unavailable: "30%"},
		{unavailable: "100%"},
		{surge: "1"},
		{surge: "30%"},
		{unavailable: "2", minReady: 15},
		{surge: "2", minReady: 15},
	} {
		for seed := range uint64(5) {
			t.Run(fmt.Sprintf("%+v/%d", s, seed), func(t *testing.T) {
				r, err := simulate.Run(updated(fleet(20, s)), simulate.Options{Model: simulate.DefaultModel(), Seed: seed})
				require.NoError(t, err)
				requireConverged(t, r)
				writes := map[string]int{}
				for _, w := range r.Writes {
					writes[w.Verb+" "+w.Resource] = w.Count
				}
				assert.Equal(t, 20, writes["create pods"])
				assert.Equal(t, 20, writes["delete pods"])
				assert.Equal(t, 1, writes["create controllerrevisions"])
				if s.surge == "" {
					assert.Equal(t, 20, r.PeakPods)
					assert.LessOrEqual(t, r.Worst.Unavailable, r.Proof.Budget.MaxUnavailable)
				} else {
					assert.Zero(t, r.Worst.Unavailable)
				}
			})
		}
	}
}

func requireConverged(t *testing.T, r simulate.Result) {
	t.Helper()
	require.Equal(t, simulate.Complete, r.Outcome, simulate.Describe(r))
	require.Empty(t, r.Waits)
	require.True(t, r.Proof.Held())
	require.Equal(t, r.Desired, r.Settled)
	require.Len(t, r.Final.Objects.Pods, r.Desired)
	plan, err := daemonset.Compute(r.Final, daemonset.Options{})
	require.NoError(t, err)
	require.True(t, plan.Empty(), daemonset.Describe(plan))
	nodes := map[string]bool{}
	for _, pod := range r.Final.Objects.Pods {
		require.Equal(t, r.Revision.Hash, pod.Labels[appsv1.ControllerRevisionHashLabelKey])
		require.Nil(t, pod.DeletionTimestamp)
		nodes[pod.Spec.NodeName] = true
	}
	require.Len(t, nodes, r.Desired)
	status := r.Final.Objects.DaemonSet.Status
	require.EqualValues(t, r.Desired, status.NumberAvailable)
	require.EqualValues(t, r.Desired, status.UpdatedNumberScheduled)
}

// TestSeed: the same seed gives the same bytes, another one another course.
func TestSeed(t *testing.T) {
	s := updated(fleet(20, strategy{unavailable: "3"}))
	run := func(seed uint64) string {
		r, err := simulate.Run(s, simulate.Options{Model: simulate.DefaultModel(), Seed: seed})
		require.NoError(t, err)
		r.Seed = 0
		return encode(t, r)
	}
	assert.Equal(t, run(1), run(1))
	assert.NotEqual(t, run(1), run(2))
}
