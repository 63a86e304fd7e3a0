package simulate_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/plantest"
	"github.com/daemonplan/daemonplan/daemonset/simulate"
	"github.com/daemonplan/daemonplan/rollout"
)

func nodes(names ...string) []runtime.Object {
	var list []runtime.Object
	for _, name := range names {
		list = append(list, plantest.Node(name))
	}
	return list
}

// TestAudit bends good plans, so that each rule is seen to be broken.
func TestAudit(t *testing.T) {
	budget := func(options ...plantest.SetOption) (old, cur *plantestSet) {
		v1 := plantest.Set("demo/agent", options...)
		v2 := plantest.Set("demo/agent", append(options, plantest.Image("i:v2"))...)
		return &plantestSet{v1}, &plantestSet{v2}
	}
	remove := func(names ...string) func(*daemonset.Plan) {
		return func(p *daemonset.Plan) {
			for _, name := range names {
				p.Deletes = append(p.Deletes, daemonset.Delete{Pod: daemonset.Ref{Name: "agent-" + name}, Node: name})
			}
		}
	}
	place := func(names ...string) func(*daemonset.Plan) {
		return func(p *daemonset.Plan) {
			for _, name := range names {
				p.Creates = append(p.Creates, daemonset.Create{Node: name})
			}
		}
	}
	one, oneNew := budget(plantest.MaxUnavailable("1"))
	surge, surgeNew := budget(plantest.MaxSurge("1"))
	onDelete, onDeleteNew := budget(plantest.OnDelete())
	tests := []struct {
		name, why string
		give      daemonset.Snapshot
		bend      func(*daemonset.Plan)
		want      []simulate.Violation
	}{
		{
			"one taken", "the budget is one",
			oneNew.with(nodes("a", "b", "c"), one.pod("a"), one.pod("b"), one.pod("c")), remove("a"), nil,
		},
		{
			"two taken", "of a budget of one",
			oneNew.with(nodes("a", "b", "c"), one.pod("a"), one.pod("b"), one.pod("c")), remove("b", "a"),
			[]simulate.Violation{{Pass: 1, Rule: simulate.MaxUnavailable, Limit: 1, Got: 2, Nodes: []string{"a", "b"}}},
		},
		{
			"one taken beside one that is down", "what failed by itself counts",
			oneNew.with(nodes("a", "b"), one.pod("a"), one.pod("b", plantest.NotReady())), remove("a"),
			[]simulate.Violation{{Pass: 1, Rule: simulate.MaxUnavailable, Limit: 1, Got: 2, Nodes: []string{"a"}}},
		},
		{
			"many that are down", "they serve nobody",
			oneNew.with(nodes("a", "b"), one.pod("a", plantest.NotReady()), one.pod("b", plantest.Terminating())), remove("a"), nil,
		},
		{
			"one of two", "one of them is too many",
			one.with(nodes("a"), one.pod("a"), one.pod("a", plantest.Named("agent-second"))), remove("second"), nil,
		},
		{
			"one on a node that should have none", "it does not count there",
			oneNew.with([]runtime.Object{plantest.Node("a", plantest.Taint("x:NoExecute")), plantest.Node("b")}, one.pod("a"), one.pod("b", plantest.NotReady())),
			remove("a"), nil,
		},
		{
			"any with surge", "an update takes none",
			surgeNew.with(nodes("a", "b"), surge.pod("a"), surge.pod("b")), remove("a"),
			[]simulate.Violation{{Pass: 1, Rule: simulate.MaxUnavailable, Limit: 0, Got: 1, Nodes: []string{"a"}}},
		},
		{
			"any with OnDelete", "somebody else deletes",
			onDeleteNew.with(nodes("a", "b"), onDelete.pod("a"), onDelete.pod("b")), remove("a"),
			[]simulate.Violation{{Pass: 1, Rule: simulate.MaxUnavailable, Limit: 0, Got: 1, Nodes: []string{"a"}}},
		},
		{
			"the old one when the new one is available", "that is the end of a surge",
			surgeNew.with(nodes("a"), surge.pod("a"), surgeNew.pod("a", plantest.Named("agent-new"))), remove("a"), nil,
		},
		{
			"two surges", "of a budget of one",
			surgeNew.with(nodes("a", "b"), surge.pod("a"), surge.pod("b")), place("a", "b"),
			[]simulate.Violation{{Pass: 1, Rule: simulate.MaxSurge, Limit: 1, Got: 2, Nodes: []string{"a", "b"}}},
		},
		{
			"a surge beside one under way", "it counts until the new pod is available",
			surgeNew.with(nodes("a", "b"), surge.pod("a"), surge.pod("b"), surgeNew.pod("b", plantest.Named("agent-new"), plantest.Starting())), place("a"),
			[]simulate.Violation{{Pass: 1, Rule: simulate.MaxSurge, Limit: 1, Got: 2, Nodes: []string{"a"}}},
		},
		{
			"a second pod", "without surge there is one",
			oneNew.with(nodes("a"), one.pod("a")), place("a"),
			[]simulate.Violation{{Pass: 1, Rule: simulate.OnePod, Got: 1, Nodes: []string{"a"}}},
		},
		{
			"two pods at once", "",
			oneNew.with(nodes("a")), place("a", "a"),
			[]simulate.Violation{{Pass: 1, Rule: simulate.OnePod, Got: 1, Nodes: []string{"a"}}},
		},
		{
			"a second current pod", "also with surge",
			surgeNew.with(nodes("a"), surgeNew.pod("a", plantest.Starting())), place("a"),
			[]simulate.Violation{{Pass: 1, Rule: simulate.OnePod, Got: 1, Nodes: []string{"a"}}},
		},
		{
			"a pod where none belongs", "or where there is no node",
			oneNew.with([]runtime.Object{plantest.Node("a", plantest.Taint("x:NoSchedule"))}), place("a", "gone"),
			[]simulate.Violation{{Pass: 1, Rule: simulate.RightNode, Got: 2, Nodes: []string{"a", "gone"}}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan := plantest.Compute(t, tt.give)
			require.Empty(t, simulate.Audit(tt.give, plan, daemonset.Options{}), "the plan itself")
			plan.Creates, plan.Deletes = nil, nil
			tt.bend(&plan)
			assert.Equal(t, tt.want, simulate.Audit(tt.give, plan, daemonset.Options{}), tt.why)
		})
	}
	assert.Nil(t, simulate.Audit(daemonset.Snapshot{}, daemonset.Plan{}, daemonset.Options{}), "without a set")
}

