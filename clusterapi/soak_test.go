package clusterapi_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
)

// TestSoak runs many sets on one runner while everything changes, and requires that they
// settle once nothing changes any more, that no goroutine is left, and that memory stays
// level. DAEMONPLAN_SOAK=60s runs the large one, of 200 sets on 2,000 nodes, for so long.
func TestSoak(t *testing.T) {
	size, duration := soak{sets: 10, nodes: 50, workers: 8}, 2*time.Second
	if text := os.Getenv("DAEMONPLAN_SOAK"); text != "" {
		var err error
		duration, err = time.ParseDuration(text)
		require.NoError(t, err)
		size = soak{sets: 200, nodes: 2000, workers: 8}
	}
	goroutines := runtime.NumGoroutine()
	s := newSoak(t, size)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.runner.Run(ctx) }()

	half := s.during(duration/2, true)
	full := s.during(duration/2, true)
	s.during(0, false)
	stop()
	require.NoError(t, <-ended)
	counters := s.runner.Counters()
	t.Logf("%+v; heap %d MiB at half time, %d MiB at the end", counters, half>>20, full>>20)
	require.Less(t, full, 2*half+64<<20, "memory must stay level")
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines+2 }, 5*time.Second, 10*time.Millisecond,
		"no goroutine must be left")
	s.requireSettled()
}

type soak struct {
	*testing.T
	sets, nodes, workers int

	rng     *rand.Rand
	cluster *fake.Cluster
	watch   *fake.Watch
	runner  *clusterapi.Runner
	ears    fake.Handlers
}

func newSoak(t *testing.T, s soak) *soak {
	t.Helper()
	s.T, s.rng, s.cluster = t, rand.New(rand.NewPCG(7, 7)), fake.New(7)
	for i := range s.nodes {
		_, err := fake.Create(s.cluster, soakNode(i, s.sets))
		require.NoError(t, err)
	}
	for i := range s.sets {
		set := agentSet()
		set.Name = fmt.Sprintf("agent-%03d", i)
		set.Spec.Template.Spec.NodeSelector = map[string]string{"group": fmt.Sprint(i % s.groups())}
		_, err := fake.Create(s.cluster, set)
		require.NoError(t, err)
	}
	client := s.cluster.NewClient()
	t.Cleanup(client.Close)
	s.watch = client.Watch()
	driver, err := clusterapi.NewDriver(clusterapi.Config{API: client, Now: s.cluster.Now})
	require.NoError(t, err)
	s.runner, err = clusterapi.NewRunner(driver, clusterapi.RunnerOptions{Workers: s.workers})
	require.NoError(t, err)
	s.ears = handlers(driver.NewFeed(nil), s.runner.Wake)
	return &s
}

// groups is how many kinds of nodes there are; a set runs on one of them.
func (s *soak) groups() int { return max(1, s.sets/2) }

func soakNode(i, sets int) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:   fmt.Sprintf("node-%04d", i),
		Labels: map[string]string{"group": fmt.Sprint(i % max(1, sets/2))},
	}}
}

// during lets time pass, with trouble or, without, until nothing is left to do. It returns
// the size of the heap at the end.
func (s *soak) during(duration time.Duration, trouble bool) uint64 {
	for i := range s.nodes {
		if !trouble {
			s.cluster.SetFateOn(soakNode(i, s.sets).Name, fake.Fate{})
		}
	}
	quiet := 0
	for start := wall(); wall().Sub(start) < duration || !trouble && (quiet < 50 || s.busy()); {
		if trouble {
			s.trouble()
		}
		s.cluster.Run(200 * time.Millisecond)
		events := s.watch.Drain()
		for _, event := range events {
			s.ears.Handle(event)
		}
		if quiet++; len(events) > 0 {
			quiet = 0
		}
		if !trouble && quiet == 25 {
			s.resync()
		}
		rest()
		require.Less(s, wall().Sub(start), duration+3*time.Minute, "it does not settle")
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// resync wakes every set, as an informer's resync does; delays run on another clock here.
func (s *soak) resync() {
	for _, set := range fake.List[*appsv1.DaemonSet](s.cluster, "") {
		s.runner.Add(types.NamespacedName{Namespace: set.Namespace, Name: set.Name})
	}
}

func (s *soak) trouble() {
	name := types.NamespacedName{Namespace: agent.Namespace, Name: fmt.Sprintf("agent-%03d", s.rng.IntN(s.sets))}
	number := s.rng.IntN(s.nodes)
	node := types.NamespacedName{Name: fmt.Sprintf("node-%04d", number)}
	switch s.rng.IntN(12) {
	case 0, 1:
		_, err := fake.Edit(s.cluster, name, func(set *appsv1.DaemonSet) {
			set.Spec.Template.Spec.Containers[0].Image = fmt.Sprintf("registry.example/agent:v%d", s.rng.IntN(3))
		})
		require.NoError(s, err)
	case 2:
		if fake.Delete[*corev1.Node](s.cluster, node, fake.DeleteOptions{}) != nil {
			_, err := fake.Create(s.cluster, soakNode(number, s.sets))
			require.NoError(s, err)
		}
	case 3:
		_, _ = fake.Edit(s.cluster, node, func(n *corev1.Node) {
			if n.Spec.Taints == nil {
				n.Spec.Taints = []corev1.Taint{{Key: "full", Effect: corev1.TaintEffectNoSchedule}}
				return
			}
			n.Spec.Taints = nil
		})
	case 4:
		s.cluster.SetFateOn(node.Name, fake.Fate{Outcome: fake.Outcome(s.rng.IntN(7)), After: time.Second})
	case 5:
		s.cluster.SetFateOn(node.Name, fake.Fate{})
	}
}

// requireSettled plans every set once more from what is there: nothing is to be created.
func (s *soak) requireSettled() {
	client := s.cluster.NewClient()
	defer client.Close()
	running := 0
	for _, set := range fake.List[*appsv1.DaemonSet](s.cluster, "") {
		seen, err := client.Observe(s.Context(), types.NamespacedName{Namespace: set.Namespace, Name: set.Name})
		require.NoError(s, err)
		plan, err := daemonset.Compute(daemonset.Snapshot{Objects: seen.Objects, Now: s.cluster.Now()}, daemonset.Options{})
		require.NoError(s, err)
		require.Empty(s, plan.Creates, "%s has nodes without a pod", set.Name)
		running += int(set.Status.NumberAvailable)
	}
	require.NotZero(s, running)
}

// busy reports whether a pass is under way or about to be.
func (s *soak) busy() bool {
	c := s.runner.Counters()
	return c.Queued+c.Running > 0
}

// A soak takes real time: the runner's workers do not know the simulation's clock.
func wall() time.Time { return time.Now() }                //nolint:forbidigo // see above
func rest()           { time.Sleep(2 * time.Millisecond) } //nolint:forbidigo // see above
