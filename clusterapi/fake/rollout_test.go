package fake_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
)

// pass is a driver in its simplest form, for caches that do not lag and calls that do not
// fail. It says whether there was anything to do.
func pass(ctx context.Context, tb testing.TB, c *fake.Cluster, cl *fake.Client) bool {
	tb.Helper()
	observation, err := cl.Observe(ctx, key("set"))
	require.NoError(tb, err)
	plan, err := daemonset.Compute(daemonset.Snapshot{Objects: observation.Objects, Now: c.Now()}, daemonset.Options{Burst: 1000})
	require.NoError(tb, err)
	for _, change := range plan.Revisions {
		require.Equal(tb, daemonset.CreateRevision, change.Op)
		_, err := cl.CreateRevision(ctx, change.Revision)
		require.NoError(tb, err)
	}
	for _, create := range plan.Creates {
		_, err := cl.CreatePod(ctx, plan.Pod(create))
		require.NoError(tb, err)
	}
	for _, deletion := range plan.Deletes {
		require.NoError(tb, cl.DeletePod(ctx, deletion.Pod))
	}
	if plan.Status != nil {
		set, err := cl.Live(ctx, key("set"))
		require.NoError(tb, err)
		set.Status = *plan.Status
		_, err = cl.UpdateStatus(ctx, set)
		require.NoError(tb, err)
	}
	return !plan.Empty()
}

// converge makes passes, a second apart, until there is nothing more to do and to come, and
// returns how many it took.
func converge(ctx context.Context, tb testing.TB, c *fake.Cluster, cl *fake.Client) int {
	tb.Helper()
	for passes := range 1000 {
		busy := pass(ctx, tb, c, cl)
		if _, due := c.Next(); !busy && !due {
			return passes
		}
		c.Run(time.Second)
	}
	require.Fail(tb, "no end in sight")
	return 0
}

func fleet(tb testing.TB, nodes int) (*fake.Cluster, *fake.Client) {
	tb.Helper()
	c := fake.New(1)
	for i := range nodes {
		_, err := fake.Create(c, newNode(fmt.Sprintf("node-%05d", i)))
		require.NoError(tb, err)
	}
	set := newSet("set")
	tenth := intstr.FromString("10%")
	set.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{
		Type:          appsv1.RollingUpdateDaemonSetStrategyType,
		RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &tenth},
	}
	_, err := fake.Create(c, set)
	require.NoError(tb, err)
	return c, c.NewClient()
}

func updateImage(tb testing.TB, c *fake.Cluster, image string) {
	tb.Helper()
	_, err := fake.Edit(c, key("set"), func(set *appsv1.DaemonSet) { set.Spec.Template.Spec.Containers[0].Image = image })
	require.NoError(tb, err)
}

func onImage(c *fake.Cluster, image string) int {
	count := 0
	for _, pod := range fake.List[*corev1.Pod](c, "ns") {
		if pod.Spec.Containers[0].Image == image && phaseAndReady(pod) == "Running ready" {
			count++
		}
	}
	return count
}

func TestRollout(t *testing.T) {
	c, cl := fleet(t, 50)
	defer cl.Close()
	converge(t.Context(), t, c, cl)
	require.Equal(t, 50, onImage(c, "example.com/agent:1"))
	updateImage(t, c, "example.com/agent:2")
	passes := converge(t.Context(), t, c, cl)
	assert.Equal(t, 50, onImage(c, "example.com/agent:2"))
	assert.Len(t, fake.List[*corev1.Pod](c, "ns"), 50)
	assert.Greater(t, passes, 10, "it went a tenth at a time")
	set := mustGet[*appsv1.DaemonSet](t, c, key("set"))
	assert.Equal(t, int32(50), set.Status.UpdatedNumberScheduled)
	assert.Equal(t, int32(50), set.Status.NumberAvailable)
}

// BenchmarkRollout installs a set on 5,000 nodes and updates it, a tenth of the nodes at a
// time, until every pod is ready.
func BenchmarkRollout(b *testing.B) {
	const nodes = 5000
	for b.Loop() {
		c, cl := fleet(b, nodes)
		converge(b.Context(), b, c, cl)
		updateImage(b, c, "example.com/agent:2")
		passes := converge(b.Context(), b, c, cl)
		require.Equal(b, nodes, onImage(c, "example.com/agent:2"))
		cl.Close()
		b.ReportMetric(float64(passes), "passes/op")
	}
}

// BenchmarkObserve looks at 5,000 nodes with a pod each of which one changes every time.
func BenchmarkObserve(b *testing.B) {
	const nodes = 5000
	c, cl := fleet(b, nodes)
	defer cl.Close()
	converge(b.Context(), b, c, cl)
	pods := fake.List[*corev1.Pod](c, "ns")
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		pod := pods[i%nodes]
		pod.ResourceVersion = ""
		pod.Status.Message = fmt.Sprint(i)
		_, err := fake.UpdateStatus(c, pod)
		require.NoError(b, err)
		observation, err := cl.Observe(b.Context(), key("set"))
		require.NoError(b, err)
		require.Len(b, observation.Objects.Pods, nodes)
		i++
	}
}
