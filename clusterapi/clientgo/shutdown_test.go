package clientgo_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi/clientgo"
)

func TestShutdownFinishesWhatItBegan(t *testing.T) {
	goOn := make(chan struct{})
	s := &stub{pass: func(ctx context.Context, _ int) (clusterapi.Result, error) {
		<-goOn
		return clusterapi.Result{}, ctx.Err()
	}}
	passes := make(chan clusterapi.Pass, 10)
	other := agentSet()
	other.Name, other.UID = "other", "set-2"
	c := run(t, clientgo.Config{
		Client: newClient(agentSet(), other), Syncer: s.use, Workers: 1, OnPass: func(p clusterapi.Pass) { passes <- p },
	})
	s.await(t, 1)
	c.stop()
	select {
	case <-c.ended: //nolint:errcheck // that it ended is all that counts here
		require.Fail(t, "Run has not waited for the pass")
	case <-after(200 * time.Millisecond):
	}
	close(goOn)
	require.NoError(t, c.end(t))
	require.NoError(t, (<-passes).Err, "the pass was not cut short")
	assert.Equal(t, 1, s.count(), "none is begun any more, though another key waits")
}

func TestShutdownCutsAfterGrace(t *testing.T) {
	s := &stub{pass: func(ctx context.Context, _ int) (clusterapi.Result, error) {
		<-ctx.Done()
		return clusterapi.Result{}, context.Cause(ctx)
	}}
	passes := make(chan clusterapi.Pass, 10)
	c := run(t, clientgo.Config{
		Client: newClient(agentSet()), Syncer: s.use, Grace: 50 * time.Millisecond, OnPass: func(p clusterapi.Pass) { passes <- p },
	})
	s.await(t, 1)
	c.stop()
	require.NoError(t, c.end(t))
	require.ErrorIs(t, (<-passes).Err, context.Canceled)
}

// TestShutdownLeavesHangingPasses: Run returns although a pass does not.
func TestShutdownLeavesHangingPasses(t *testing.T) {
	goOn := make(chan struct{})
	defer close(goOn)
	s := &stub{pass: func(context.Context, int) (clusterapi.Result, error) {
		<-goOn
		return clusterapi.Result{}, nil
	}}
	c := run(t, clientgo.Config{Client: newClient(agentSet()), Syncer: s.use, Grace: -1})
	s.await(t, 1)
	c.stop()
	var hang *clusterapi.HangError
	require.ErrorAs(t, c.end(t), &hang)
	require.Equal(t, agent, hang.Key)
}

func TestPassTimeout(t *testing.T) {
	s := &stub{pass: func(ctx context.Context, number int) (clusterapi.Result, error) {
		if number > 1 {
			return clusterapi.Result{}, nil
		}
		<-ctx.Done()
		return clusterapi.Result{}, context.Cause(ctx)
	}}
	passes := make(chan clusterapi.Pass, 10)
	run(t, clientgo.Config{
		Client: newClient(agentSet()), Syncer: s.use, PassTimeout: 50 * time.Millisecond, OnPass: func(p clusterapi.Pass) { passes <- p },
	})
	err := (<-passes).Err
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "longer than 50ms")
	require.NoError(t, (<-passes).Err)
}

// TestUnreadable: what cannot be read is named, with the reason.
func TestUnreadable(t *testing.T) {
	s := newServer(t)
	s.refusing(func(method, resource string, _ types.NamespacedName) error {
		if method == "GET" && resource == "pods" {
			return apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", errors.New("no such right"))
		}
		return nil
	})
	c := run(t, clientgo.Config{Client: s.clientset(t), SyncTimeout: 500 * time.Millisecond})
	err := c.end(t)
	require.ErrorContains(t, err, "waiting for [pods]")
	require.ErrorContains(t, err, "no such right")
	require.NotContains(t, err.Error(), "nodes")
	require.ErrorContains(t, c.Ready(), "no such right")
}

// TestStopBeforeTheBeginning: an end that is asked for while the caches fill is no error.
func TestStopBeforeTheBeginning(t *testing.T) {
	s := newServer(t)
	s.refusing(func(string, string, types.NamespacedName) error { return apierrors.NewServiceUnavailable("later") })
	c := run(t, clientgo.Config{Client: s.clientset(t)})
	require.Eventually(t, func() bool { return s.count("GET nodes") > 0 }, patience, tick)
	require.ErrorContains(t, c.Ready(), "not read yet")
	c.stop()
	require.NoError(t, c.end(t))
}
