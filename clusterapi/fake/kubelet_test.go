package fake_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/clusterapi/fake"
)

// observed is the states that a pod goes through, with the second at which each begins.
func observed(c *fake.Cluster, name string, d time.Duration) []string {
	start := c.Now()
	states := []string{}
	last := "-"
	for c.Now().Sub(start) <= d {
		c.Run(0)
		if state := stateOf(c, name); state != last {
			states = append(states, c.Now().Sub(start).String()+" "+state)
			last = state
		}
		c.Advance(time.Second)
	}
	return states
}

func TestLifeOfAPod(t *testing.T) {
	tests := []struct {
		name, why string
		fate      fake.Fate
		want      []string
	}{
		{"runs", "the usual", fake.Fate{}, []string{"0s Pending", "1s Running", "3s Running ready"}},
		{"never starts", "it stays pending", fake.Fate{Outcome: fake.NeverStarts}, []string{"0s Pending"}},
		{"never ready", "it stays running", fake.Fate{Outcome: fake.NeverReady}, []string{"0s Pending", "1s Running"}},
		{"rejected", "once it is bound", fake.Fate{Outcome: fake.Rejected}, []string{"0s Failed"}},
		{"fails", "5 s after it was ready", fake.Fate{Outcome: fake.Fails, After: 5 * time.Second}, []string{"0s Pending", "1s Running", "3s Running ready", "8s Failed"}},
		{"succeeds", "at once", fake.Fate{Outcome: fake.Succeeds}, []string{"0s Pending", "1s Running", "3s Succeeded"}},
		{"flaps", "and takes its time to come back", fake.Fate{Outcome: fake.Flaps, After: 4 * time.Second}, []string{"0s Pending", "1s Running", "3s Running ready", "7s Running", "9s Running ready"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := steady()
			c.SetFate(func(pod *corev1.Pod) fake.Fate {
				if pod.Name == "pod" {
					return tt.fate
				}
				return fake.Fate{}
			})
			mustCreate(t, c, newNode("a"))
			mustCreate(t, c, newPodOn("pod", "a"))
			mustCreate(t, c, newPodOn("other", "a"))
			assert.Equal(t, tt.want, observed(c, "pod", 10*time.Second), tt.why)
			assert.Equal(t, "Running ready", stateOf(c, "other"), "the fate of one is not that of another")
		})
	}
}

func TestEndOfAPod(t *testing.T) {
	two := int64(2)
	tests := []struct {
		name, why string
		fate      fake.Fate
		change    func(pod *corev1.Pod)
		want      []string
	}{
		{"usual", "its containers take 3 s to stop", fake.Fate{}, nil, []string{"0s Running ready deleted", "3s "}},
		{"short grace", "then they are killed", fake.Fate{}, func(pod *corev1.Pod) { pod.Spec.TerminationGracePeriodSeconds = &two }, []string{"0s Running ready deleted", "2s "}},
		{"hangs", "also beyond its grace period", fake.Fate{Hangs: true}, nil, []string{"0s Running ready deleted"}},
		{"held", "a finalizer keeps what has stopped", fake.Fate{}, func(pod *corev1.Pod) { pod.Finalizers = []string{"example.com/hold"} }, []string{"0s Running ready deleted", "3s Succeeded deleted"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := steady()
			c.SetFateOn("a", tt.fate)
			mustCreate(t, c, newNode("a"))
			pod := newPodOn("pod", "a")
			if tt.change != nil {
				tt.change(pod)
			}
			mustCreate(t, c, pod)
			c.Run(10 * time.Second)
			require.Equal(t, "Running ready", stateOf(c, "pod"))
			require.NoError(t, fake.Delete[*corev1.Pod](c, key("pod"), fake.DeleteOptions{}))
			assert.Equal(t, tt.want, observed(c, "pod", 60*time.Second), tt.why)
		})
	}
}

