package daemonset_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/internal/gen"
)

// state is a situation to measure. Everything beyond the burst is counted as deferred.
type state struct {
	name    string
	make    func(nodes int) gen.Case
	creates func(nodes int) int
	deletes func(nodes int) int
}

func none(int) int                  { return 0 }
func half(nodes int) int            { return nodes / 2 }
func oneInTen(nodes int) int        { return nodes / 10 }
func percent10() intstr.IntOrString { return intstr.FromString("10%") }

func states() []state {
	zero := intstr.FromInt32(0)
	return []state{
		{"steady", func(n int) gen.Case { return written(fleetCase(n, rolling(percent10(), zero), currentPods)) }, none, none},
		{"shuffled", func(n int) gen.Case { return mixed(written(fleetCase(n, rolling(percent10(), zero), currentPods))) }, none, none},
		{"update", func(n int) gen.Case { return written(fleetCase(n, rolling(percent10(), zero), halfUpdated)) }, none, oneInTen},
		{"scaleup", func(n int) gen.Case { return written(fleetCase(n, rolling(percent10(), zero), everySecond)) }, half, none},
		{"surge", func(n int) gen.Case { return written(fleetCase(n, rolling(zero, percent10()), halfUpdated)) }, oneInTen, none},
	}
}

// mixed puts the lists of a case in no order, as an informer's cache does.
func mixed(c gen.Case) gen.Case {
	c.Snapshot = shuffled(c.Snapshot, 1)
	return c
}

// written brings the status up to date, so that a set at rest has an empty plan.
func written(c gen.Case) gen.Case {
	plan, err := daemonset.Compute(c.Snapshot, c.Options)
	if err == nil && plan.Status != nil {
		c.Snapshot.Objects.DaemonSet.Status = *plan.Status
	}
	return c
}

// requireIntended checks that what is measured is what was meant.
func (s state) requireIntended(tb testing.TB, c gen.Case, nodes int) {
	tb.Helper()
	plan, err := daemonset.Compute(c.Snapshot, c.Options)
	require.NoError(tb, err)
	require.Len(tb, plan.Nodes, nodes)
	require.Equal(tb, s.creates(nodes), len(plan.Creates)+plan.Deferred.Creates)
	require.Equal(tb, s.deletes(nodes), len(plan.Deletes)+plan.Deferred.Deletes)
	require.Equal(tb, s.creates(nodes)+s.deletes(nodes) == 0, plan.Empty())
	require.Empty(tb, plan.Reason)
}

func BenchmarkCompute(b *testing.B) {
	for _, s := range states() {
		for _, nodes := range []int{100, 1_000, 5_000, 50_000} {
			b.Run(fmt.Sprintf("state=%s/nodes=%d", s.name, nodes), func(b *testing.B) {
				c := s.make(nodes)
				s.requireIntended(b, c, nodes)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := daemonset.Compute(c.Snapshot, c.Options); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(nodes), "ns/node")
			})
		}
	}
}

// BenchmarkWalk reads what a plan has to read of the same objects, and does nothing with it:
// no planner can be faster.
func BenchmarkWalk(b *testing.B) {
	for _, nodes := range []int{100, 1_000, 5_000, 50_000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			c := states()[0].make(nodes)
			require.Equal(b, 2*nodes, walk(c.Snapshot.Objects))
			b.ReportAllocs()
			for b.Loop() {
				walk(c.Snapshot.Objects)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(nodes), "ns/node")
		})
	}
}

// BenchmarkComputeOverWalk runs both in turn, so that what else the machine does at the time
// falls on both, and reports how many times as long a plan takes: one made in a Scratch, of
// which no reports are read, and one with all that Compute gives.
func BenchmarkComputeOverWalk(b *testing.B) {
	for _, s := range states() {
		b.Run("state="+s.name+"/nodes=5000", func(b *testing.B) {
			const nodes = 5_000
			c := s.make(nodes)
			s.requireIntended(b, c, nodes)
			var scratch daemonset.Scratch
			var reporting, planning, walking turns
			for b.Loop() {
				reporting.took(b, func() { _, _ = daemonset.Compute(c.Snapshot, c.Options) })
				planning.took(b, func() { _, _ = scratch.Compute(c.Snapshot, c.Options) })
				walking.took(b, func() { walk(c.Snapshot.Objects) })
			}
			b.ReportMetric(reporting.shortest()/walking.shortest(), "reported/walk")
			b.ReportMetric(planning.shortest()/walking.shortest(), "plan/walk")
			b.ReportMetric(planning.shortest()/1e3, "plan-µs")
			b.ReportMetric(walking.shortest()/1e3, "walk-µs")
		})
	}
}

// turns are how long something took each time. What else a machine does makes turns longer
// and none shorter, so it is the shortest one that tells.
type turns []time.Duration

// took measures by the benchmark's own clock.
func (t *turns) took(b *testing.B, do func()) {
	b.Helper()
	before := b.Elapsed()
	do()
	*t = append(*t, b.Elapsed()-before)
}

