package daemonset_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/internal/gen"
)

// tracked is a planner that knows of all objects of a case and has made its first plan.
type tracked struct {
	*daemonset.Planner
	gen.Case
	moment daemonset.Moment
}

func track(tb testing.TB, c gen.Case) *tracked {
	tb.Helper()
	t := &tracked{Planner: daemonset.NewPlanner(c.Options), Case: c}
	s := c.Snapshot
	t.moment = daemonset.Moment{Now: s.Now, Pending: s.Pending, Backoff: s.Backoff, Suspended: s.Suspended}
	t.SetDaemonSet(s.Objects.DaemonSet)
	for _, o := range s.Objects.Nodes {
		t.PutNode(o)
	}
	for _, o := range s.Objects.Pods {
		t.PutPod(o)
	}
	for _, o := range s.Objects.Revisions {
		t.PutRevision(o)
	}
	t.plan(tb)
	return t
}

func (t *tracked) plan(tb testing.TB) daemonset.Plan {
	tb.Helper()
	plan, err := t.Plan(t.moment)
	if err != nil {
		tb.Fatal(err)
	}
	return plan
}

// change is something that happens again and again: do is what happens, and renew puts another
// object in the place of the one that it will give, as one that has just arrived.
type change struct {
	name      string
	do, renew func(i int)
}

func plannerChanges(t *tracked) []change {
	pods := alternatives(t.Snapshot.Objects.Pods, func(pod *corev1.Pod) { pod.Status.Conditions = nil })
	taint := corev1.Taint{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}
	nodes := alternatives(t.Snapshot.Objects.Nodes, func(node *corev1.Node) { node.Spec.Taints = []corev1.Taint{taint} })
	set := t.Snapshot.Objects.DaemonSet
	other := set.DeepCopy()
	other.Status.Conditions = append(other.Status.Conditions, appsv1.DaemonSetCondition{Type: "Written"})
	nothing := func(int) {}
	return []change{
		{"none", nothing, nothing},
		{"time", func(int) { t.moment.Now = t.moment.Now.Add(time.Millisecond) }, nothing},
		{"pod", func(i int) { t.PutPod(*at(pods, i)) }, func(i int) { *at(pods, i) = (*at(pods, i)).DeepCopy() }},
		{"node", func(i int) { t.PutNode(*at(nodes, i)) }, func(i int) { *at(nodes, i) = (*at(nodes, i)).DeepCopy() }},
		{"status", func(i int) { t.SetDaemonSet([...]*appsv1.DaemonSet{other, set}[i%2]) }, nothing},
	}
}

func at[T any](list []T, i int) *T { return &list[i%len(list)] }

// alternatives are some objects from all over the list, each first as a change has made it and
// then as it was.
func alternatives[T any, P interface {
	*T
	DeepCopy() *T
}](objects []P, change func(P)) []P {
	count := min(len(objects), 10_000)
	list := make([]P, 0, 2*count)
	for i := range count {
		object := objects[i*len(objects)/count]
		changed := P(object.DeepCopy())
		change(changed)
		list = append(list, changed, object)
	}
	return list
}

// plannerStates are a set at rest, and one in the middle of an update that has to wait for the
// pods of the nodes it took last: so a set is most of the time.
func plannerStates() []state {
	waiting := func(n int) gen.Case {
		c := fleetCase(n, rolling(percent10(), intstr.FromInt32(0)), halfUpdated)
		for i, pod := range c.Snapshot.Objects.Pods[:n/5] {
			if i%2 == 1 { // one that is current
				pod.Status.Conditions = nil
			}
		}
		return written(c)
	}
	return []state{states()[0], {"waiting", waiting, none, none}}
}

// BenchmarkPlanner measures one change and the plan after it.
func BenchmarkPlanner(b *testing.B) {
	for _, s := range plannerStates() {
		for _, nodes := range []int{1_000, 5_000, 100_000} {
			t := track(b, s.make(nodes))
			for _, c := range plannerChanges(t) {
				b.Run(fmt.Sprintf("state=%s/nodes=%d/change=%s", s.name, nodes, c.name), func(b *testing.B) {
					b.ReportAllocs()
					for i := 0; b.Loop(); i++ {
						c.do(i)
						t.plan(b)
					}
				})
			}
		}
	}
}

// BenchmarkPlannerGrowth runs one change at 1,000 and at 100,000 nodes in turn and reports how
// many times as long it takes at the larger number. The objects have just arrived; all else that
// a planner reads is wherever it was.
func BenchmarkPlannerGrowth(b *testing.B) {
	const few, many = 1_000, 100_000
	for _, s := range plannerStates() {
		small, large := track(b, s.make(few)), track(b, s.make(many))
		atLarge := plannerChanges(large)
		for i, atSmall := range plannerChanges(small) {
			b.Run("state="+s.name+"/change="+atSmall.name, func(b *testing.B) {
				var atFew, atMany turns
				for round := 0; b.Loop(); round++ {
					atFew = append(atFew, runChanges(b, small, atSmall, round))
					atMany = append(atMany, runChanges(b, large, atLarge[i], round))
				}
				b.ReportMetric(atMany.shortest()/atFew.shortest(), "many/few")
				b.ReportMetric(atFew.shortest()/100, "few-ns")
			})
		}
	}
}

// runChanges makes a hundred changes, each with a plan, and says how long that took.
func runChanges(b *testing.B, t *tracked, c change, round int) time.Duration {
	b.Helper()
	for i := range 100 {
		c.renew(100*round + i)
	}
	begin := b.Elapsed()
	for i := range 100 {
		c.do(100*round + i)
		t.plan(b)
	}
	return b.Elapsed() - begin
}

// TestPlannerAllocations: a change and the plan after it allocate for what the plan lists, and
// that is nothing.
func TestPlannerAllocations(t *testing.T) {
	for _, s := range plannerStates() {
		tracked := track(t, s.make(5_000))
		for _, c := range plannerChanges(tracked) {
			i := 0
			allocations := testing.AllocsPerRun(1_000, func() {
				c.do(i)
				tracked.plan(t)
				i++
			})
			t.Logf("%s, %s: %.0f allocations", s.name, c.name, allocations)
			most := 10.0
			if c.name == "status" { // the specs are compared
				most = 40
			}
			assert.LessOrEqual(t, allocations, most, "%s, %s", s.name, c.name)
		}
	}
}

// TestPlannerMemory: what a planner keeps besides the objects grows with the nodes and pods
// that are there, and not with the changes that it has seen.
func TestPlannerMemory(t *testing.T) {
	const nodes = 20_000
	c := plannerStates()[1].make(nodes)
	before := heap()
	tracked := track(t, c)
	perNode := (heap() - before) / nodes
	t.Logf("%.0f bytes a node", perNode)
	assert.LessOrEqual(t, perNode, 600.0)

	for i, pod := range c.Snapshot.Objects.Pods { // each is replaced by one of another name
		tracked.RemovePod(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name})
		if i%100 == 0 {
			tracked.plan(t)
		}
		pod = pod.DeepCopy()
		pod.Name += "-next"
		c.Snapshot.Objects.Pods[i] = pod
		tracked.PutPod(pod)
	}
	tracked.plan(t)
	t.Logf("%.0f bytes a node after each pod was replaced", (heap()-before)/nodes)
	assert.LessOrEqual(t, (heap()-before)/nodes, 1.5*perNode+100)
	runtime.KeepAlive(tracked)
}

// heap is what is in use, in bytes.
func heap() float64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}
