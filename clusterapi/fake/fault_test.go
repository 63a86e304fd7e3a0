package fake_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
)

var errBroken = errors.New("broken")

// createNamed makes pods of these names and returns those that are an error to the caller.
func createNamed(t *testing.T, cl *fake.Client, podNames ...string) []string {
	t.Helper()
	failed := []string{}
	for _, name := range podNames {
		if _, err := cl.CreatePod(t.Context(), newPodOn(name, "on-"+name)); err != nil {
			failed = append(failed, name)
		}
	}
	return failed
}

func TestFaultsStrikeTheCallsTheyCover(t *testing.T) {
	four := []string{"a", "b", "c", "d"}
	tests := []struct {
		name, why    string
		give         fake.Fault
		failed, made []string
	}{
		{"next", "once", fake.Fault{Err: errBroken}, []string{"a"}, []string{"b", "c", "d"}},
		{"of a call", "the name of the method", fake.Fault{Call: fake.CreatePod, Err: errBroken}, []string{"a"}, []string{"b", "c", "d"}},
		{"of a write", "creating is one", fake.Fault{Call: fake.AnyWrite, Err: errBroken}, []string{"a"}, []string{"b", "c", "d"}},
		{"of another call", "it waits for that", fake.Fault{Call: fake.DeletePod, Err: errBroken}, []string{}, four},
		{"third", "two pass", fake.Fault{Skip: 2, Err: errBroken}, []string{"c"}, []string{"a", "b", "d"}},
		{"twice", "then no more", fake.Fault{Skip: 1, Times: 2, Err: errBroken}, []string{"b", "c"}, []string{"a", "d"}},
		{"always", "less than zero", fake.Fault{Times: -1, Err: errBroken}, four, []string{}},
		{"about a name", "the others do not count", fake.Fault{About: key("c"), Err: errBroken}, []string{"c"}, []string{"a", "b", "d"}},
		{"for a node", "the others do not count", fake.Fault{Node: "on-b", Err: errBroken}, []string{"b"}, []string{"a", "c", "d"}},
		{"after", "it took effect", fake.Fault{When: fake.After, Err: errBroken}, []string{"a"}, four},
		{"no error", "nothing happens", fake.Fault{}, []string{}, four},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := fake.New(1)
			cl := c.NewClient()
			defer cl.Close()
			cl.Inject(tt.give)
			assert.Equal(t, tt.failed, createNamed(t, cl, four...), tt.why)
			assert.Equal(t, tt.made, names(fake.List[*corev1.Pod](c, "")), tt.why)
			assert.Equal(t, 4, cl.Writes(), "failed writes count")
		})
	}
}

func TestFaultsAreOfOneClient(t *testing.T) {
	c := fake.New(1)
	cl, other := c.NewClient(), c.NewClient()
	cl.Inject(fake.Fault{Times: -1, Err: errBroken})
	assert.Empty(t, createNamed(t, other, "a"))
	assert.Equal(t, []string{"b"}, createNamed(t, cl, "b"))
	cl.ClearFaults()
	assert.Empty(t, createNamed(t, cl, "b"))
}

func TestGeneratedNameCanBeMeant(t *testing.T) {
	c := fake.New(1)
	cl := c.NewClient()
	cl.Inject(fake.Fault{About: key("agent-"), Err: errBroken})
	pod := newPod("")
	pod.GenerateName = "agent-"
	_, err := cl.CreatePod(t.Context(), pod)
	assert.ErrorIs(t, err, errBroken)
}

func TestReadsAreNoWrites(t *testing.T) {
	c, cl := withSet(t)
	cl.Inject(fake.Fault{Call: fake.AnyWrite, Err: errBroken})
	observe(t, cl)
	_, err := cl.Live(t.Context(), key("set"))
	require.NoError(t, err)
	cl.RecordEvent(t.Context(), ref(mustGet[*appsv1.DaemonSet](t, c, key("set"))), daemonset.Event{Reason: "r"})
	assert.Len(t, c.Recorded(), 1)
	assert.Zero(t, cl.Writes())
	require.ErrorIs(t, cl.DeletePod(t.Context(), ref(mustGet[*corev1.Pod](t, c, key("a")))), errBroken)
	cl.Inject(fake.Fault{Call: fake.Observe, Err: errBroken})
	_, err = cl.Observe(t.Context(), key("set"))
	assert.ErrorIs(t, err, errBroken)
}

