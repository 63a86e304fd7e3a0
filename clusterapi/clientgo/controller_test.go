package clientgo_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi/clientgo"
)

func TestNewRefuses(t *testing.T) {
	client := newClient()
	tests := []struct {
		name string
		give clientgo.Config
		want string
	}{
		{"no client", clientgo.Config{}, "Config.Client is nil"},
		{"an API", clientgo.Config{Client: client, Driver: clusterapi.Config{API: &clientgo.API{}}}, "Driver.API"},
		{"a bad driver", clientgo.Config{Client: client, Driver: clusterapi.Config{PodNames: 99}}, "PodNames"},
		{"a lease without a name", clientgo.Config{Client: client, Leader: &clientgo.LeaderConfig{Namespace: "ns"}}, "a Name"},
		{"a lease that is renewed too late", clientgo.Config{Client: client, Leader: &clientgo.LeaderConfig{
			Namespace: "ns", Name: "lease", LeaseDuration: time.Second, RenewDeadline: time.Minute,
		}}, "leaseDuration"},
		{"no syncer", clientgo.Config{Client: client, Syncer: func(*clusterapi.Driver) clusterapi.Syncer { return nil }}, "Syncer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := clientgo.New(tt.give)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

// TestControllerRollsOut takes a set from nothing through an update, over HTTP, with kubelets.
func TestControllerRollsOut(t *testing.T) {
	s := newServer(t)
	for i := range 5 {
		_, err := fake.Create(s.Cluster, node(i))
		require.NoError(t, err)
	}
	_, err := fake.Create(s.Cluster, agentSet())
	require.NoError(t, err)
	c := run(t, clientgo.Config{Client: s.clientset(t)})
	status := func() appsv1.DaemonSetStatus {
		s.Run(time.Second)
		set, err := fake.Get[*appsv1.DaemonSet](s.Cluster, agent)
		require.NoError(t, err)
		return set.Status
	}
	require.Eventually(t, func() bool { return status().NumberAvailable == 5 }, patience, tick)

	edited, err := fake.Edit(s.Cluster, agent, func(set *appsv1.DaemonSet) {
		set.Spec.Template.Spec.Containers[0].Image = "registry.example/agent:v2"
	})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		got := status()
		return got.ObservedGeneration == edited.Generation && got.UpdatedNumberScheduled == 5 && got.NumberAvailable == 5
	}, patience, tick)
	require.Len(t, fake.List[*appsv1.ControllerRevision](s.Cluster, agent.Namespace), 2)
	require.Len(t, fake.List[*corev1.Pod](s.Cluster, agent.Namespace), 5)

	counters := c.Counters()
	assert.Equal(t, 10, counters.Write(clusterapi.CreatePod, clusterapi.Done), "one a node and template, and no twins")
	assert.Equal(t, 5, counters.Write(clusterapi.DeletePod, clusterapi.Done))
	assert.Equal(t, 10, s.count("POST pods"))
	assert.Zero(t, counters.Passes.Panicked)
	assert.Equal(t, 1, s.count("GET pods"), "pods are listed once")
}

func TestControllerSelects(t *testing.T) {
	ours := func(set *appsv1.DaemonSet) bool { return set.Annotations["class"] == "ours" }
	classed := func(class string) *appsv1.DaemonSet {
		set := agentSet()
		set.Annotations = map[string]string{"class": class}
		return set
	}
	client := newClient(node(0), classed("theirs"))
	var seen atomic.Int64
	run(t, clientgo.Config{
		Client: client, Driver: clusterapi.Config{Select: ours}, OnPass: func(clusterapi.Pass) { seen.Add(1) },
	})
	edit := func(class string) {
		_, err := client.AppsV1().DaemonSets(agent.Namespace).Update(t.Context(), classed(class), metav1.UpdateOptions{})
		require.NoError(t, err)
	}
	edit("ours")
	require.Eventually(t, func() bool { return len(podsOf(t, client)) == 1 }, patience, tick)
	edit("theirs")
	passes := seen.Load()
	require.Eventually(t, func() bool { return seen.Load() > passes }, patience, tick, "a pass finds that it is gone")
	_, err := client.CoreV1().Nodes().Create(t.Context(), node(1), metav1.CreateOptions{})
	require.NoError(t, err)
	pause(200 * time.Millisecond)
	require.Len(t, podsOf(t, client), 1, "nothing is done for it any more")
	edit("ours")
	require.Eventually(t, func() bool { return len(podsOf(t, client)) == 2 }, patience, tick)
}

// planOnly is how a program reports without acting.
type planOnly struct{ *clusterapi.Driver }

func (p planOnly) Sync(ctx context.Context, key types.NamespacedName) (clusterapi.Result, error) {
	return p.Plan(ctx, key)
}

func TestControllerPlansOnly(t *testing.T) {
	client := newClient(append(nodes(3), agentSet())...)
	passes := make(chan clusterapi.Pass, 100)
	run(t, clientgo.Config{
		Client: client, OnPass: func(p clusterapi.Pass) { passes <- p },
		Syncer: func(d *clusterapi.Driver) clusterapi.Syncer { return planOnly{d} },
	})
	pass := <-passes
	require.NoError(t, pass.Err)
	require.Equal(t, agent, pass.Key)
	require.Len(t, pass.Result.Plan.Creates, 3)
	require.Empty(t, podsOf(t, client))
}

func TestControllerRequeues(t *testing.T) {
	s := &stub{pass: func(_ context.Context, number int) (clusterapi.Result, error) {
		if number == 1 {
			return clusterapi.Result{Requeue: 300 * time.Millisecond}, nil
		}
		return clusterapi.Result{}, nil
	}}
	c := run(t, clientgo.Config{Client: newClient(agentSet()), Syncer: s.use})
	s.await(t, 2)
	assert.GreaterOrEqual(t, s.gap(), 300*time.Millisecond)
	assert.Zero(t, c.Counters().Retries)
}

func TestControllerRetries(t *testing.T) {
	busy := apierrors.NewTooManyRequests("slow down", 1)
	tests := []struct {
		name   string
		why    string
		first  clusterapi.Result
		err    error
		atMost time.Duration
		least  time.Duration
	}{
		{"an error", "the rate limit's first delay", clusterapi.Result{}, errOfTest, time.Minute, 5 * time.Millisecond},
		{"an error, and a late wake", "the retry is earlier", clusterapi.Result{Requeue: time.Hour}, errOfTest, time.Minute, 5 * time.Millisecond},
		{"a server that asks for a delay", "it is kept to", clusterapi.Result{}, busy, time.Minute, time.Second},
		{
			"an early wake, and a server that asks for a delay", "it is kept to all the same",
			clusterapi.Result{Requeue: time.Millisecond},
			busy, time.Minute, time.Second,
		},
		{
			"a write whose answer asks for a delay", "it is kept to",
			clusterapi.Result{Writes: []clusterapi.Write{{Outcome: clusterapi.Failed, Err: busy}}},
			errOfTest, time.Minute, time.Second,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &stub{pass: func(_ context.Context, number int) (clusterapi.Result, error) {
				if number == 1 {
					return tt.first, tt.err
				}
				return clusterapi.Result{}, nil
			}}
			c := run(t, clientgo.Config{Client: newClient(agentSet()), Syncer: s.use})
			s.await(t, 2)
			assert.GreaterOrEqual(t, s.gap(), tt.least, tt.why)
			assert.Less(t, s.gap(), tt.atMost, tt.why)
			assert.Equal(t, 1, c.Counters().Retries)
			assert.Equal(t, 1, c.Counters().Passes.Failed)
		})
	}
}

