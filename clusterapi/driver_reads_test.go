package clusterapi_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
)

// TestStale: a driver does not act on reads that are older than its own writes.
func TestStale(t *testing.T) {
	w := newWorld(t, 3)
	w.client.SetLag(fake.Lag{Hold: true}, fake.PodKind)
	_, err := w.sync()
	require.NoError(t, err)
	require.Len(t, w.pods(), 3)
	w.driver.Expectations().Forget(w.set().UID) // as if every event had been misread
	result, err := w.sync()
	require.NoError(t, err)
	require.NotNil(t, result.Stale)
	require.Equal(t, "Pod", result.Stale.Kind)
	require.ErrorContains(t, result.Stale, "before our own write")
	require.Positive(t, result.Requeue)
	require.Empty(t, result.Writes)

	w.client.Sync()
	result, err = w.sync()
	require.NoError(t, err)
	require.Nil(t, result.Stale)
	require.Len(t, w.pods(), 3)

	// A cache that never catches up is believed in the end.
	w.client.Sync()
	w.client.SetLag(fake.Lag{Hold: true}, fake.DaemonSetKind)
	w.cluster.Run(time.Minute)
	w.client.Sync(fake.PodKind)
	result, err = w.sync() // writes status, and the cache does not show it
	require.NoError(t, err)
	require.Equal(t, []clusterapi.Outcome{clusterapi.Done}, outcomes(result, clusterapi.UpdateStatus))
	result, err = w.sync()
	require.NoError(t, err)
	require.NotNil(t, result.Stale)
	w.cluster.Advance(5 * time.Minute)
	result, err = w.sync()
	require.NoError(t, err)
	require.Nil(t, result.Stale)
}

// TestExpired: pods that neither an event nor a read shows are waited for for five minutes,
// and the result says when they are given up.
func TestExpired(t *testing.T) {
	api := &broken{observe: func(o clusterapi.Observation, err error) (clusterapi.Observation, error) {
		o.AsOf = clusterapi.Versions{} // or the reads would be refused
		return o, err
	}}
	w := newWorld(t, 2, api.via)
	w.client.SetLag(fake.Lag{Hold: true}, fake.PodKind)
	_, err := w.sync()
	require.NoError(t, err)
	w.cluster.Advance(5*time.Minute - time.Second)
	result, err := w.sync()
	require.NoError(t, err)
	require.Zero(t, result.Expired)
	require.Equal(t, time.Second, result.Requeue, "back when the wait is over")
	w.cluster.Advance(time.Second)
	w.client.Inject(fake.Fault{Call: fake.CreatePod, Err: apierrors.NewForbidden(corev1.Resource("pods"), "", nil)})
	result, err = w.sync()
	require.Error(t, err)
	require.Equal(t, 2, result.Expired.Creates)
	require.Zero(t, w.driver.Expectations().Owners())
}

// TestClockTurnedBack: a clock that was turned back makes nothing wait for a day.
func TestClockTurnedBack(t *testing.T) {
	back := time.Duration(0)
	api := &broken{}
	w := newWorld(t, 2, api.via, func(c *clusterapi.Config) {
		now := c.Now
		c.Now = func() time.Time { return now().Add(-back) }
	})
	w.client.SetLag(fake.Lag{Hold: true}, fake.PodKind)
	_, err := w.sync()
	require.NoError(t, err)
	back = 24 * time.Hour
	result, err := w.sync()
	require.NoError(t, err)
	require.Nil(t, result.Stale)
	require.Equal(t, 2, result.Expired.Creates)
}

// TestReadsSettle: a pod event that was lost is not waited for once a read shows the same.
func TestReadsSettle(t *testing.T) {
	w := newWorld(t, 3)
	_, err := w.sync()
	require.NoError(t, err)
	w.watch.Drain() // lost
	result, err := w.sync()
	require.NoError(t, err)
	require.Empty(t, result.Plan.Reason, "the created pods are in the read")
	require.Zero(t, w.driver.Expectations().Owners())

	w.settle(20)
	w.image("registry.example/agent:v2")
	result, err = w.sync()
	require.NoError(t, err)
	require.Equal(t, 1, result.Count(clusterapi.DeletePod, clusterapi.Done))
	w.cluster.Run(time.Minute) // the old pod is gone for good
	w.watch.Drain()
	result, err = w.sync()
	require.NoError(t, err)
	require.Empty(t, result.Plan.Reason, "the read is newer than the delete, and the pod is not in it")
	require.Equal(t, 1, result.Count(clusterapi.CreatePod, clusterapi.Done))

	// Reads whose age is not known prove nothing by what they lack.
	w.settle(60)
	w.image("registry.example/agent:v3")
	api := &broken{ClusterAPI: w.client, observe: func(o clusterapi.Observation, err error) (clusterapi.Observation, error) {
		o.AsOf = clusterapi.Versions{}
		return o, err
	}}
	driver, err := clusterapi.NewDriver(clusterapi.Config{API: api, Now: w.cluster.Now})
	require.NoError(t, err)
	result, err = driver.Sync(t.Context(), agent)
	require.NoError(t, err)
	require.Equal(t, 1, result.Count(clusterapi.DeletePod, clusterapi.Done))
	w.cluster.Run(time.Minute)
	result, err = driver.Sync(t.Context(), agent)
	require.NoError(t, err)
	require.Equal(t, daemonset.WritesPending, result.Plan.Reason)
	require.Zero(t, result.Count(clusterapi.CreatePod, clusterapi.Done))
}

// TestReadsThatGoBack: a delete is later than the read it was planned from, so an older read
// is refused.
func TestReadsThatGoBack(t *testing.T) {
	w := newWorld(t, 2)
	w.settle(20)
	var old clusterapi.Observation
	back := false
	api := &broken{ClusterAPI: w.client, observe: func(o clusterapi.Observation, err error) (clusterapi.Observation, error) {
		if back {
			return old, nil
		}
		return o, err
	}}
	old, err := w.client.Observe(t.Context(), agent)
	require.NoError(t, err)
	_, err = fake.Edit(w.cluster, types.NamespacedName{Namespace: agent.Namespace, Name: w.pods()[0].Name}, func(p *corev1.Pod) {
		p.Annotations = map[string]string{"newer": "yes"}
	})
	require.NoError(t, err)
	driver, err := clusterapi.NewDriver(clusterapi.Config{API: api, Now: w.cluster.Now})
	require.NoError(t, err)
	w.image("registry.example/agent:v2")
	result, err := driver.Sync(t.Context(), agent)
	require.NoError(t, err)
	require.Equal(t, 1, result.Count(clusterapi.DeletePod, clusterapi.Done))
	old.AsOf.DaemonSets, old.AsOf.Revisions = "", ""
	back = true
	result, err = driver.Sync(t.Context(), agent)
	require.NoError(t, err)
	require.NotNil(t, result.Stale)
	require.Equal(t, "Pod", result.Stale.Kind)
}
