package clusterapi_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/expectations"
)

// stub is a Syncer that writes down when it is called, and watches that no key is on two
// workers.
type stub struct {
	t    *testing.T
	do   func(ctx context.Context, key types.NamespacedName, nth int) (clusterapi.Result, error)
	mu   sync.Mutex
	busy map[types.NamespacedName]bool
	made map[types.NamespacedName]int
	log  []string // "key@time since start"
	zero time.Time

	settled  []daemonset.Wakes
	onSettle func()
}

func newStub(t *testing.T, do func(ctx context.Context, key types.NamespacedName, nth int) (clusterapi.Result, error)) *stub {
	t.Helper()
	return &stub{
		t: t, do: do, zero: instant(),
		busy: map[types.NamespacedName]bool{}, made: map[types.NamespacedName]int{},
	}
}

func (s *stub) Sync(ctx context.Context, key types.NamespacedName) (clusterapi.Result, error) {
	s.mu.Lock()
	assert.False(s.t, s.busy[key], "%s is on two workers", key)
	s.busy[key] = true
	s.made[key]++
	nth := s.made[key]
	s.log = append(s.log, key.Name+"@"+instant().Sub(s.zero).String())
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.busy[key] = false
	}()
	if s.do == nil {
		return clusterapi.Result{}, nil
	}
	return s.do(ctx, key, nth)
}

func (s *stub) Settle(w daemonset.Wakes) {
	s.settled = append(s.settled, w)
	if s.onSettle != nil {
		s.onSettle()
	}
}

func (s *stub) calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.log...)
}

// The clock of these tests is that of package synctest: it stands still but for waiting.

func instant() time.Time { return time.Now() } //nolint:forbidigo // a bubble's clock

func sleep(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // in a bubble this takes no time

// doze sleeps until ctx is done at the latest.
func doze(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d): //nolint:forbidigo // in a bubble this takes no time
	}
}

func key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "ns", Name: name}
}

// running is a Runner under way.
type running struct {
	*clusterapi.Runner
	*stub
	cancel context.CancelFunc
	err    chan error
}

// runStub starts a Runner; stop ends it and waits.
func runStub(t *testing.T, s *stub, options clusterapi.RunnerOptions) *running {
	t.Helper()
	runner, err := clusterapi.NewRunner(s, options)
	require.NoError(t, err)
	r := &running{Runner: runner, stub: s, err: make(chan error, 1)}
	r.start(t)
	return r
}

func (r *running) start(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r.cancel = cancel
	go func() { r.err <- r.Run(ctx) }()
}

func (r *running) stop() error {
	r.cancel()
	return <-r.err
}

func TestNewRunnerNeedsASyncer(t *testing.T) {
	_, err := clusterapi.NewRunner(nil, clusterapi.RunnerOptions{})
	require.Error(t, err)
}