// TestControllerStartsRetriesOver: a pass without an error ends the doubling of delays.
func TestControllerStartsRetriesOver(t *testing.T) {
	limiter := &limiter{}
	s := &stub{pass: func(_ context.Context, number int) (clusterapi.Result, error) {
		if number < 3 {
			return clusterapi.Result{}, errOfTest
		}
		return clusterapi.Result{}, nil
	}}
	run(t, clientgo.Config{Client: newClient(agentSet()), Syncer: s.use, RateLimiter: limiter})
	s.await(t, 3)
	require.Eventually(t, func() bool { return limiter.forgotten.Load() == 1 }, patience, tick)
	assert.EqualValues(t, 2, limiter.asked.Load())
}

// TestControllerKeepsRetriesOverIdlePasses: a pass that could not do its work ends no doubling.
func TestControllerKeepsRetriesOverIdlePasses(t *testing.T) {
	limiter := &limiter{}
	s := &stub{pass: func(_ context.Context, number int) (clusterapi.Result, error) {
		switch number {
		case 1, 3:
			return clusterapi.Result{}, errOfTest
		case 2:
			return clusterapi.Result{Stale: &clusterapi.StaleError{}, Requeue: time.Millisecond}, nil
		}
		return clusterapi.Result{}, nil
	}}
	run(t, clientgo.Config{Client: newClient(agentSet()), Syncer: s.use, RateLimiter: limiter})
	s.await(t, 4)
	require.Eventually(t, func() bool { return limiter.forgotten.Load() > 0 }, patience, tick)
	assert.EqualValues(t, 1, limiter.forgotten.Load(), "only the last pass did all there was to do")
	assert.EqualValues(t, 2, limiter.asked.Load())
}

