package clusterapi_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/rollout"
)

// brokenFollower answers as no adapter may, or as a server does at the wrong moment, where a
// function is set.
type brokenFollower struct {
	clusterapi.ClusterAPI
	follower clusterapi.Follower
	none     bool // Follow returns nil
	follows  int  // how many sets are followed now

	mu      sync.Mutex // a call that hangs may be under way
	changes func(ctx context.Context, c clusterapi.Changes, err error) (clusterapi.Changes, error)
}

// answer has Changes answer in another way; nil is as it should be.
func (b *brokenFollower) answer(changes func(ctx context.Context, c clusterapi.Changes, err error) (clusterapi.Changes, error)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changes = changes
}

func (b *brokenFollower) via(c *clusterapi.Config) {
	b.ClusterAPI, b.follower = c.API, c.API.(clusterapi.Follower)
	c.API, c.Follow = b, true
}

func (b *brokenFollower) Follow(key types.NamespacedName) clusterapi.Following {
	if b.none {
		return nil
	}
	b.follows++
	return &brokenFollowing{Following: b.follower.Follow(key), broken: b}
}

type brokenFollowing struct {
	clusterapi.Following
	broken  *brokenFollower
	stopped bool
}

func (f *brokenFollowing) Changes(ctx context.Context) (clusterapi.Changes, error) {
	c, err := f.Following.Changes(ctx)
	f.broken.mu.Lock()
	changes := f.broken.changes
	f.broken.mu.Unlock()
	if changes != nil {
		return changes(ctx, c, err)
	}
	return c, err
}

func (f *brokenFollowing) Stop() {
	if f.stopped {
		panic("stopped twice")
	}
	f.stopped = true
	f.broken.follows--
	f.Following.Stop()
}

// TestFollowBegunWhileStale: what is there when following begins settles what is waited for,
// also if the first pass is refused because another read is behind.
func TestFollowBegunWhileStale(t *testing.T) {
	api := &brokenFollower{}
	w := newWorld(t, 2, api.via)
	w.settle(20)
	w.image("registry.example/agent:v2")
	result, err := w.sync()
	require.NoError(t, err)
	require.Equal(t, 1, result.Count(clusterapi.DeletePod, clusterapi.Done))
	w.cluster.Run(time.Minute) // the pod goes, and no event is delivered

	api.answer(func(context.Context, clusterapi.Changes, error) (clusterapi.Changes, error) {
		return clusterapi.Changes{}, errors.New("connection reset")
	})
	_, err = w.sync()
	require.Error(t, err)
	api.answer(func(_ context.Context, c clusterapi.Changes, err error) (clusterapi.Changes, error) {
		c.AsOf.Revisions = "1"
		return c, err
	})
	result, err = w.sync()
	require.NoError(t, err)
	require.NotNil(t, result.Stale)
	api.answer(nil)
	result, err = w.sync()
	require.NoError(t, err)
	require.Empty(t, result.Plan.Reason, "nothing is waited for any more")
	require.Equal(t, 1, result.Count(clusterapi.CreatePod, clusterapi.Done))
}

// TestFollowAdoptedAndDeleted: a pod that was adopted and deleted by one pass, and gone before
// it was seen again, is not waited for.
func TestFollowAdoptedAndDeleted(t *testing.T) {
	api := &brokenFollower{}
	w := newWorld(t, 1, api.via)
	w.settle(20)
	orphan := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: agent.Namespace, Name: "orphan", Labels: map[string]string{"app": "agent"}}}
	orphan.Spec = agentSet().Spec.Template.Spec
	orphan.Spec.NodeName = nodeName(0)
	_, err := fake.Create(w.cluster, orphan)
	require.NoError(t, err)
	result, err := w.sync()
	require.NoError(t, err)
	require.Equal(t, 1, result.Count(clusterapi.AdoptPod, clusterapi.Done))
	require.Equal(t, 1, result.Count(clusterapi.DeletePod, clusterapi.Done))
	w.cluster.Run(time.Minute)
	require.Len(t, w.pods(), 1)
	result, err = w.sync() // without an event, as after a watch that broke
	require.NoError(t, err)
	require.Empty(t, result.Plan.Reason, "nothing is waited for any more")
	require.Zero(t, w.driver.Expectations().Owners())
}