func TestRunnerDelays(t *testing.T) {
	tests := []struct {
		name string
		why  string
		give func(r *running)
		want []string
	}{
		{"at once", "nothing to wait for", func(r *running) { r.Add(key("a")) }, []string{"a@0s"}},
		{"in order", "first in, first out", func(r *running) { r.Add(key("b")); r.Add(key("a")) }, []string{"b@0s", "a@0s"}},
		{"after a delay", "not before it is over", func(r *running) { r.AddAfter(key("a"), time.Minute) }, []string{"a@1m0s"}},
		{"after no delay", "as good as Add", func(r *running) { r.AddAfter(key("a"), -1) }, []string{"a@0s"}},
		{"later, then earlier", "the earliest wins", func(r *running) {
			r.AddAfter(key("a"), time.Hour)
			r.AddAfter(key("a"), time.Minute)
		}, []string{"a@1m0s"}},
		{"earlier, then later", "the earliest wins", func(r *running) {
			r.AddAfter(key("a"), time.Minute)
			r.AddAfter(key("a"), time.Hour)
		}, []string{"a@1m0s"}},
		{"earlier than another key", "the alarm is set anew", func(r *running) {
			r.AddAfter(key("a"), time.Hour)
			synctest.Wait()
			r.AddAfter(key("b"), time.Minute)
		}, []string{"b@1m0s", "a@1h0m0s"}},
		{"many", "each at its own time", func(r *running) {
			for _, minutes := range []int{5, 3, 1, 4, 2} {
				r.AddAfter(key(fmt.Sprint(minutes)), time.Duration(minutes)*time.Minute)
			}
		}, []string{"1@1m0s", "2@2m0s", "3@3m0s", "4@4m0s", "5@5m0s"}},
		{"at one instant", "in the order of their calls", func(r *running) {
			for _, name := range []string{"c", "a", "d", "b"} {
				r.AddAfter(key(name), time.Minute)
			}
		}, []string{"c@1m0s", "a@1m0s", "d@1m0s", "b@1m0s"}},
		{"earlier than others", "it goes to the front of them", func(r *running) {
			r.AddAfter(key("a"), time.Hour)
			r.AddAfter(key("b"), 30*time.Minute)
			r.AddAfter(key("a"), time.Minute)
		}, []string{"a@1m0s", "b@30m0s"}},
		{"after a pass in between", "what is known of a delay outlives the pass", func(r *running) {
			r.AddAfter(key("a"), time.Minute)
			r.Add(key("a"))
			synctest.Wait()
			r.AddAfter(key("a"), 2*time.Minute)
		}, []string{"a@0s", "a@1m0s"}},
		{"now and later", "an earlier pass does not use up the delay", func(r *running) {
			r.AddAfter(key("a"), time.Minute)
			r.Add(key("a"))
		}, []string{"a@0s", "a@1m0s"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := runStub(t, newStub(t, nil), clusterapi.RunnerOptions{Workers: 1})
				tt.give(r)
				sleep(2 * time.Hour)
				assert.Equal(t, tt.want, r.calls(), tt.why)
				require.NoError(t, r.stop())
			})
		})
	}
}

func TestRunnerCoalesces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStub(t, func(context.Context, types.NamespacedName, int) (clusterapi.Result, error) {
			sleep(time.Second)
			return clusterapi.Result{}, nil
		})
		r := runStub(t, s, clusterapi.RunnerOptions{Workers: 2})
		r.Add(key("a"))
		synctest.Wait()
		for range 5 { // while its pass is under way: one more, after it
			r.Add(key("a"))
		}
		r.AddAfter(key("a"), 500*time.Millisecond) // comes due while it is under way
		sleep(time.Minute)
		assert.Equal(t, []string{"a@0s", "a@1s"}, r.calls())
		c := r.Counters()
		assert.Equal(t, 2, c.Added)
		assert.Equal(t, 4, c.Repeated)
		assert.Equal(t, clusterapi.Durations{Count: 2, Sum: 2 * time.Second, Max: time.Second}, c.PassTime)
		require.NoError(t, r.stop())
	})
}

// A key that comes due while it is under way goes to the end of the queue.
func TestRunnerIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *running
		s := newStub(t, func(_ context.Context, k types.NamespacedName, _ int) (clusterapi.Result, error) {
			if k.Name == "greedy" {
				r.Add(k)
			}
			sleep(time.Second)
			return clusterapi.Result{}, nil
		})
		r = runStub(t, s, clusterapi.RunnerOptions{Workers: 1})
		for _, name := range []string{"greedy", "a", "b"} {
			r.Add(key(name))
		}
		sleep(4500 * time.Millisecond)
		r.Add(key("c"))
		sleep(2 * time.Second)
		assert.Equal(t, []string{"greedy@0s", "a@1s", "b@2s", "greedy@3s", "greedy@4s", "c@5s", "greedy@6s"}, r.calls())
		require.NoError(t, r.stop())
	})
}

// What was due first goes first, also if no worker was free to look at the clock.
func TestRunnerOrdersDelaysAmongAdds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStub(t, func(_ context.Context, k types.NamespacedName, _ int) (clusterapi.Result, error) {
			if k.Name == "long" {
				sleep(time.Hour)
			}
			return clusterapi.Result{}, nil
		})
		r := runStub(t, s, clusterapi.RunnerOptions{Workers: 1, PassTimeout: -1})
		r.Add(key("long"))
		r.AddAfter(key("delayed"), time.Minute)
		sleep(2 * time.Minute)
		c := r.Counters()
		assert.Equal(t, 1, c.Queued)
		assert.Zero(t, c.Delayed)
		r.Add(key("added"))
		assert.Equal(t, 2, r.Counters().Queued)
		sleep(time.Hour)
		assert.Equal(t, []string{"long@0s", "delayed@1h0m0s", "added@1h0m0s"}, r.calls())
		require.NoError(t, r.stop())
	})
}