type limiter struct{ asked, forgotten atomic.Int64 }

func (l *limiter) When(types.NamespacedName) time.Duration {
	l.asked.Add(1)
	return time.Millisecond
}
func (l *limiter) Forget(types.NamespacedName)          { l.forgotten.Add(1) }
func (l *limiter) NumRequeues(types.NamespacedName) int { return 0 }

func TestControllerSurvivesPanics(t *testing.T) {
	passes := make(chan clusterapi.Pass, 100)
	s := &stub{pass: func(_ context.Context, number int) (clusterapi.Result, error) {
		if number == 1 {
			panic(errOfTest)
		}
		return clusterapi.Result{}, nil
	}}
	c := run(t, clientgo.Config{Client: newClient(agentSet()), Syncer: s.use, OnPass: func(p clusterapi.Pass) { passes <- p }})
	var panicked *clusterapi.PanicError
	require.ErrorAs(t, (<-passes).Err, &panicked)
	require.ErrorIs(t, panicked, errOfTest)
	require.Contains(t, string(panicked.Stack), "TestControllerSurvivesPanics")
	require.NoError(t, (<-passes).Err, "it goes on")
	require.Equal(t, 1, c.Counters().Passes.Panicked)
}

// TestControllerSettlesFirst: a pass that an event asks for knows what the event showed.
func TestControllerSettlesFirst(t *testing.T) {
	s := &stub{}
	client := newClient(agentSet())
	run(t, clientgo.Config{Client: client, Syncer: s.use})
	s.await(t, 1)
	_, err := client.CoreV1().Pods(agent.Namespace).Create(t.Context(), ownedPod(1), metav1.CreateOptions{})
	require.NoError(t, err)
	s.await(t, 2)
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Equal(t, []string{"sync ops/agent", "settle pod-1", "sync ops/agent"}, s.log[:3])
}

func TestControllerRunsOnce(t *testing.T) {
	c := run(t, clientgo.Config{Client: newClient()})
	require.Eventually(t, func() bool { return c.Ready() == nil }, patience, tick)
	require.ErrorContains(t, c.Run(t.Context()), "only once")
}

func TestControllerLeavesNothingBehind(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	client := newClient(append(nodes(3), agentSet())...)
	c := run(t, clientgo.Config{Client: client, Leader: &clientgo.LeaderConfig{Namespace: "ops", Name: "lease"}})
	require.Eventually(t, func() bool { return len(podsOf(t, client)) == 3 }, patience, tick)
	c.stop()
	require.NoError(t, c.end(t))
	for since := wall(); runtime.NumGoroutine() > goroutines; pause(tick) {
		if wall().Sub(since) > patience {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines before, and after:\n%s", goroutines, stacks[:runtime.Stack(stacks, true)])
		}
	}
}