func TestFateOfANodeCanBeTakenBack(t *testing.T) {
	c := steady()
	mustCreate(t, c, newNode("a"))
	mustCreate(t, c, newPodOn("pod", "a"))
	c.SetFateOn("a", fake.Fate{Outcome: fake.NeverReady})
	c.Run(time.Minute)
	assert.Equal(t, "Running", stateOf(c, "pod"))
	c.SetFateOn("a", fake.Fate{})
	c.Run(0)
	assert.Equal(t, "Running ready", stateOf(c, "pod"))
	c.SetFate(func(*corev1.Pod) fake.Fate { return fake.Fate{Outcome: fake.Fails} })
	c.Run(0)
	assert.Equal(t, "Failed", stateOf(c, "pod"))
}

func TestEndedPodLeavesBeforeItIsRemoved(t *testing.T) {
	c := steady()
	mustCreate(t, c, newNode("a"))
	mustCreate(t, c, newPodOn("pod", "a"))
	c.Run(10 * time.Second)
	require.NoError(t, fake.Delete[*corev1.Pod](c, key("pod"), fake.DeleteOptions{}))
	c.Advance(3 * time.Second)
	assert.Equal(t, 1, c.Step())
	assert.Equal(t, "Succeeded deleted", stateOf(c, "pod"), "one step does one thing about a pod")
	assert.Equal(t, 1, c.Step())
	assert.Empty(t, stateOf(c, "pod"))
	assert.Zero(t, c.Step(), "nothing is left to do")
}

func TestReadyPodSaysSince(t *testing.T) {
	c := steady()
	mustCreate(t, c, newNode("a"))
	mustCreate(t, c, newPodOn("pod", "a"))
	start := c.Now()
	c.Run(time.Minute)
	pod := mustGet[*corev1.Pod](t, c, key("pod"))
	transitions := map[corev1.PodConditionType]time.Duration{}
	for _, condition := range pod.Status.Conditions {
		assert.Equal(t, corev1.ConditionTrue, condition.Status, condition.Type)
		transitions[condition.Type] = condition.LastTransitionTime.Sub(start)
	}
	assert.Equal(t, map[corev1.PodConditionType]time.Duration{
		corev1.PodScheduled: 0, corev1.PodInitialized: time.Second,
		corev1.PodReady: 3 * time.Second, corev1.ContainersReady: 3 * time.Second,
	}, transitions)
}

func TestConditionThatStaysKeepsItsTime(t *testing.T) {
	c := steady()
	c.SetFateOn("a", fake.Fate{Outcome: fake.NeverReady})
	mustCreate(t, c, newNode("a"))
	pod := newPodOn("pod", "a")
	pod.Finalizers = []string{"example.com/hold"}
	mustCreate(t, c, pod)
	start := c.Now()
	c.Run(10 * time.Second)
	remove(t, c, "pod")
	c.Run(10 * time.Second)
	require.Equal(t, "Succeeded deleted", stateOf(c, "pod"))
	for _, condition := range mustGet[*corev1.Pod](t, c, key("pod")).Status.Conditions {
		if condition.Type == corev1.PodReady {
			assert.Equal(t, time.Second, condition.LastTransitionTime.Sub(start), "it was not ready since it started")
		}
	}
}

func TestPodThatIsPutBackStartsAnew(t *testing.T) {
	c := steady()
	mustCreate(t, c, newNode("a"))
	pod := newPod("pod")
	pod.UID, pod.Spec.NodeName = "same", "a"
	none := int64(0)
	for range 2 {
		_, err := fake.Put(c, pod)
		require.NoError(t, err)
		c.Run(900 * time.Millisecond)
		assert.NotContains(t, stateOf(c, "pod"), "Running")
		require.NoError(t, fake.Delete[*corev1.Pod](c, key("pod"), fake.DeleteOptions{Grace: &none}))
		c.Run(time.Minute)
	}
}
