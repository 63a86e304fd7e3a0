package clientgo_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clienttesting "k8s.io/client-go/testing"

	"github.com/daemonplan/daemonplan/clusterapi/clientgo"
)

func leaderConfig(identity string) *clientgo.LeaderConfig {
	return &clientgo.LeaderConfig{
		Namespace: "ops", Name: "daemonplan", Identity: identity,
		LeaseDuration: time.Minute, RenewDeadline: 30 * time.Second, RetryPeriod: 20 * time.Millisecond,
	}
}

func holder(t *testing.T, client kubernetes.Interface) string {
	t.Helper()
	lease, err := client.CoordinationV1().Leases("ops").Get(t.Context(), "daemonplan", metav1.GetOptions{})
	if err != nil || lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// TestLeaderHandsOver: one replica makes passes, the other one is ready; when the first ends,
// the second takes over long before the lease has run out.
func TestLeaderHandsOver(t *testing.T) {
	client := newClient(agentSet())
	first, second := &stub{}, &stub{}
	a := run(t, clientgo.Config{Client: client, Syncer: first.use, Leader: leaderConfig("a")})
	first.await(t, 1)
	b := run(t, clientgo.Config{Client: client, Syncer: second.use, Leader: leaderConfig("b")})
	require.Eventually(t, func() bool { return b.Ready() == nil }, patience, tick, "a replica that waits is ready")
	require.Equal(t, "a", holder(t, client))
	pause(100 * time.Millisecond)
	require.Zero(t, second.count())
	require.NoError(t, b.Healthy())

	since := wall()
	a.stop()
	require.NoError(t, a.end(t))
	second.await(t, 1)
	require.Less(t, wall().Sub(since), time.Minute, "it waited for the lease to run out")
	require.Equal(t, "b", holder(t, client))
	passes := first.count()
	b.stop()
	require.NoError(t, b.end(t))
	require.Empty(t, holder(t, client), "the lease is given back")
	require.Equal(t, passes, first.count())
}

// TestLeaseLost: when the lease cannot be renewed, passes are cut short and Run says so.
func TestLeaseLost(t *testing.T) {
	client := newClient(agentSet())
	var broken atomic.Bool
	client.PrependReactor("*", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		if broken.Load() {
			return true, nil, errors.New("unreachable")
		}
		return false, nil, nil
	})
	s := &stub{pass: func(ctx context.Context, _ int) (clusterapi.Result, error) {
		broken.Store(true)
		<-ctx.Done()
		return clusterapi.Result{}, context.Cause(ctx)
	}}
	config := leaderConfig("a")
	config.LeaseDuration, config.RenewDeadline = 3*time.Second, time.Second
	c := run(t, clientgo.Config{Client: client, Syncer: s.use, Leader: config, Grace: time.Hour})
	require.ErrorIs(t, c.end(t), clientgo.ErrLeadershipLost)
	assert.Equal(t, 1, s.count())
	assert.Equal(t, 1, c.Counters().Passes.Failed)
}

// TestLeaderWaits: an end that is asked for while another one leads is no error.
func TestLeaderWaits(t *testing.T) {
	client := newClient(agentSet())
	first, second := &stub{}, &stub{}
	run(t, clientgo.Config{Client: client, Syncer: first.use, Leader: leaderConfig("a")})
	first.await(t, 1)
	b := run(t, clientgo.Config{Client: client, Syncer: second.use, Leader: leaderConfig("b")})
	require.Eventually(t, func() bool { return b.Ready() == nil }, patience, tick)
	b.stop()
	require.NoError(t, b.end(t))
	require.Zero(t, second.count())
	require.Equal(t, "a", holder(t, client))
}
