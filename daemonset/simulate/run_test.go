package simulate_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/plantest"
	"github.com/daemonplan/daemonplan/daemonset/simulate"
)

// steady is a model without chance: bound after 1 s, ready 10 s later, gone after 5 s.
func steady() simulate.Model {
	return simulate.Model{Bind: time.Second, Start: simulate.Span{Min: 10 * time.Second}, Stop: simulate.Span{Min: 5 * time.Second}}
}

func run(t *testing.T, s daemonset.Snapshot, o simulate.Options) simulate.Result {
	t.Helper()
	r, err := simulate.Run(s, o)
	require.NoError(t, err)
	return r
}

func node(t *testing.T, r simulate.Result, name string) simulate.Node {
	t.Helper()
	for _, n := range r.Nodes {
		if n.Name == name {
			return n
		}
	}
	t.Fatalf("no node %s", name)
	return simulate.Node{}
}

// TestTimeline works out by hand what two nodes go through, one after the other.
func TestTimeline(t *testing.T) {
	v1, v2 := plantest.Set("demo/agent"), plantest.Set("demo/agent", plantest.Image("i:v2"), plantest.MinReady(20*time.Second))
	r := run(t, plantest.Snapshot(v2, v1, plantest.Node("a"), plantest.Node("b"), plantest.Pod(v1, "a"), plantest.Pod(v1, "b")),
		simulate.Options{Model: steady()})
	requireConverged(t, r)
	assert.Equal(t, []simulate.Stretch{
		{From: 0, State: simulate.Stopping},
		{From: 5 * time.Second, State: simulate.Starting},
		{From: 36 * time.Second, State: simulate.Updated},
	}, node(t, r, "a").Spans)
	assert.Equal(t, []simulate.Stretch{
		{From: 0, State: simulate.Outdated},
		{From: 36 * time.Second, State: simulate.Stopping},
		{From: 41 * time.Second, State: simulate.Starting},
		{From: 72 * time.Second, State: simulate.Updated},
	}, node(t, r, "b").Spans)
	assert.Equal(t, []simulate.Event{
		{At: 36 * time.Second, What: simulate.Deleted, Pod: "agent-b", Reason: daemonset.Outdated},
		{At: 41 * time.Second, What: simulate.Gone, Pod: "agent-b"},
		{At: 41 * time.Second, What: simulate.Created, Pod: "agent-s00002", Reason: daemonset.MissingPod},
		{At: 42 * time.Second, What: simulate.Bound, Pod: "agent-s00002"},
		{At: 52 * time.Second, What: simulate.Ready, Pod: "agent-s00002"},
		{At: 72 * time.Second, What: simulate.Available, Pod: "agent-s00002"},
	}, node(t, r, "b").Story)
	assert.Equal(t, 72*time.Second, r.Duration)
	assert.Equal(t, simulate.Low{At: 0, Unavailable: 1}, r.Worst)
	assert.Equal(t, simulate.Budget{MaxUnavailable: 1}, r.Proof.Budget)
}

// TestBrokenTemplate: an update to a template that never gets ready stops at the budget.
func TestBrokenTemplate(t *testing.T) {
	model := steady()
	model.StuckRate = 1
	r := run(t, updated(fleet(20, strategy{unavailable: "20%"})), simulate.Options{Model: model})
	assert.Equal(t, simulate.Stalled, r.Outcome)
	assert.Equal(t, 4, r.Worst.Unavailable)
	assert.Zero(t, r.Settled)
	require.Len(t, r.Waits, 2)
	assert.Equal(t, daemonset.BudgetExhausted, r.Waits[0].Reason)
	assert.Len(t, r.Waits[0].Nodes, 16)
	assert.Equal(t, daemonset.PodNotReady, r.Waits[1].Reason)
	assert.Len(t, r.Waits[1].Nodes, 4)

	surge := run(t, updated(fleet(20, strategy{surge: "20%"})), simulate.Options{Model: model})
	assert.Equal(t, simulate.Stalled, surge.Outcome)
	assert.Zero(t, surge.Worst.Unavailable, "with surge it costs nothing")
	assert.Equal(t, 24, surge.PeakPods)
}