func TestRunnerKeepsContextValues(t *testing.T) {
	type name struct{}
	synctest.Test(t, func(t *testing.T) {
		var got any
		s := newStub(t, func(ctx context.Context, _ types.NamespacedName, _ int) (clusterapi.Result, error) {
			got = ctx.Value(name{})
			return clusterapi.Result{}, nil
		})
		runner, err := clusterapi.NewRunner(s, clusterapi.RunnerOptions{})
		require.NoError(t, err)
		runner.Add(key("a"))
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), name{}, "x"), time.Second)
		defer cancel()
		require.NoError(t, runner.Run(ctx))
		require.Equal(t, "x", got)
	})
}

func TestRunnerWake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStub(t, nil)
		r := runStub(t, s, clusterapi.RunnerOptions{Workers: 1})
		w := daemonset.Wakes{
			Sets:  []types.NamespacedName{key("a"), key("b")},
			Later: []daemonset.Later{{Set: key("a"), After: 11 * time.Second}},
			Seen:  []daemonset.Sighting{{Owner: "o", Pod: "p", What: daemonset.SawCreate}},
		}
		s.onSettle = func() { assert.Zero(t, r.Counters().Added, "settled before anything is added") }
		r.Wake(w)
		sleep(time.Minute)
		assert.Equal(t, []string{"a@0s", "b@0s", "a@11s"}, r.calls())
		assert.Equal(t, []daemonset.Wakes{w}, r.settled)
		require.NoError(t, r.stop())
	})
}

func TestDriverSettle(t *testing.T) {
	w := newWorld(t, 1)
	tracker := w.driver.Expectations()
	now := time.Unix(0, 0)
	tracker.Expect("o", 1, []types.UID{"old", "older"}, now)
	tracker.Created("o", "new")
	tracker.Expect("gone", 3, nil, now)
	w.driver.Settle(daemonset.Wakes{
		Forget: []types.UID{"gone"},
		Seen: []daemonset.Sighting{
			{Owner: "o", Pod: "new", What: daemonset.SawCreate},
			{Owner: "o", Pod: "old", What: daemonset.SawDelete},
			{Owner: "o", Pod: "older"},
		},
	})
	require.Equal(t, expectations.Pending{Deletes: []types.UID{"older"}, Deadline: now.Add(expectations.DefaultTimeout)}, tracker.Pending("o"))
	require.Zero(t, tracker.Pending("gone"))
}

// With a clock of the caller's, delays are over by that clock.
func TestRunnerClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now := time.Unix(0, 0)
		s := newStub(t, nil)
		r := runStub(t, s, clusterapi.RunnerOptions{Now: func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return now
		}})
		r.AddAfter(key("a"), time.Minute)
		sleep(time.Hour)
		require.Empty(t, r.calls(), "the clock stands still")
		mu.Lock()
		now = now.Add(time.Minute)
		mu.Unlock()
		sleep(2 * time.Minute)
		require.Len(t, r.calls(), 1)
		require.NoError(t, r.stop())
	})
}

func TestRunnerDrivesADriver(t *testing.T) {
	w := newWorld(t, 3)
	runner, err := clusterapi.NewRunner(w.driver, clusterapi.RunnerOptions{OnPass: func(p clusterapi.Pass) { assert.NoError(t, p.Err) }})
	require.NoError(t, err)
	runner.Add(agent)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()
	require.Eventually(t, func() bool { return runner.Counters().Passes.Succeeded > 0 }, 10*time.Second, time.Millisecond)
	cancel()
	require.NoError(t, <-ended)
	require.Equal(t, 3, runner.Counters().Write(clusterapi.CreatePod, clusterapi.Done))
}

