package clusterapi_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
)

// newPlacing makes a cluster with nodes that have room for one pod, and a driver that places.
func newPlacing(t *testing.T, nodes int, configure ...func(*clusterapi.Config)) *world {
	t.Helper()
	w := newWorld(t, nodes, append(configure, func(c *clusterapi.Config) {
		c.Options = daemonset.Options{Fit: &placement.FitOptions{}}
	})...)
	for i := range nodes {
		w.allow(i, "1")
	}
	w.client.Sync()
	w.client.ObserveOthers()
	w.deliver()
	return w
}

// allow says how many pods a node takes.
func (w *world) allow(node int, pods string) {
	w.Helper()
	stored, err := fake.Get[*corev1.Node](w.cluster, types.NamespacedName{Name: nodeName(node)})
	require.NoError(w, err)
	stored = stored.DeepCopy()
	stored.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse(pods)}
	_, err = fake.UpdateStatus(w.cluster, stored)
	require.NoError(w, err)
}

// stranger is somebody else's pod on a node.
func (w *world) stranger(node int) *corev1.Pod {
	w.Helper()
	stored, err := fake.Create(w.cluster, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "else", Name: fmt.Sprint("stranger-", node)},
		Spec:       corev1.PodSpec{NodeName: nodeName(node), Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	})
	require.NoError(w, err)
	w.client.Sync()
	w.deliver()
	return stored
}

// TestPlacingSeesWritesOfAllSets: reads that show what was written for one set only are not
// good enough to place the pods of another.
func TestPlacingSeesWritesOfAllSets(t *testing.T) {
	w := newPlacing(t, 2)
	rival := agentSet()
	rival.Name = "rival"
	_, err := fake.Create(w.cluster, rival)
	require.NoError(t, err)
	w.client.Sync()
	w.client.SetLag(fake.Lag{Hold: true}, fake.PodKind)
	_, err = w.sync()
	require.NoError(t, err)
	require.Len(t, w.pods(), 2)

	key := types.NamespacedName{Namespace: agent.Namespace, Name: rival.Name}
	result, err := w.driver.Sync(t.Context(), key)
	require.NoError(t, err)
	require.NotNil(t, result.Stale, "the pods of the first set do not show yet")
	require.Positive(t, result.Requeue)

	w.client.Sync()
	result, err = w.driver.Sync(t.Context(), key)
	require.NoError(t, err)
	require.Nil(t, result.Stale)
	require.Len(t, result.Plan.Suspended, 2)
	require.Empty(t, result.Plan.Creates)
}

// TestPlacingMissesNoRoom: a pod that goes while a pass looks at it is no longer there to wake
// the set once its plan waits for it.
func TestPlacingMissesNoRoom(t *testing.T) {
	var during func()
	api := &broken{observe: func(o clusterapi.Observation, err error) (clusterapi.Observation, error) {
		if during != nil {
			during()
		}
		return o, err
	}}
	w := newPlacing(t, 1, api.via)
	gone := w.stranger(0)
	during = func() {
		require.NoError(t, fake.Delete[*corev1.Pod](w.cluster, types.NamespacedName{Namespace: gone.Namespace, Name: gone.Name}, fake.DeleteOptions{Grace: new(int64)}))
		w.client.Sync()
		w.deliver()
	}
	result, err := w.sync()
	require.NoError(t, err)
	require.Len(t, result.Plan.Suspended, 1, "as it was when it was looked at")
	require.Equal(t, time.Millisecond, result.Requeue)
	during = nil
	result, err = w.sync()
	require.NoError(t, err)
	require.Equal(t, 1, result.Count(clusterapi.CreatePod, clusterapi.Done))
	require.NotEqual(t, time.Millisecond, result.Requeue)
}

// TestPlacingTakesTurns: two passes that look at the same room at the same time would both
// take it. One that gets no turn says why.
func TestPlacingTakesTurns(t *testing.T) {
	entered, leave := make(chan struct{}, 2), make(chan struct{})
	api := &broken{}
	w := newPlacing(t, 1, api.via)
	client := api.ClusterAPI
	api.create = func(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
		entered <- struct{}{}
		<-leave
		return client.CreatePod(ctx, pod)
	}
	var first sync.WaitGroup
	first.Go(func() {
		_, err := w.driver.Sync(t.Context(), agent)
		assert.NoError(t, err)
	})
	<-entered
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	_, err := w.driver.Sync(ctx, agent)
	require.EqualError(t, err, "clusterapi: waiting for the passes of other DaemonSets: enough")
	close(leave)
	first.Wait()
	w.client.Sync()
	_, err = w.driver.Sync(t.Context(), agent)
	require.NoError(t, err, "the turn was given back")
}

// TestPlacingByCount: an adapter may count the pods of others itself, and Options may know
// better.
func TestPlacingByCount(t *testing.T) {
	full := placement.NewOccupancy(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "other"}})
	api := &broken{observe: func(o clusterapi.Observation, err error) (clusterapi.Observation, error) {
		o.Beside = func(string) *placement.Occupancy { return full }
		return o, err
	}}
	w := newPlacing(t, 1, api.via)
	result, err := w.driver.Plan(t.Context(), agent)
	require.NoError(t, err)
	require.Len(t, result.Plan.Suspended, 1)

	w.restart(api.via, func(c *clusterapi.Config) {
		c.Options.Fit = &placement.FitOptions{}
		c.Options.Beside = func(string) *placement.Occupancy { return nil }
	})
	result, err = w.driver.Plan(t.Context(), agent)
	require.NoError(t, err)
	require.Empty(t, result.Plan.Suspended)
	require.Len(t, result.Plan.Creates, 1)
}

// TestFeedRoom: pods that concern no set leave room all the same.
func TestFeedRoom(t *testing.T) {
	w := newPlacing(t, 2)
	gone := w.stranger(0)
	_, err := w.sync()
	require.NoError(t, err)
	feed := w.driver.NewFeed(nil)
	require.Equal(t, []types.NamespacedName{agent}, feed.Room(gone, nil).Sets)
	require.Empty(t, feed.Room(nil, gone).Sets)
	elsewhere := gone.DeepCopy()
	elsewhere.Spec.NodeName = nodeName(1)
	require.Empty(t, feed.Room(elsewhere, nil).Sets, "nobody waits there")
}
