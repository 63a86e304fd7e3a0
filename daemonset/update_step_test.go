package daemonset_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/internal/gen"
	"github.com/daemonplan/daemonplan/rollout"
)

// TestUpdateIsRollouts: where a plan updates, it does to the letter what rollout.Decide says
// of the nodes that it reports, whatever the profile and the preference.
func TestUpdateIsRollouts(t *testing.T) {
	backwards := func(a, b rollout.Node) int { return strings.Compare(b.Name, a.Name) }
	saw := map[string]int{}
	for seed := range uint64(2000) {
		c := gen.Make(gen.Bytes(seed), gen.Options{Nodes: 30})
		c.Options.Burst = 1000
		c.Options.Profile = rollout.Profile(seed % 3)
		if seed%2 == 0 {
			c.Options.Prefer = backwards
		}
		plan, err := daemonset.Compute(c.Snapshot, c.Options)
		require.NoError(t, err)
		if !updates(c.Snapshot.Objects.DaemonSet, plan) || len(plan.Findings) > 0 { // which may be of a node that is not reported
			continue
		}
		want, got := decided(t, c, plan), done(plan)
		require.Equal(t, want, got, "seed %d", seed)
		saw[fmt.Sprintf("profile %s, prefer %v", c.Options.Profile, c.Options.Prefer != nil)] += len(got)
	}
	t.Log(saw)
	assert.Len(t, saw, 6)
}

// updates reports whether a plan comes from the update step, and all of it: each node by
// itself has what it should have, and nothing else is a reason to wait.
func updates(set *appsv1.DaemonSet, plan daemonset.Plan) bool {
	if set.Spec.UpdateStrategy.Type != appsv1.RollingUpdateDaemonSetStrategyType || plan.Reason != "" {
		return false
	}
	perNode := []daemonset.Reason{
		daemonset.MissingPod, daemonset.NoLivePod, daemonset.FailedPod, daemonset.SucceededPod, daemonset.ExcessPod,
		daemonset.OutdatedNotReady, daemonset.NodeUnsuitable, daemonset.SurgeComplete, daemonset.FailedPodBackoff,
	}
	return !slices.ContainsFunc(plan.Nodes, func(r daemonset.NodeReport) bool { return slices.Contains(perNode, r.Reason) })
}

// decided is what rollout says of the nodes that a plan reports, a line for each of its steps.
func decided(t *testing.T, c gen.Case, plan daemonset.Plan) []string {
	t.Helper()
	in := rollout.Input{Prefer: c.Options.Prefer, Profile: c.Options.Profile}
	for _, report := range plan.Nodes {
		n := rollout.Node{Name: report.Name, Eligible: report.Verdict.Decision.Wants()}
		for _, on := range report.Pods {
			if on.State != daemonset.Terminating {
				n.Pods = append(n.Pods, rollout.Pod{Name: on.Ref.Name, UID: on.Ref.UID, Current: on.Current, Health: on.Health})
			}
		}
		if n.Eligible {
			in.Desired++
		}
		if n.Eligible || len(report.Pods) > 0 {
			in.Nodes = append(in.Nodes, n)
		}
	}
	var err error
	in.Budget, err = rollout.BudgetFor(c.Snapshot.Objects.DaemonSet.Spec.UpdateStrategy, in.Desired)
	require.NoError(t, err)
	if in.Profile == rollout.Kubernetes112 && in.Budget.MaxSurge > 0 {
		in.Budget = rollout.Budget{MaxUnavailable: max(in.Budget.MaxUnavailable, min(in.Desired, 1))}
	}
	var lines []string
	result := rollout.Decide(in)
	for _, d := range result.Deletes {
		lines = append(lines, fmt.Sprintf("%s delete %s %s", d.Node, d.Pod.Name, d.Reason))
	}
	for _, s := range result.Surges {
		lines = append(lines, fmt.Sprintf("%s create %s", s.Node, s.Reason))
	}
	for _, h := range result.Holds {
		lines = append(lines, fmt.Sprintf("%s hold %s", h.Node, h.Reason))
	}
	slices.Sort(lines)
	return lines
}

// done is what a plan does, and where an update waits, in the same form.
func done(plan daemonset.Plan) []string {
	var lines []string
	for _, d := range plan.Deletes {
		lines = append(lines, fmt.Sprintf("%s delete %s %s", d.Node, d.Pod.Name, d.Reason))
	}
	for _, c := range plan.Creates {
		lines = append(lines, fmt.Sprintf("%s create %s", c.Node, c.Reason))
	}
	holds := []daemonset.Reason{daemonset.BudgetExhausted, daemonset.SurgeBlocked, daemonset.SurgeWaiting, daemonset.ExcessPods, daemonset.AvailabilityShort}
	for _, report := range plan.Nodes {
		if slices.Contains(holds, report.Reason) {
			lines = append(lines, fmt.Sprintf("%s hold %s", report.Name, report.Reason))
		}
	}
	slices.Sort(lines)
	return lines
}
