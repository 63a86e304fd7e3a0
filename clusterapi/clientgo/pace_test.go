package clientgo_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/daemonplan/daemonplan/clusterapi/clientgo"
)

// edit changes the set so that an event asks for a pass.
func edit(t *testing.T, client *fake.Clientset, generation int) {
	t.Helper()
	set := agentSet()
	set.Generation = int64(generation)
	set.ResourceVersion = fmt.Sprint(generation)
	_, err := client.AppsV1().DaemonSets(agent.Namespace).Update(t.Context(), set, metav1.UpdateOptions{})
	require.NoError(t, err)
}

// TestRestGathers: what happens during a pass and soon after it gets one pass, after the rest.
func TestRestGathers(t *testing.T) {
	const rest = time.Second
	goOn := make(chan struct{})
	s := &stub{pass: func(_ context.Context, number int) (clusterapi.Result, error) {
		if number == 1 {
			<-goOn
		}
		return clusterapi.Result{}, nil
	}}
	client := newClient(agentSet())
	run(t, clientgo.Config{Client: client, Syncer: s.use, Rest: rest})
	s.await(t, 1)
	for i := range 20 {
		edit(t, client, 2+i)
	}
	require.Eventually(t, func() bool { return s.settledCount() >= 21 }, patience, tick)
	close(goOn)
	for i := range 20 {
		edit(t, client, 22+i)
	}
	s.await(t, 2)
	assert.GreaterOrEqual(t, s.gap(), rest)
	require.Eventually(t, func() bool { return s.settledCount() >= 41 }, patience, tick)
	pause(2 * rest)
	// Events that a busy machine brought after the second pass began get a third one.
	assert.LessOrEqual(t, s.count(), 3)
	passes := s.count()
	edit(t, client, 50)
	s.await(t, passes+1)
}

// TestRestNone: without a rest the next pass follows at once.
func TestRestNone(t *testing.T) {
	s := &stub{}
	client := newClient(agentSet())
	run(t, clientgo.Config{Client: client, Syncer: s.use, Rest: -1})
	for i := range 5 {
		s.await(t, i+1)
		edit(t, client, 2+i)
	}
	s.await(t, 6)
}

// refusedFor is a pass whose create a server refuses for so many seconds.
func refusedFor(seconds int) (clusterapi.Result, error) {
	busy := apierrors.NewTooManyRequests("later", seconds)
	return clusterapi.Result{Writes: []clusterapi.Write{{Verb: clusterapi.CreatePod, Outcome: clusterapi.Failed, Err: busy}}}, busy
}

// TestEventDuringServerDelay: not even an event goes before the delay that a server asked
// for.
func TestEventDuringServerDelay(t *testing.T) {
	s := &stub{pass: func(_ context.Context, number int) (clusterapi.Result, error) {
		if number == 1 {
			return refusedFor(1)
		}
		return clusterapi.Result{}, nil
	}}
	client := newClient(agentSet())
	run(t, clientgo.Config{Client: client, Syncer: s.use, Rest: -1})
	s.await(t, 1)
	edit(t, client, 2)
	s.await(t, 2)
	assert.GreaterOrEqual(t, s.gap(), time.Second)
}

// TestEarlierRequeueDuringServerDelay: neither does what an earlier pass asked for.
func TestEarlierRequeueDuringServerDelay(t *testing.T) {
	s := &stub{pass: func(_ context.Context, number int) (clusterapi.Result, error) {
		switch number {
		case 1:
			return clusterapi.Result{Requeue: time.Second}, nil
		case 2:
			return refusedFor(2)
		}
		return clusterapi.Result{}, nil
	}}
	client := newClient(agentSet())
	run(t, clientgo.Config{Client: client, Syncer: s.use, Rest: -1})
	s.await(t, 1)
	edit(t, client, 2)
	s.await(t, 3)
	s.mu.Lock()
	defer s.mu.Unlock()
	assert.GreaterOrEqual(t, s.passes[2].Sub(s.passes[1]), 2*time.Second)
}

// TestServerDelayByAClockThatStands: waiting takes real time, whatever Now says.
func TestServerDelayByAClockThatStands(t *testing.T) {
	s := &stub{pass: func(_ context.Context, number int) (clusterapi.Result, error) {
		if number == 1 {
			return refusedFor(1)
		}
		return clusterapi.Result{}, nil
	}}
	stands := wall()
	run(t, clientgo.Config{
		Client: newClient(agentSet()), Syncer: s.use, Rest: -1,
		Driver: clusterapi.Config{Now: func() time.Time { return stands }},
	})
	s.await(t, 2)
	assert.GreaterOrEqual(t, s.gap(), time.Second)
}