// plantestSet makes tables short.
type plantestSet struct{ *appsv1.DaemonSet }

func (s *plantestSet) pod(node string, options ...plantest.PodOption) *corev1.Pod {
	return plantest.Pod(s.DaemonSet, node, options...)
}

func (s *plantestSet) with(nodes []runtime.Object, pods ...*corev1.Pod) daemonset.Snapshot {
	for _, pod := range pods {
		nodes = append(nodes, pod)
	}
	return plantest.Snapshot(s.DaemonSet, nodes...)
}

// TestOldRulesBreakBudgets: up to v1.27, Kubernetes did not count the pods that it replaced
// because they were down anyway. The simulation says so in its proof and its text.
func TestOldRulesBreakBudgets(t *testing.T) {
	v1 := plantest.Set("demo/agent", plantest.MaxUnavailable("1"))
	v2 := plantest.Set("demo/agent", plantest.MaxUnavailable("1"), plantest.Image("i:v2"))
	s := plantest.Snapshot(v2, v1, v2, plantest.Node("a"), plantest.Node("b"), plantest.Node("c"),
		plantest.Pod(v1, "a", plantest.NotReady()), plantest.Pod(v1, "b"), plantest.Pod(v1, "c"))
	now, err := simulate.Run(s, simulate.Options{Model: simulate.DefaultModel()})
	require.NoError(t, err)
	requireConverged(t, now)

	then, err := simulate.Run(s, simulate.Options{Model: simulate.DefaultModel(), Plan: daemonset.Options{Profile: rollout.Kubernetes127}})
	require.NoError(t, err)
	assert.False(t, then.Proof.Held())
	assert.Equal(t, simulate.Violation{Pass: 1, Rule: simulate.MaxUnavailable, Limit: 1, Got: 2, Nodes: []string{"b"}}, then.Proof.Violations[0])
	assert.Contains(t, simulate.Describe(then), "broken     MaxUnavailable at 0s: 2, allowed 1: b\n")
	assert.Contains(t, simulate.Describe(then), "budgets    BROKEN ")
}
