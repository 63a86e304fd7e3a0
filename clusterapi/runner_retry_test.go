package clusterapi_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/daemonset"
)

func TestRunnerRetries(t *testing.T) {
	boom := errors.New("boom")
	busy := apierrors.NewTooManyRequests("busy", 7)
	tests := []struct {
		name    string
		why     string
		options clusterapi.RunnerOptions
		do      func(nth int) (clusterapi.Result, error)
		want    []string
		retries int
	}{
		{
			name: "doubling", why: "5 ms, 10 ms, 20 ms as client-go",
			do:      failing(3, clusterapi.Result{}, boom),
			want:    []string{"a@0s", "a@5ms", "a@15ms", "a@35ms"},
			retries: 3,
		},
		{
			name: "up to the limit", why: "then the same delay again and again",
			options: clusterapi.RunnerOptions{FirstRetry: time.Second, LastRetry: 3 * time.Second},
			do:      failing(4, clusterapi.Result{}, boom),
			want:    []string{"a@0s", "a@1s", "a@3s", "a@6s", "a@9s"},
			retries: 4,
		},
		{
			name: "limit below the first", why: "the limit goes before",
			options: clusterapi.RunnerOptions{FirstRetry: time.Minute, LastRetry: time.Second},
			do:      failing(1, clusterapi.Result{}, boom),
			want:    []string{"a@0s", "a@1s"},
			retries: 1,
		},
		{
			name: "success starts over", why: "only failures in a row count",
			do: func(nth int) (clusterapi.Result, error) {
				if nth == 3 {
					return clusterapi.Result{Requeue: time.Minute}, nil
				}
				return failing(4, clusterapi.Result{}, boom)(nth)
			},
			want:    []string{"a@0s", "a@5ms", "a@15ms", "a@1m0.015s", "a@1m0.02s"},
			retries: 3,
		},
		{
			name: "the server's delay", why: "no retry before it is over",
			do:      failing(1, clusterapi.Result{}, fmt.Errorf("observe: %w", busy)),
			want:    []string{"a@0s", "a@7s"},
			retries: 1,
		},
		{
			name: "refused between failures", why: "a pass that could not do its work starts nothing over",
			do: func(nth int) (clusterapi.Result, error) {
				switch {
				case nth > 5:
					return clusterapi.Result{}, nil
				case nth == 2:
					return clusterapi.Result{Stale: &clusterapi.StaleError{}, Requeue: time.Second}, nil
				case nth == 4:
					return clusterapi.Result{Plan: daemonset.Plan{Reason: daemonset.WritesPending}, Requeue: time.Second}, nil
				}
				return clusterapi.Result{}, boom
			},
			want:    []string{"a@0s", "a@5ms", "a@1.005s", "a@1.015s", "a@2.015s", "a@2.035s"},
			retries: 3,
		},
		{
			name: "the longest of several", why: "each write may have been told another delay",
			do: failing(1, clusterapi.Result{Writes: []clusterapi.Write{
				{Err: apierrors.NewTooManyRequests("busy", 3)}, {Err: busy}, {Err: boom}, {},
			}}, boom),
			want:    []string{"a@0s", "a@7s"},
			retries: 1,
		},
		{
			name: "the retry if it is longer", why: "both are lower bounds",
			options: clusterapi.RunnerOptions{FirstRetry: time.Minute},
			do:      failing(1, clusterapi.Result{}, busy),
			want:    []string{"a@0s", "a@1m0s"},
			retries: 1,
		},
		{
			name: "requeued", why: "a pass by then, and no retry",
			do: func(nth int) (clusterapi.Result, error) {
				return clusterapi.Result{Requeue: time.Duration(max(0, 3-nth)) * time.Second}, nil
			},
			want: []string{"a@0s", "a@2s", "a@3s"},
		},
		{
			name: "failed, requeued soon", why: "time alone changes the plan before the retry",
			options: clusterapi.RunnerOptions{FirstRetry: time.Hour},
			do:      failing(1, clusterapi.Result{Requeue: time.Minute}, boom),
			want:    []string{"a@0s", "a@1m0s"},
			retries: 1,
		},
		{
			name: "failed, requeued late", why: "the retry is not put off",
			do:      failing(1, clusterapi.Result{Requeue: time.Hour}, boom),
			want:    []string{"a@0s", "a@5ms"},
			retries: 1,
		},
		{
			name: "refused", why: "not an error, and the result says when",
			do: func(nth int) (clusterapi.Result, error) {
				if nth == 1 {
					return clusterapi.Result{Stale: &clusterapi.StaleError{}, Requeue: time.Second}, nil
				}
				return clusterapi.Result{}, nil
			},
			want: []string{"a@0s", "a@1s"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStub(t, func(_ context.Context, _ types.NamespacedName, nth int) (clusterapi.Result, error) { return tt.do(nth) })
				r := runStub(t, s, tt.options)
				r.Add(key("a"))
				sleep(24 * time.Hour)
				assert.Equal(t, tt.want, r.calls(), tt.why)
				assert.Equal(t, tt.retries, r.Counters().Retries)
				require.NoError(t, r.stop())
			})
		})
	}
}

