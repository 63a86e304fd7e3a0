package clusterapi_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
)

func TestRunnerSurvivesPanics(t *testing.T) {
	cause := errors.New("cause")
	tests := []struct {
		name string
		fail func()
		want func(t *testing.T, err *clusterapi.PanicError)
	}{
		{"value", func() { panic("boom") }, func(t *testing.T, err *clusterapi.PanicError) {
			t.Helper()
			assert.Equal(t, "boom", err.Value)
			assert.Contains(t, err.Error(), "boom")
			assert.Contains(t, string(err.Stack), "runner_test.go")
			assert.NoError(t, err.Unwrap())
		}},
		{"error", func() { panic(cause) }, func(t *testing.T, err *clusterapi.PanicError) {
			t.Helper()
			assert.ErrorIs(t, err, cause)
		}},
		{"goroutine ended", runtime.Goexit, func(t *testing.T, err *clusterapi.PanicError) {
			t.Helper()
			assert.Nil(t, err.Value)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStub(t, func(_ context.Context, k types.NamespacedName, nth int) (clusterapi.Result, error) {
					if k.Name == "bad" && nth == 1 {
						tt.fail()
					}
					return clusterapi.Result{}, nil
				})
				var reports []clusterapi.Pass
				r := runStub(t, s, clusterapi.RunnerOptions{Workers: 1, OnPass: func(p clusterapi.Pass) { reports = append(reports, p) }})
				r.Add(key("bad"))
				r.Add(key("good"))
				sleep(time.Minute)
				assert.Equal(t, []string{"bad@0s", "good@0s", "bad@5ms"}, r.calls(), "retried, the others unharmed")
				assert.Equal(t, clusterapi.PassCounts{Panicked: 1, Succeeded: 2}, r.Counters().Passes)
				require.NoError(t, r.stop())
				require.Len(t, reports, 3)
				assert.Equal(t, key("bad"), reports[0].Key)
				err, ok := errors.AsType[*clusterapi.PanicError](reports[0].Err)
				require.True(t, ok)
				tt.want(t, err)
			})
		})
	}
}

// A pass that ignores its context costs one worker one timeout, and its key every pass until
// it returns.
func TestRunnerLeavesHangingPasses(t *testing.T) {
	for _, late := range []error{nil, errors.New("late")} {
		synctest.Test(t, func(t *testing.T) {
			s := newStub(t, func(_ context.Context, k types.NamespacedName, nth int) (clusterapi.Result, error) {
				if k.Name == "bad" && nth == 1 {
					sleep(time.Hour)
					return clusterapi.Result{Writes: []clusterapi.Write{{Verb: clusterapi.CreatePod, Outcome: clusterapi.Done}}}, late
				}
				return clusterapi.Result{}, nil
			})
			var mu sync.Mutex
			var told []clusterapi.Pass
			reports := func() []clusterapi.Pass {
				mu.Lock()
				defer mu.Unlock()
				return slices.Clone(told)
			}
			r := runStub(t, s, clusterapi.RunnerOptions{
				Workers: 1, PassTimeout: time.Minute, OnPass: func(p clusterapi.Pass) {
					mu.Lock()
					defer mu.Unlock()
					told = append(told, p)
				},
			})
			r.Add(key("bad"))
			r.Add(key("good"))
			synctest.Wait()
			r.Add(key("bad"))
			sleep(2 * time.Minute)
			synctest.Wait()
			assert.Equal(t, []string{"bad@0s", "good@1m1s"}, r.calls(), "the worker went on, the key rests")
			c := r.Counters()
			assert.Equal(t, clusterapi.PassCounts{Hung: 1, Succeeded: 1}, c.Passes)
			assert.Equal(t, 1, c.Stuck)
			assert.Equal(t, 1, c.Running)
			require.Len(t, reports(), 2)
			hang, ok := errors.AsType[*clusterapi.HangError](reports()[0].Err)
			require.True(t, ok)
			assert.Equal(t, clusterapi.HangError{Key: key("bad"), After: time.Minute + time.Second}, *hang)
			assert.Contains(t, hang.Error(), "ns/bad")

			sleep(time.Hour)
			synctest.Wait()
			assert.Equal(t, []string{"bad@0s", "good@1m1s", "bad@1h0m0s", "bad@1h0m0.005s"}, r.calls(), "asked for while it hung, and the retry")
			c = r.Counters()
			assert.Equal(t, clusterapi.PassCounts{Hung: 1, Succeeded: 3}, c.Passes, "counted once")
			assert.Equal(t, 1, c.Write(clusterapi.CreatePod, clusterapi.Done), "what it did counts")
			assert.Zero(t, c.Stuck)
			assert.Zero(t, c.Running)
			assert.Len(t, reports(), 4)
			require.NoError(t, r.stop())
		})
	}
}

