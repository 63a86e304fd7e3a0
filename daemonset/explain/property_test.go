package explain_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/explain"
	"github.com/daemonplan/daemonplan/internal/gen"
	"github.com/daemonplan/daemonplan/placement"
)

// runs is how many generated snapshots a property is tried on.
func runs() uint64 {
	if testing.Short() {
		return 200
	}
	return 1000
}

// eachCase makes plans for generated snapshots.
func eachCase(t *testing.T, check func(c gen.Case, plan daemonset.Plan)) {
	t.Helper()
	for seed := range runs() {
		c := gen.Make(gen.Bytes(seed), gen.Options{Lenient: seed%4 == 0})
		plan, err := daemonset.Compute(c.Snapshot, c.Options)
		require.NoError(t, err, "seed %d", seed)
		check(c, plan)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// TestStoriesHoldWhatThePlanHolds: each create and delete, each reason and each instant of the
// plan is in exactly one story or remark, and nothing else is.
func TestStoriesHoldWhatThePlanHolds(t *testing.T) {
	seen := map[string]int{}
	eachCase(t, func(c gen.Case, plan daemonset.Plan) {
		stories := explain.Nodes(c.Snapshot, plan)
		require.Len(t, stories, len(plan.Nodes))
		var creates []daemonset.Create
		var deleted []string
		for i, story := range stories {
			report := plan.Nodes[i]
			assert.Equal(t, report.Name, story.Node)
			assert.Equal(t, report.Verdict.Decision, story.Decision)
			assert.Equal(t, report.Reason, story.Reason)
			assert.Equal(t, report.Until, story.Until)
			assert.Len(t, story.Obstacles, len(report.Verdict.Findings))
			assert.Len(t, story.Pods, len(report.Pods))
			assert.Equal(t, story.Reason == "", story.Why == explain.Meaning{}, "every reason has its words")
			assert.Equal(t, story.Waits(), report.Reason != "" && len(story.Actions) == 0)
			for _, a := range story.Actions {
				assert.NotEmpty(t, a.Why.Next)
				if a.Verb == explain.CreatePod {
					creates = append(creates, daemonset.Create{Node: story.Node, Reason: a.Reason})
					seen["create"]++
					continue
				}
				deleted = append(deleted, story.Node+" "+a.Pod+" "+string(a.Reason))
				seen["delete"]++
			}
			if story.Waits() {
				seen["wait"]++
			}
		}
		for _, r := range explain.Remarks(plan) {
			if r.Subject != "" && r.Reason != daemonset.NodeMissing {
				seen["remark"]++
			}
		}
		assert.ElementsMatch(t, plan.Creates, creates)
		var want []string
		for _, d := range plan.Deletes {
			if _, exists := plan.Node(d.Node); exists {
				want = append(want, d.Node+" "+d.Pod.Name+" "+string(d.Reason))
				continue
			}
			seen["delete on a missing node"]++
			assert.Contains(t, explain.Remarks(plan), explain.Remark{
				Subject: "Pod " + d.Pod.Name, Reason: d.Reason, Why: meaning(t, d.Reason), Detail: "node " + d.Node,
			})
		}
		assert.ElementsMatch(t, want, deleted)
	})
	for _, situation := range []string{"create", "delete", "wait", "remark", "delete on a missing node"} {
		assert.NotZero(t, seen[situation], situation)
	}
}

func meaning(t *testing.T, reason daemonset.Reason) explain.Meaning {
	t.Helper()
	m, ok := explain.OfReason(reason)
	require.True(t, ok, reason)
	return m
}

// TestLiftsLift: the toleration and the label that an obstacle names do lift it.
func TestLiftsLift(t *testing.T) {
	seen := map[placement.Code]int{}
	eachCase(t, func(c gen.Case, plan daemonset.Plan) {
		spec := &c.Snapshot.Objects.DaemonSet.Spec.Template.Spec
		for _, node := range c.Snapshot.Objects.Nodes {
			report, _ := plan.Node(node.Name)
			for _, f := range report.Verdict.Findings {
				o := explain.OfFinding(f, spec, node)
				if o.Toleration == nil && o.Label == nil {
					continue
				}
				seen[f.Code]++
				template, changed := lift(o, spec, node)
				after := placement.NewMatcher(template, c.Options.Placement).Evaluate(changed)
				assert.False(t, slices.ContainsFunc(after.Findings, func(g placement.Finding) bool {
					return g.Code == f.Code && g.Field == f.Field && g.Taint == f.Taint
				}), "%s: %+v", node.Name, o)
			}
		}
	})
	for _, code := range []placement.Code{
		placement.UntoleratedNoScheduleTaint, placement.UntoleratedNoExecuteTaint,
		placement.NodeSelectorMismatch, placement.NodeAffinityMismatch,
	} {
		assert.NotZero(t, seen[code], code)
	}
}

// lift does what an obstacle says would lift it.
func lift(o explain.Obstacle, spec *corev1.PodSpec, node *corev1.Node) (*corev1.PodSpec, *corev1.Node) {
	spec, node = spec.DeepCopy(), node.DeepCopy()
	if o.Toleration != nil {
		spec.Tolerations = append(spec.Tolerations, *o.Toleration)
		return spec, node
	}
	if node.Labels == nil {
		node.Labels = map[string]string{}
	}
	switch {
	case o.Label.Absent:
		delete(node.Labels, o.Label.Key)
	case len(o.Label.Values) > 0:
		node.Labels[o.Label.Key] = o.Label.Values[0]
	default:
		node.Labels[o.Label.Key] = "any"
	}
	return spec, node
}

// TestGroupsHoldEveryNodeOnce, and only nodes with one story share a group.
func TestGroupsHoldEveryNodeOnce(t *testing.T) {
	shared := 0
	eachCase(t, func(c gen.Case, plan daemonset.Plan) {
		stories := explain.Nodes(c.Snapshot, plan)
		var names []string
		for _, g := range explain.Grouped(stories) {
			problems := problemsOf(g.Story)
			require.True(t, slices.IsSorted(g.Nodes))
			assert.Equal(t, g.Nodes[0], g.Story.Node)
			if len(g.Nodes) > 1 {
				shared++
			}
			names = append(names, g.Nodes...)
			for _, name := range g.Nodes {
				report, _ := plan.Node(name)
				assert.Equal(t, g.Story.Decision, report.Verdict.Decision)
				assert.Equal(t, g.Story.Reason, report.Reason)
				story, _ := explain.Node(c.Snapshot, plan, name)
				assert.Equal(t, problems, problemsOf(story))
				assert.Equal(t, g.From.IsZero(), report.Until.IsZero())
				assert.False(t, report.Until.Before(g.From) || report.Until.After(g.Until))
			}
		}
		var want []string
		for _, story := range stories {
			want = append(want, story.Node)
		}
		assert.ElementsMatch(t, want, names)
	})
	assert.NotZero(t, shared)
}

func problemsOf(s explain.Story) []string {
	var problems []string
	for _, o := range s.Obstacles {
		problems = append(problems, o.Problem)
	}
	return problems
}

// TestExplanationsArePure: the input is only read, its order does not matter, and the result
// shares no memory with it.
func TestExplanationsArePure(t *testing.T) {
	eachCase(t, func(c gen.Case, plan daemonset.Plan) {
		before, err := json.Marshal(c.Snapshot)
		require.NoError(t, err)
		stories, err := json.Marshal(explain.Nodes(c.Snapshot, plan))
		require.NoError(t, err)
		after, err := json.Marshal(c.Snapshot)
		require.NoError(t, err)
		require.Equal(t, string(before), string(after))
		slices.Reverse(c.Snapshot.Objects.Nodes)
		slices.Reverse(c.Snapshot.Objects.Pods)
		again, err := json.Marshal(explain.Nodes(c.Snapshot, plan))
		require.NoError(t, err)
		require.Equal(t, string(stories), string(again))
	})
}

// TestHypotheticalAgrees: a node that is there and asked for as if it were not has the story
// that it has.
func TestHypotheticalAgrees(t *testing.T) {
	asked := 0
	eachCase(t, func(c gen.Case, plan daemonset.Plan) {
		if len(c.Snapshot.Objects.Nodes) == 0 {
			return
		}
		asked++
		node := c.Snapshot.Objects.Nodes[0]
		got, err := explain.Hypothetical(c.Snapshot, c.Options, node)
		require.NoError(t, err)
		want, ok := explain.Node(c.Snapshot, plan, node.Name)
		require.True(t, ok)
		want.Hypothetical = true
		assert.Equal(t, want, got)
	})
	assert.NotZero(t, asked)
}