// failing fails the first passes with what is given, and no later one.
func failing(times int, result clusterapi.Result, err error) func(nth int) (clusterapi.Result, error) {
	return func(nth int) (clusterapi.Result, error) {
		if nth <= times {
			return result, err
		}
		return clusterapi.Result{}, nil
	}
}

// The default limit is reached, and the delay does not overflow on the way.
func TestRunnerRetriesForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStub(t, func(context.Context, types.NamespacedName, int) (clusterapi.Result, error) {
			return clusterapi.Result{}, errors.New("boom")
		})
		r := runStub(t, s, clusterapi.RunnerOptions{})
		r.Add(key("a"))
		sleep(100 * clusterapi.DefaultLastRetry)
		passes := r.Counters().Passes.Failed
		assert.InDelta(t, 100+18, passes, 2, "18 doublings of 5 ms, then every 1000 s")
		require.NoError(t, r.stop())
	})
}

// TestRunnerRests: the delay that a server asked for is kept to, whatever happens meanwhile.
func TestRunnerRests(t *testing.T) {
	busy := apierrors.NewTooManyRequests("busy", 7)
	tests := []struct {
		name string
		why  string
		then func(r *running) // while the pass is under way, and after it
		want []string
	}{
		{"an event during the pass", "of a pod that it created", func(r *running) { r.Add(key("a")) }, []string{"a@0s", "a@7.001s"}},
		{"events after it", "one pass makes up for all", func(r *running) {
			for range 5 {
				sleep(time.Second)
				r.Add(key("a"))
			}
		}, []string{"a@0s", "a@7.001s"}},
		{"a delay from before", "it waits, too", func(r *running) { r.AddAfter(key("a"), 2*time.Second) }, []string{"a@0s", "a@7.001s"}},
		{"a later delay", "it is kept", func(r *running) { r.AddAfter(key("a"), 10*time.Second) }, []string{"a@0s", "a@7.001s"}},
		{"an event after the rest", "it goes as ever", func(r *running) {
			sleep(8 * time.Second)
			r.Add(key("a"))
		}, []string{"a@0s", "a@7.001s", "a@8s"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStub(t, func(_ context.Context, _ types.NamespacedName, nth int) (clusterapi.Result, error) {
					sleep(time.Millisecond) // long enough for what is to happen during the pass
					return failing(1, clusterapi.Result{}, busy)(nth)
				})
				r := runStub(t, s, clusterapi.RunnerOptions{})
				r.Add(key("a"))
				synctest.Wait()
				tt.then(r)
				sleep(30 * time.Second)
				assert.Equal(t, tt.want, r.calls(), tt.why)
				require.NoError(t, r.stop())
			})
		})
	}
}