// TestFollowBrokenContract: whatever an adapter answers, a pass after that starts anew, and
// nothing is followed that is not needed.
func TestFollowBrokenContract(t *testing.T) {
	strange := agentSet()
	strange.Name = "other"
	tests := []struct {
		name    string
		changes func(ctx context.Context, c clusterapi.Changes, err error) (clusterapi.Changes, error)
	}{
		{"an error", func(context.Context, clusterapi.Changes, error) (clusterapi.Changes, error) {
			return clusterapi.Changes{}, errors.New("connection reset")
		}},
		{"no set", func(_ context.Context, c clusterapi.Changes, err error) (clusterapi.Changes, error) {
			c.DaemonSet = nil
			return c, err
		}},
		{"another set", func(_ context.Context, c clusterapi.Changes, err error) (clusterapi.Changes, error) {
			c.DaemonSet = strange
			return c, err
		}},
		{"a set without a UID", func(_ context.Context, c clusterapi.Changes, err error) (clusterapi.Changes, error) {
			c.DaemonSet = agentSet()
			return c, err
		}},
		{"a panic", func(context.Context, clusterapi.Changes, error) (clusterapi.Changes, error) { panic("out of order") }},
		{"no answer", func(ctx context.Context, c clusterapi.Changes, _ error) (clusterapi.Changes, error) {
			<-ctx.Done()
			return c, ctx.Err()
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			api := &brokenFollower{}
			w := newWorld(t, 3, api.via)
			w.settle(20)
			w.image("registry.example/agent:v2")
			api.answer(tt.changes)
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			_, err := w.driver.Sync(ctx, agent)
			require.Error(t, err)
			require.Zero(t, api.follows)
			require.ErrorContains(t, err, "clusterapi: observe ops/agent: ")
			api.answer(nil)
			w.settle(100)
			require.Equal(t, 1, api.follows)
			for _, pod := range w.pods() {
				require.Equal(t, "registry.example/agent:v2", pod.Spec.Containers[0].Image)
			}
		})
	}
}

// TestFollowUntidy: objects that are nil, of others, of other namespaces or there twice do no harm.
func TestFollowUntidy(t *testing.T) {
	api := &brokenFollower{changes: func(_ context.Context, c clusterapi.Changes, err error) (clusterapi.Changes, error) {
		stranger := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "stranger", Labels: map[string]string{"app": "agent"}}}
		stranger.Spec.NodeName = nodeName(0)
		c.Pods = append(append(append([]*corev1.Pod{nil}, c.Pods...), c.Pods...), stranger)
		c.Nodes = append(append([]*corev1.Node{nil}, c.Nodes...), c.Nodes...)
		c.Revisions = append(append([]*appsv1.ControllerRevision{nil}, c.Revisions...), c.Revisions...)
		c.GonePods = append(append(c.GonePods, types.NamespacedName{Name: "nobody"}), c.GonePods...)
		c.GoneNodes = append(c.GoneNodes, "nobody")
		c.GoneRevisions = append(c.GoneRevisions, types.NamespacedName{})
		return c, err
	}}
	w := newWorld(t, 3, api.via)
	w.settle(20)
	w.image("registry.example/agent:v2")
	w.settle(100)
	require.Len(t, w.pods(), 3)
	for _, pod := range w.pods() {
		require.Equal(t, "registry.example/agent:v2", pod.Spec.Containers[0].Image)
	}
}

// TestFollowReturnsNothing: that is the adapter's fault, and said so.
func TestFollowReturnsNothing(t *testing.T) {
	api := &brokenFollower{none: true}
	w := newWorld(t, 1, api.via)
	_, err := w.sync()
	require.ErrorIs(t, err, clusterapi.ErrAdapter)
	api.none = false
	w.settle(20)
	require.Len(t, w.pods(), 1)
}

// TestFollowAfterPanic: a planner in which something panicked is not used again.
func TestFollowAfterPanic(t *testing.T) {
	api, panics := &brokenFollower{}, false
	w := newWorld(t, 3, api.via, func(c *clusterapi.Config) {
		c.Options.Prefer = func(rollout.Node, rollout.Node) int {
			if panics {
				panic("no preference")
			}
			return 0
		}
	})
	w.settle(20)
	w.image("registry.example/agent:v2")
	panics = true
	require.PanicsWithValue(t, "no preference", func() { _, _ = w.sync() })
	require.Zero(t, api.follows)
	panics = false
	w.settle(100)
	require.Equal(t, 1, api.follows)
}

// TestFollowSelected: a set that is not selected is not followed, and is again once it is.
func TestFollowSelected(t *testing.T) {
	api, selected := &brokenFollower{}, true
	w := newWorld(t, 2, api.via, func(c *clusterapi.Config) { c.Select = func(*appsv1.DaemonSet) bool { return selected } })
	w.settle(20)
	require.Equal(t, 1, api.follows)
	selected = false
	result, err := w.sync()
	require.NoError(t, err)
	require.True(t, result.Gone)
	require.Zero(t, api.follows)
	selected = true
	w.image("registry.example/agent:v2")
	w.settle(100)
	require.Equal(t, 1, api.follows)
	for _, pod := range w.pods() {
		require.Equal(t, "registry.example/agent:v2", pod.Spec.Containers[0].Image)
	}
}
