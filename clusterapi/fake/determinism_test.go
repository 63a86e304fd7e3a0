package fake_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/clusterapi/fake"
)

// history is all that a client heard in a run in which much happens, as JSON.
func history(t *testing.T, seed uint64) string {
	t.Helper()
	c := fake.New(seed)
	cl := c.NewClient()
	defer cl.Close()
	w := cl.Watch()
	w.Distort(fake.Distortion{Drop: 0.05, Repeat: 0.1, Delay: 0.1, Reorder: 0.2})
	c.SetFate(func(pod *corev1.Pod) fake.Fate {
		return fake.Fate{Outcome: fake.Outcome(len(pod.Name) % 2 * int(fake.Flaps)), After: 3 * time.Second}
	})
	set := mustCreate(t, c, newSet("set"))
	var heard []fake.Event
	for i := range 10 {
		name := fmt.Sprintf("n%d", i)
		mustCreate(t, c, newNode(name))
		pod := newOwned("", name, set)
		pod.GenerateName = "agent-"
		_, err := cl.CreatePod(t.Context(), pod)
		require.NoError(t, err)
		mustCreate(t, c, newPod("anywhere-"+name))
		c.Run(700 * time.Millisecond)
		heard = append(heard, w.Drain()...)
	}
	c.SetNodeHealth("n3", fake.Unreachable)
	require.NoError(t, fake.Delete[*corev1.Node](c, nodeKey("n4"), fake.DeleteOptions{}))
	c.TerminateNamespace("ns")
	c.Run(2 * time.Minute)
	heard = append(heard, w.Drain()...)
	text, err := json.Marshal(heard)
	require.NoError(t, err)
	return string(text)
}

func TestSameSeedSameHistory(t *testing.T) {
	first := history(t, 7)
	assert.Greater(t, len(first), 10000, "much happened")
	for range 5 {
		require.Equal(t, first, history(t, 7))
	}
	assert.NotEqual(t, first, history(t, 8))
}

func TestNamesDoNotDependOnWhoIsFirst(t *testing.T) {
	make100 := func(workers int) map[string]string {
		c := fake.New(3)
		cl := c.NewClient()
		defer cl.Close()
		var all sync.WaitGroup
		for worker := range workers {
			all.Go(func() {
				for i := worker; i < 100; i += workers {
					pod := newPodOn("", fmt.Sprintf("n%d", i))
					pod.GenerateName = "agent-"
					_, err := cl.CreatePod(t.Context(), pod)
					assert.NoError(t, err)
				}
			})
		}
		all.Wait()
		identity := map[string]string{}
		for _, pod := range fake.List[*corev1.Pod](c, "") {
			node := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0]
			identity[node] = pod.Name + " " + string(pod.UID)
		}
		return identity
	}
	alone := make100(1)
	assert.Len(t, alone, 100)
	assert.Equal(t, alone, make100(8))
}

func TestJitterIsOfEachPodAndBounded(t *testing.T) {
	c := fake.New(1)
	c.SetTiming(fake.Timing{Start: 10 * time.Second, Jitter: 0.5})
	start := c.Now()
	mustCreate(t, c, newNode("a"))
	for i := range 20 {
		mustCreate(t, c, newPodOn(fmt.Sprintf("p%d", i), "a"))
	}
	c.Run(9 * time.Second)
	assert.Equal(t, "Pending", stateOf(c, "p0"))
	moments := map[time.Duration]bool{}
	for {
		at, ok := c.Next()
		if !ok {
			break
		}
		moments[at.Sub(start).Truncate(time.Second)] = true
		assert.LessOrEqual(t, at.Sub(start), 15*time.Second)
		c.Run(at.Sub(c.Now()))
	}
	assert.Greater(t, len(moments), 2, "not all at once")
	for i := range 20 {
		assert.Equal(t, "Running ready", stateOf(c, fmt.Sprintf("p%d", i)))
	}
}

func TestClock(t *testing.T) {
	c := fake.New(1)
	start := c.Now()
	c.Advance(-time.Hour)
	c.Advance(0)
	assert.Equal(t, start, c.Now(), "time does not go back")
	c.Advance(1500 * time.Millisecond)
	assert.Equal(t, start.Add(1500*time.Millisecond), c.Now())
	assert.Zero(t, c.Run(time.Hour))
	assert.Equal(t, start.Add(time.Hour+1500*time.Millisecond), c.Now(), "time passes when nothing is due, too")
	_, ok := c.Next()
	assert.False(t, ok)
}

func TestNextFollowsWhatChanges(t *testing.T) {
	c := fake.New(1)
	c.SetTiming(fake.Timing{Start: time.Second})
	start := c.Now()
	mustCreate(t, c, newNode("a"))
	mustCreate(t, c, newPodOn("p", "a"))
	c.Run(0)
	at, ok := c.Next()
	assert.True(t, ok)
	assert.Equal(t, time.Second, at.Sub(start))
	c.SetTiming(fake.Timing{Start: 5 * time.Second})
	at, ok = c.Next()
	assert.True(t, ok)
	assert.Equal(t, 5*time.Second, at.Sub(start))
	remove(t, c, "p")
	at, ok = c.Next()
	assert.True(t, ok)
	assert.Equal(t, start, at, "it stops in no time")
}
