package status_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/status"
	"github.com/daemonplan/daemonplan/internal/gen"
	"github.com/daemonplan/daemonplan/rollout"
)

// TestVerdictsAreTrue holds every verdict to what the plan says by itself.
func TestVerdictsAreTrue(t *testing.T) {
	seen := map[status.Phase]int{}
	eachCase(t, func(c gen.Case, plan daemonset.Plan, r status.Report) {
		seen[r.Phase]++
		acts := len(plan.Creates)+len(plan.Deletes) > 0
		open := slices.IndexFunc(plan.Nodes, func(n daemonset.NodeReport) bool { return !done(n) })
		switch r.Phase {
		case status.Complete:
			assert.True(t, !acts && open < 0 && plan.Reason == "")
			assert.Equal(t, r.Counts.Desired, r.Counts.Available)
			assert.Equal(t, r.Counts.Desired, r.Counts.Updated)
			assert.Equal(t, r.Counts.Desired, r.Counts.Done)
			assert.GreaterOrEqual(t, r.Observed, r.Generation)
		case status.Progressing:
			assert.True(t, acts || r.Observed < r.Generation || plan.Reason == daemonset.RevisionCollision)
		case status.Waiting:
			assert.False(t, acts)
			assert.True(t, open >= 0 || plan.Reason == daemonset.WritesPending)
			moves := plan.Reason == daemonset.WritesPending || !r.Until.IsZero() || slices.ContainsFunc(r.Troubles, func(t status.Trouble) bool { return !t.Over })
			assert.True(t, moves, "something has to bring it on")
		case status.Stuck:
			assert.True(t, open >= 0 || plan.Reason == daemonset.SelectsEverything)
			for _, trouble := range r.Troubles {
				assert.True(t, trouble.Over || trouble.Node == "", "%+v", trouble)
			}
		case status.Paused:
			assert.False(t, acts)
			assert.Positive(t, r.Counts.OnDelete)
		case status.Terminating:
			assert.Equal(t, daemonset.SetDeleting, plan.Reason)
		}
		checkTroubles(t, c.Snapshot.Now, r)
		checkConditions(t, r)
	})
	for _, phase := range []status.Phase{status.Complete, status.Progressing, status.Waiting, status.Stuck, status.Paused} {
		assert.NotZero(t, seen[phase], phase)
	}
}

// done is what the package documentation says: an available pod of the current revision and
// nothing else, or nothing to wait for on a node that takes none.
func done(n daemonset.NodeReport) bool {
	outdated := slices.ContainsFunc(n.Pods, func(on daemonset.PodReport) bool { return !on.Current && on.State != daemonset.Terminating })
	if !n.Verdict.Decision.Wants() {
		return !outdated
	}
	return n.Reason == "" && !outdated && slices.ContainsFunc(n.Pods, func(on daemonset.PodReport) bool {
		return on.Current && on.State == daemonset.Live && on.Health == rollout.Available
	})
}

func checkTroubles(t *testing.T, now time.Time, r status.Report) {
	t.Helper()
	for _, trouble := range r.Troubles {
		if trouble.Over && !trouble.Until.IsZero() {
			assert.False(t, trouble.Until.After(now), "%+v", trouble)
		}
		if !trouble.Over {
			assert.True(t, trouble.Until.After(now), "%+v", trouble)
		}
	}
	_, err := json.Marshal(r)
	require.NoError(t, err)
}

func checkConditions(t *testing.T, r status.Report) {
	t.Helper()
	conditions := r.Conditions(nil)
	require.Len(t, conditions, 3)
	progressing, stalled := conditions[1].Status == metav1.ConditionTrue, conditions[2].Status == metav1.ConditionTrue
	assert.False(t, progressing && stalled)
	assert.Equal(t, r.KStatus() == "InProgress", progressing)
	assert.Equal(t, r.KStatus() == "Failed", stalled)
	for _, c := range conditions {
		assert.NotEmpty(t, c.Reason)
		assert.Equal(t, r.Generation, c.ObservedGeneration)
	}
}

// TestCountsAreThePlans: the first seven are those of the status that the plan would write.
func TestCountsAreThePlans(t *testing.T) {
	eachCase(t, func(c gen.Case, plan daemonset.Plan, r status.Report) {
		want := &c.Snapshot.Objects.DaemonSet.Status
		if plan.Status != nil {
			want = plan.Status
		}
		assert.EqualValues(t, want.DesiredNumberScheduled, r.Counts.Desired)
		assert.EqualValues(t, want.CurrentNumberScheduled, r.Counts.Current)
		assert.EqualValues(t, want.NumberReady, r.Counts.Ready)
		assert.EqualValues(t, want.UpdatedNumberScheduled, r.Counts.Updated)
		assert.EqualValues(t, want.NumberAvailable, r.Counts.Available)
		assert.EqualValues(t, want.NumberUnavailable, r.Counts.Unavailable)
		assert.EqualValues(t, want.NumberMisscheduled, r.Counts.Misscheduled)
	})
}

// TestReportsArePure: the order of the input does not matter, it is only read, and patience
// never makes anything stuck.
func TestReportsArePure(t *testing.T) {
	relieved := 0
	eachCase(t, func(c gen.Case, plan daemonset.Plan, r status.Report) {
		patient, err := status.Of(c.Snapshot, status.Options{Deadline: 1000 * time.Hour, Plan: c.Options})
		require.NoError(t, err)
		if r.Phase == status.Stuck && patient.Phase != status.Stuck {
			relieved++
		}
		if patient.Phase == status.Stuck {
			assert.Equal(t, status.Stuck, r.Phase)
		}
		before, err := json.Marshal(c.Snapshot)
		require.NoError(t, err)
		s := c.Snapshot
		s.Objects.Nodes, s.Objects.Pods = slices.Clone(s.Objects.Nodes), slices.Clone(s.Objects.Pods)
		slices.Reverse(s.Objects.Nodes)
		slices.Reverse(s.Objects.Pods)
		again := status.Assess(s, plan, status.Options{Plan: c.Options})
		assert.Equal(t, r, again)
		after, err := json.Marshal(c.Snapshot)
		require.NoError(t, err)
		assert.Equal(t, string(before), string(after))
	})
	assert.NotZero(t, relieved)
}

func eachCase(t *testing.T, check func(c gen.Case, plan daemonset.Plan, r status.Report)) {
	t.Helper()
	runs := uint64(2000)
	if testing.Short() {
		runs = 400
	}
	for seed := range runs {
		c := gen.Make(gen.Bytes(seed), gen.Options{Lenient: seed%4 == 0})
		if seed%3 == 0 { // long after everything that happened
			c.Snapshot.Now = c.Snapshot.Now.Add(24 * time.Hour)
		}
		plan, err := daemonset.Compute(c.Snapshot, c.Options)
		require.NoError(t, err)
		check(c, plan, status.Assess(c.Snapshot, plan, status.Options{Plan: c.Options}))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestConditionsKeepTheirTransitionTime(t *testing.T) {
	r, err := status.Of(gen.Make(nil, gen.Options{}).Snapshot, status.Options{})
	require.NoError(t, err)
	first := r.Conditions(nil)
	for _, c := range first {
		assert.True(t, c.LastTransitionTime.Time.Equal(r.At))
	}
	r.At = r.At.Add(time.Hour)
	assert.Equal(t, first, r.Conditions(first), "the same status since then")
	r.Phase = status.Stuck
	later := r.Conditions(first)
	assert.Equal(t, first[0], later[0])
	assert.True(t, later[2].LastTransitionTime.Time.Equal(r.At))
}