func TestCrash(t *testing.T) {
	for name, when := range map[string]fake.When{"before": fake.Before, "after": fake.After} {
		t.Run(name, func(t *testing.T) {
			c := fake.New(1)
			cl := c.NewClient()
			cl.Inject(fake.Fault{Call: fake.AnyWrite, Skip: 1, When: when, Crash: true})
			_, err := cl.CreatePod(t.Context(), newPod("a"))
			require.NoError(t, err)
			assert.False(t, cl.Crashed())
			_, err = cl.CreatePod(t.Context(), newPod("b"))
			require.ErrorIs(t, err, fake.ErrCrashed)
			assert.True(t, cl.Crashed())
			_, err = cl.CreatePod(t.Context(), newPod("c"))
			require.ErrorIs(t, err, fake.ErrCrashed)
			want := []string{"a"}
			if when == fake.After {
				want = []string{"a", "b"}
			}
			assert.Equal(t, want, names(fake.List[*corev1.Pod](c, "")))
			_, err = c.NewClient().CreatePod(t.Context(), newPod("d"))
			require.NoError(t, err, "the next process lives")
		})
	}
}

func TestSlowCalls(t *testing.T) {
	for name, when := range map[string]fake.When{"before": fake.Before, "after": fake.After} {
		t.Run(name, func(t *testing.T) {
			c := fake.New(1)
			cl := c.NewClient()
			cl.Inject(fake.Fault{When: when, Wait: time.Minute})
			answer := make(chan error, 1)
			go func() {
				_, err := cl.CreatePod(t.Context(), newPod("a"))
				answer <- err
			}()
			require.Eventually(t, func() bool { return cl.Writes() == 1 }, 10*time.Second, time.Millisecond, "the call was made")
			c.Advance(59 * time.Second)
			assert.Never(t, func() bool { return len(answer) > 0 }, 20*time.Millisecond, time.Millisecond, "it came back early")
			assert.Len(t, fake.List[*corev1.Pod](c, ""), map[fake.When]int{fake.Before: 0, fake.After: 1}[when])
			c.Advance(time.Second)
			require.NoError(t, <-answer)
			assert.Len(t, fake.List[*corev1.Pod](c, ""), 1)
		})
	}
}

func TestSlowCallEndsWithItsContext(t *testing.T) {
	for name, when := range map[string]fake.When{"before": fake.Before, "after": fake.After} {
		t.Run(name, func(t *testing.T) {
			c := fake.New(1)
			cl := c.NewClient()
			cl.Inject(fake.Fault{When: when, Wait: time.Minute})
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			_, err := cl.CreatePod(ctx, newPod("a"))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Len(t, fake.List[*corev1.Pod](c, ""), map[fake.When]int{fake.Before: 0, fake.After: 1}[when])
		})
	}
}

func TestClientThatDiesWhileItWaits(t *testing.T) {
	c := fake.New(1)
	cl := c.NewClient()
	cl.Inject(fake.Fault{Wait: time.Minute})
	answer := make(chan error, 1)
	go func() {
		_, err := cl.CreatePod(t.Context(), newPod("a"))
		answer <- err
	}()
	require.Eventually(t, func() bool { return cl.Writes() == 1 }, 10*time.Second, time.Millisecond)
	cl.Close()
	c.Advance(time.Minute)
	require.ErrorIs(t, <-answer, fake.ErrCrashed)
	assert.Empty(t, fake.List[*corev1.Pod](c, ""))
}

func TestChaos(t *testing.T) {
	run := func(seed uint64, reverse bool) (map[string]string, int) {
		c := fake.New(seed)
		cl := c.NewClient()
		cl.SetChaos(fake.Chaos{Refuse: 0.3, Lose: 0.3})
		answers := map[string]string{}
		for i := range 100 {
			if reverse {
				i = 99 - i
			}
			name := "p" + string(rune('a'+i/10)) + string(rune('a'+i%10))
			_, err := cl.CreatePod(t.Context(), newPod(name))
			answers[name] = string(apierrors.ReasonForError(err))
			if err == nil {
				answers[name] = "made"
			}
			_, getErr := fake.Get[*corev1.Pod](c, key(name))
			if apierrors.IsTimeout(err) || err == nil {
				require.NoError(t, getErr, "it took effect")
			} else {
				require.Error(t, getErr, "it had no effect")
			}
		}
		return answers, len(fake.List[*corev1.Pod](c, ""))
	}
	answers, made := run(1, false)
	count := map[string]int{}
	for _, answer := range answers {
		count[answer]++
	}
	for _, kind := range []string{"made", "Timeout", "InternalError", "TooManyRequests", "ServerTimeout"} {
		assert.Positive(t, count[kind], "%s in %v", kind, count)
	}
	assert.Equal(t, count["made"]+count["Timeout"], made)

	reversed, _ := run(1, true)
	assert.Equal(t, answers, reversed, "what fails does not depend on the order of calls")
	other, _ := run(2, false)
	assert.NotEqual(t, answers, other, "it depends on the seed")
}

func TestChaosLeavesReadsTheirAnswers(t *testing.T) {
	_, cl := withSet(t)
	cl.SetChaos(fake.Chaos{Lose: 1})
	observe(t, cl)
	cl.SetChaos(fake.Chaos{Refuse: 1})
	_, err := cl.Observe(t.Context(), key("set"))
	require.Error(t, err)
	cl.ClearFaults()
	observe(t, cl)
}