// As many passes as there are workers begin at once, also if one alarm woke them all.
func TestRunnerWorkers(t *testing.T) {
	tests := []struct {
		name    string
		why     string
		workers int
		want    []string
	}{
		{"default", "two, as in Kubernetes", 0, []string{"a@1m0s", "b@1m0s", "c@2m0s", "d@2m0s"}},
		{"one", "one after the other", 1, []string{"a@1m0s", "b@2m0s", "c@3m0s", "d@4m0s"}},
		{"many", "all at once", 8, []string{"a@1m0s", "b@1m0s", "c@1m0s", "d@1m0s"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStub(t, func(context.Context, types.NamespacedName, int) (clusterapi.Result, error) {
					sleep(time.Minute)
					return clusterapi.Result{}, nil
				})
				r := runStub(t, s, clusterapi.RunnerOptions{Workers: tt.workers})
				for _, name := range []string{"a", "b", "c", "d"} {
					r.AddAfter(key(name), time.Minute)
				}
				sleep(time.Hour)
				assert.ElementsMatch(t, tt.want, r.calls(), tt.why)
				require.NoError(t, r.stop())
			})
		})
	}
}

func TestRunnerCountersAreACopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStub(t, func(context.Context, types.NamespacedName, int) (clusterapi.Result, error) {
			return clusterapi.Result{Writes: []clusterapi.Write{{Verb: clusterapi.CreatePod, Outcome: clusterapi.Done}}}, nil
		})
		r := runStub(t, s, clusterapi.RunnerOptions{})
		r.Add(key("a"))
		synctest.Wait()
		first := r.Counters()
		r.Add(key("a"))
		synctest.Wait()
		assert.Equal(t, 1, first.Write(clusterapi.CreatePod, clusterapi.Done))
		assert.Equal(t, 2, r.Counters().Write(clusterapi.CreatePod, clusterapi.Done))
		require.NoError(t, r.stop())
	})
}

// With Drain a program that has a clock of its own makes the passes that are due by it, on
// its own goroutine.
func TestRunnerDrain(t *testing.T) {
	now := time.Unix(0, 0)
	var r *clusterapi.Runner
	var calls []string
	s := newStub(t, func(ctx context.Context, k types.NamespacedName, nth int) (clusterapi.Result, error) {
		calls = append(calls, k.Name)
		switch {
		case k.Name == "a" && nth == 1:
			r.Add(key("b")) // due meanwhile
			return clusterapi.Result{}, errors.New("boom")
		case k.Name == "b":
			return clusterapi.Result{Requeue: time.Hour}, nil
		}
		return clusterapi.Result{}, ctx.Err()
	})
	r, err := clusterapi.NewRunner(s, clusterapi.RunnerOptions{Now: func() time.Time { return now }, FirstRetry: time.Minute})
	require.NoError(t, err)
	_, ok := r.NextDue()
	require.False(t, ok)
	r.Add(key("a"))
	at, ok := r.NextDue()
	require.True(t, ok)
	require.Equal(t, now, at)

	passes, err := r.Drain(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, passes)
	require.Equal(t, []string{"a", "b"}, calls)
	for _, wait := range []time.Duration{time.Minute, time.Hour - time.Minute} { // the retry, then the requeue
		at, ok = r.NextDue()
		require.True(t, ok)
		require.Equal(t, now.Add(wait), at)
		passes, err = r.Drain(t.Context())
		require.NoError(t, err)
		require.Zero(t, passes)
		now = at
		passes, err = r.Drain(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, passes)
	}
	require.Equal(t, []string{"a", "b", "a", "b"}, calls)

	r.Add(key("a"))
	done, cancel := context.WithCancel(t.Context())
	cancel()
	passes, err = r.Drain(done)
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, passes)
	require.Equal(t, 1, r.Counters().Queued, "it stays for another time")
}

func TestRunnerDrainAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runStub(t, newStub(t, nil), clusterapi.RunnerOptions{})
		synctest.Wait()
		_, err := r.Drain(t.Context())
		require.ErrorContains(t, err, "running already")
		require.NoError(t, r.stop())
	})
}