func TestRunnerPassTimeout(t *testing.T) {
	tests := []struct {
		name    string
		why     string
		timeout time.Duration
		want    time.Duration
	}{
		{"default", "five minutes", 0, 5 * time.Minute},
		{"set", "as set", time.Minute, time.Minute},
		{"none", "no limit", -1, 10 * time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var took time.Duration
				var cause error
				s := newStub(t, func(ctx context.Context, _ types.NamespacedName, nth int) (clusterapi.Result, error) {
					if nth > 1 {
						return clusterapi.Result{}, nil
					}
					start := instant()
					doze(ctx, 10*time.Hour)
					took, cause = instant().Sub(start), context.Cause(ctx)
					return clusterapi.Result{}, cause
				})
				r := runStub(t, s, clusterapi.RunnerOptions{PassTimeout: tt.timeout})
				r.Add(key("a"))
				sleep(11 * time.Hour)
				require.NoError(t, r.stop())
				assert.Equal(t, tt.want, took, tt.why)
				assert.Equal(t, tt.timeout >= 0, errors.Is(cause, context.DeadlineExceeded))
				assert.Zero(t, r.Counters().Passes.Hung, "it kept to its context")
			})
		})
	}
}

func TestRunnerShutdown(t *testing.T) {
	dozes := func(d time.Duration) func(context.Context) { return func(ctx context.Context) { doze(ctx, d) } }
	tests := []struct {
		name  string
		why   string
		grace time.Duration
		pass  func(ctx context.Context)
		want  time.Duration // from the cancellation to the return of Run
		cut   bool
		hung  bool
	}{
		{"short pass", "finishes what it began", 0, dozes(5 * time.Second), 4 * time.Second, false, false},
		{"long pass", "its context is done after ten seconds", 0, dozes(time.Minute), 10 * time.Second, true, false},
		{"longer grace", "as set", time.Hour, dozes(time.Minute), 59 * time.Second, false, false},
		{"no grace", "its context is done at once", -1, dozes(time.Minute), 0, true, false},
		{"hanging", "left behind, and named", 0, func(context.Context) { sleep(time.Hour) }, 11 * time.Second, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var cut error
				s := newStub(t, func(ctx context.Context, _ types.NamespacedName, _ int) (clusterapi.Result, error) {
					tt.pass(ctx)
					cut = ctx.Err()
					return clusterapi.Result{}, nil
				})
				r := runStub(t, s, clusterapi.RunnerOptions{Workers: 1, Grace: tt.grace, PassTimeout: 2 * time.Hour})
				r.Add(key("a"))
				r.Add(key("b"))
				sleep(time.Second)
				start := instant()
				err := r.stop()
				assert.Equal(t, tt.want, instant().Sub(start), tt.why)
				_, hung := errors.AsType[*clusterapi.HangError](err)
				assert.Equal(t, tt.hung, hung)
				assert.Equal(t, tt.hung, err != nil)
				assert.Equal(t, []string{"a@0s"}, r.calls(), "nothing new is begun")
				assert.Equal(t, 1, r.Counters().Queued, "and nothing lost")
				sleep(time.Hour)
				synctest.Wait()
				assert.Equal(t, tt.cut, cut != nil)

				r.start(t)
				sleep(3 * time.Hour)
				assert.Contains(t, r.calls()[1], "b@", "another Run takes up what is left")
				require.NoError(t, r.stop())
			})
		})
	}
}

func TestRunnerRunsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runStub(t, newStub(t, nil), clusterapi.RunnerOptions{})
		synctest.Wait()
		require.Error(t, r.Run(t.Context()))
		r.Add(key("a"))
		synctest.Wait()
		require.Len(t, r.calls(), 1, "the first Run is unharmed")
		require.NoError(t, r.stop())

		done, cancel := context.WithCancel(t.Context())
		cancel()
		r.Add(key("b"))
		require.NoError(t, r.Run(done))
		require.Len(t, r.calls(), 1, "nothing is begun once the context is done")
	})
}

// A report that takes its time is not taken for a pass that hangs.
func TestRunnerWaitsForReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runStub(t, newStub(t, nil), clusterapi.RunnerOptions{
			Workers: 1, PassTimeout: time.Minute,
			OnPass: func(p clusterapi.Pass) {
				assert.NoError(t, p.Err)
				sleep(time.Hour)
			},
		})
		r.Add(key("a"))
		synctest.Wait()
		r.Add(key("a"))
		sleep(3 * time.Hour)
		assert.Equal(t, []string{"a@0s", "a@1h0m0s"}, r.calls(), "the next pass of the key comes after the report")
		assert.Equal(t, clusterapi.PassCounts{Succeeded: 2}, r.Counters().Passes)
		require.NoError(t, r.stop())
	})
}
