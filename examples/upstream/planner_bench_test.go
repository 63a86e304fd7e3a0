package upstream_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/examples/upstream"
)

// BenchmarkPlannerSideBySide makes stock syncs of a set at rest, and plans of a planner that is
// told what has changed, by turns, and reports how many times as long a sync takes: a sync
// looks at everything whatever has changed.
func BenchmarkPlannerSideBySide(b *testing.B) {
	for _, nodes := range []int{1000, 5000} {
		for _, change := range []string{"none", "pod"} {
			b.Run(fmt.Sprintf("nodes=%d/change=%s", nodes, change), func(b *testing.B) {
				plannerSideBySide(b, fleet(b, nodes, false, false), change == "pod")
			})
		}
	}
}

func plannerSideBySide(b *testing.B, s daemonset.Snapshot, changing bool) {
	b.Helper()
	const plans = 1000 // for each sync
	c, err := upstream.New(b.Context(), s, daemonset.DefaultBurst)
	require.NoError(b, err)
	planner := planned(s)
	var pods []*corev1.Pod // as each is changed, and as it was
	for i := range plans / 2 {
		pod := s.Objects.Pods[i*2*len(s.Objects.Pods)/plans]
		down := pod.DeepCopy()
		down.Status.Conditions = nil
		pods = append(pods, down, pod)
	}
	plan := func(i int) {
		if changing {
			planner.PutPod(pods[i%len(pods)])
		}
		_, err := planner.Plan(daemonset.Moment{Now: s.Now})
		require.NoError(b, err)
	}
	plan(1)
	var stockTime, planTime time.Duration
	for b.Loop() {
		runtime.GC()
		start := time.Now()
		require.NoError(b, c.Sync(b.Context()))
		stockTime += time.Since(start)
		start = time.Now()
		for i := range plans {
			plan(i)
		}
		planTime += time.Since(start)
	}
	b.ReportMetric(plans*stockTime.Seconds()/planTime.Seconds(), "times-faster")
	b.ReportMetric(stockTime.Seconds()*1e6/float64(b.N), "stock-µs")
	b.ReportMetric(planTime.Seconds()*1e6/float64(b.N*plans), "plan-µs")
}

// planned is a planner that knows of a snapshot's objects.
func planned(s daemonset.Snapshot) *daemonset.Planner {
	planner := daemonset.NewPlanner(daemonset.Options{})
	planner.SetDaemonSet(s.Objects.DaemonSet)
	for _, node := range s.Objects.Nodes {
		planner.PutNode(node)
	}
	for _, pod := range s.Objects.Pods {
		planner.PutPod(pod)
	}
	for _, revision := range s.Objects.Revisions {
		planner.PutRevision(revision)
	}
	return planner
}