// TestFailures: failed pods are replaced, the second and later ones after a backoff that
// doubles, until a limit.
func TestFailures(t *testing.T) {
	model := steady()
	model.FailureRate = 1
	set := plantest.Set("demo/agent")
	r := run(t, plantest.Snapshot(set, plantest.Node("a")), simulate.Options{Model: model, Limit: time.Hour})
	assert.Equal(t, simulate.CutOff, r.Outcome)
	var failed []time.Duration
	for _, e := range node(t, r, "a").Story {
		if e.What == simulate.Created {
			failed = append(failed, e.At)
		}
	}
	// 11 s to fail; backoffs of 1, 2, 4 and 8 s have run out by then, and the next ones take
	// their full time from the last replacement.
	var want []time.Duration
	for _, seconds := range []int{0, 11, 22, 33, 44, 55, 71, 103, 167, 295, 551, 1063, 1963, 2863} {
		want = append(want, time.Duration(seconds)*time.Second)
	}
	assert.Equal(t, want, failed)

	model.FailureRate = 0.3
	requireConverged(t, run(t, updated(fleet(20, strategy{unavailable: "30%"})), simulate.Options{Model: model, Seed: 4}))
}

// TestHostPort: a new pod that wants the old one's port of the node never starts beside it.
func TestHostPort(t *testing.T) {
	v1 := plantest.Set("demo/agent", plantest.MaxSurge("1"))
	v1.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 9100, HostPort: 9100}}
	v2 := v1.DeepCopy()
	plantest.Image("i:v2")(v2)
	s := plantest.Snapshot(v2, v1, plantest.Node("a"), plantest.Node("b"), plantest.Pod(v1, "a"), plantest.Pod(v1, "b"))
	r := run(t, s, simulate.Options{Model: steady()})
	assert.Equal(t, simulate.Stalled, r.Outcome)
	assert.Equal(t, []simulate.Wait{
		{Reason: daemonset.BudgetExhausted, Nodes: []string{"b"}},
		{Reason: daemonset.SurgeWaiting, Nodes: []string{"a"}},
	}, r.Waits)

	replacing := run(t, s, simulate.Options{Model: steady(), Plan: daemonset.Options{Surge: daemonset.SurgeOrReplace}})
	assert.Equal(t, simulate.Complete, replacing.Outcome, simulate.Describe(replacing))
	assert.True(t, replacing.Proof.Held())

	v2.Spec.Template.Spec.Containers[0].Ports[0].Protocol = corev1.ProtocolUDP
	apart := run(t, plantest.Snapshot(v2, v1, plantest.Node("a"), plantest.Pod(v1, "a")), simulate.Options{Model: steady()})
	assert.Equal(t, simulate.Complete, apart.Outcome, "another protocol is another port")
}

// TestAsFound: what the snapshot says is stuck stays so, and what is under way goes on.
func TestAsFound(t *testing.T) {
	set := plantest.Set("demo/agent", plantest.MaxUnavailable("3"))
	long := plantest.Pod(set, "old", plantest.NotReady())
	gone := plantest.Pod(set, "dying", plantest.Terminating())
	held := plantest.Pod(set, "held", plantest.Terminating())
	held.Finalizers = []string{"example.com/hold"}
	r := run(t, plantest.Snapshot(set, set,
		plantest.Node("old"), plantest.Node("young"), plantest.Node("dying"), plantest.Node("held"), plantest.Node("lost", plantest.Unreachable()),
		long, plantest.Pod(set, "young", plantest.Starting()), gone, held, plantest.Pod(set, "lost", plantest.Terminating()),
		plantest.Pod(set, "nowhere"),
	), simulate.Options{Model: steady()})
	assert.Equal(t, simulate.Stalled, r.Outcome)
	assert.Equal(t, []simulate.Wait{
		{Reason: daemonset.PodNotReady, Nodes: []string{"old"}},
		{Reason: daemonset.TerminatingPod, Nodes: []string{"held", "lost"}},
	}, r.Waits)
	assert.Equal(t, []simulate.Stretch{{State: simulate.Starting}, {From: 10 * time.Second, State: simulate.Updated}}, node(t, r, "young").Spans)
	assert.Equal(t, 30*time.Second, node(t, r, "dying").Spans[1].From, "when its grace period is over")
	for _, pod := range r.Final.Objects.Pods {
		assert.NotEqual(t, "agent-nowhere", pod.Name, "the pod of a node that is gone is collected")
	}
}