func (t turns) shortest() float64 { return float64(slices.Min(t)) }

// BenchmarkLinearity reports how many times as much a node costs at 100,000 nodes as at 1,000,
// for a plan and for the walk, and the quotient of the two. The objects of 1,000 nodes fit a
// processor's cache and those of 100,000 do not, so the walk's own number is what the plan's
// is to be held against.
func BenchmarkLinearity(b *testing.B) {
	const few, many = 1_000, 100_000
	for _, s := range states() {
		b.Run("state="+s.name, func(b *testing.B) {
			small, large := s.make(few), s.make(many)
			var scratch daemonset.Scratch
			var planFew, planMany, walkFew, walkMany turns
			for b.Loop() {
				for range 10 {
					planFew.took(b, func() { _, _ = scratch.Compute(small.Snapshot, small.Options) })
				}
				planMany.took(b, func() { _, _ = scratch.Compute(large.Snapshot, large.Options) })
				for range 10 {
					walkFew.took(b, func() { walk(small.Snapshot.Objects) })
				}
				walkMany.took(b, func() { walk(large.Snapshot.Objects) })
			}
			plan := planMany.shortest() / planFew.shortest() * few / many
			walk := walkMany.shortest() / walkFew.shortest() * few / many
			b.ReportMetric(plan, "plan-many/few")
			b.ReportMetric(walk, "walk-many/few")
			b.ReportMetric(plan/walk, "plan/walk-growth")
		})
	}
}

// walk reads every field that deciding about these objects takes, in the order of the lists,
// and counts the objects that look like those of a set at rest.
func walk(objects daemonset.Objects) int {
	count := 0
	for _, node := range objects.Nodes {
		if node.Name != "" && len(node.Spec.Taints) == 0 {
			count++
		}
	}
	for _, pod := range objects.Pods {
		controller := metav1.GetControllerOfNoCopy(pod)
		mine := controller != nil && controller.UID == objects.DaemonSet.UID && controller.Name == objects.DaemonSet.Name
		if mine && pod.Namespace == objects.DaemonSet.Namespace && walkPod(pod) {
			count++
		}
	}
	return count
}

func walkPod(pod *corev1.Pod) bool {
	if pod.Name == "" || pod.Labels["app"] != "agent" || pod.Labels[appsv1.ControllerRevisionHashLabelKey] == "" {
		return false
	}
	if pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodFailed || pod.Spec.NodeName == "" {
		return false
	}
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// TestAllocations: at rest the number of allocations of a plan does not depend on the number
// of nodes; what grows is the size of some slices. The rest of it is the template: its patch
// and its copy. An update may allocate for the pods it takes, but not for the others.
func TestAllocations(t *testing.T) {
	allocations := func(s state, nodes int) float64 {
		c := s.make(nodes)
		s.requireIntended(t, c, nodes)
		return testing.AllocsPerRun(20, func() { _, _ = daemonset.Compute(c.Snapshot, c.Options) })
	}
	for _, s := range states() {
		few, many := allocations(s, 500), allocations(s, 4_000)
		t.Logf("%s: %.0f allocations at 500 nodes, %.0f at 4,000", s.name, few, many)
		// Slices that are appended to, maps that grow: a few more each time they double.
		assert.LessOrEqual(t, many, few+60, s.name)
		assert.LessOrEqual(t, few, 600.0, s.name)
	}
}

// TestScratchAllocations: a plan at rest, made in a scratch that has seen a cluster of its
// size, allocates what the template takes and nothing for nodes and pods, in whatever order
// they come.
func TestScratchAllocations(t *testing.T) {
	if detecting {
		t.Skip("the race detector allocates, too")
	}
	var scratch daemonset.Scratch
	spent := func(s state, nodes int) (allocs, bytes float64) {
		c := s.make(nodes)
		s.requireIntended(t, c, nodes)
		plan := func() { _, _ = scratch.Compute(c.Snapshot, c.Options) }
		const runs = 20
		allocs = testing.AllocsPerRun(runs, plan)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range runs {
			plan()
		}
		runtime.ReadMemStats(&after)
		return allocs, float64(after.TotalAlloc-before.TotalAlloc) / runs
	}
	for _, s := range states() {
		if s.name != "steady" && s.name != "shuffled" {
			continue
		}
		fewAllocs, fewBytes := spent(s, 500)
		manyAllocs, manyBytes := spent(s, 4_000)
		t.Logf("%s: %.0f allocations and %.0f bytes at 500 nodes, %.0f and %.0f at 4,000", s.name, fewAllocs, fewBytes, manyAllocs, manyBytes)
		assert.LessOrEqual(t, manyAllocs, fewAllocs+2, s.name)
		assert.LessOrEqual(t, manyBytes, fewBytes+2_000, s.name)
		assert.LessOrEqual(t, fewBytes, 40_000.0, s.name)
	}
}