// TestOnDelete: nothing happens until somebody deletes.
func TestOnDelete(t *testing.T) {
	r := run(t, updated(fleet(5, strategy{unavailable: "OnDelete"})), simulate.Options{Model: steady()})
	assert.Equal(t, simulate.Stalled, r.Outcome)
	require.Len(t, r.Waits, 1)
	assert.Equal(t, daemonset.UpdateOnDelete, r.Waits[0].Reason)
	assert.Zero(t, r.Proof.Steps)
}

// TestSlowNodes take their factor.
func TestSlowNodes(t *testing.T) {
	model := steady()
	model.SlowRate, model.SlowFactor = 1, 3
	set := plantest.Set("demo/agent")
	r := run(t, plantest.Snapshot(set, plantest.Node("a")), simulate.Options{Model: model})
	assert.True(t, r.Nodes[0].Slow)
	assert.Equal(t, 31*time.Second, r.Duration)
}

// TestShares: of many nodes about the given share has the fortune.
func TestShares(t *testing.T) {
	model := steady()
	model.SlowRate, model.SlowFactor, model.StuckRate = 0.1, 2, 0.2
	r := run(t, updated(fleet(2_000, strategy{unavailable: "100%"})), simulate.Options{Model: model, Seed: 9})
	slow := 0
	for _, n := range r.Nodes {
		if n.Slow {
			slow++
		}
	}
	assert.InDelta(t, 200, slow, 60)
	assert.InDelta(t, 1_600, r.Settled, 80)
}

// TestRefused: a model that makes no sense, and a snapshot without a plan.
func TestRefused(t *testing.T) {
	s := plantest.Snapshot(plantest.Set("demo/agent"), plantest.Node("a"))
	for field, bend := range map[string]func(*simulate.Model){
		"bind":        func(m *simulate.Model) { m.Bind = -1 },
		"start.min":   func(m *simulate.Model) { m.Start.Min = math.MaxInt64 },
		"start.max":   func(m *simulate.Model) { m.Start.Max, m.SlowFactor = math.MaxInt64/2, 4 },
		"stop.min":    func(m *simulate.Model) { m.Stop.Min = -1 },
		"stop.max":    func(m *simulate.Model) { m.Stop.Max = -1 },
		"failureRate": func(m *simulate.Model) { m.FailureRate = math.NaN() },
		"stuckRate":   func(m *simulate.Model) { m.StuckRate = 1.1 },
		"slowRate":    func(m *simulate.Model) { m.SlowRate = -0.1 },
	} {
		model := simulate.DefaultModel()
		bend(&model)
		_, err := simulate.Run(s, simulate.Options{Model: model})
		assert.ErrorContains(t, err, "model."+field)
	}
	s.Objects.DaemonSet.Spec.Selector = nil
	_, err := simulate.Run(s, simulate.Options{})
	var invalid *daemonset.InvalidError
	assert.ErrorAs(t, err, &invalid)
}

// TestProgress is told of every instant, and of the end last.
func TestProgress(t *testing.T) {
	var last simulate.Progress
	calls := 0
	r := run(t, updated(fleet(5, strategy{})), simulate.Options{Model: steady(), Progress: func(p simulate.Progress) {
		assert.GreaterOrEqual(t, p.At, last.At)
		last = p
		calls++
	}})
	assert.Equal(t, simulate.Progress{At: r.Duration, Passes: r.Passes, Desired: 5, Settled: 5}, last)
	assert.GreaterOrEqual(t, calls, len(r.Curve))
}
