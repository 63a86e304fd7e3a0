package clusterapi_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
)

// Ten thousand keys, each added five times, are ten thousand passes, in the order in which
// they were first added; a key that fails over and over starves nobody.
func TestRunnerUnderLoad(t *testing.T) {
	const count = 10_000
	synctest.Test(t, func(t *testing.T) {
		s := newStub(t, func(_ context.Context, k types.NamespacedName, nth int) (clusterapi.Result, error) {
			sleep(time.Millisecond)
			if k.Name == "00000" && nth < 8 {
				return clusterapi.Result{}, errors.New("boom")
			}
			return clusterapi.Result{}, nil
		})
		runner, err := clusterapi.NewRunner(s, clusterapi.RunnerOptions{Workers: 1})
		require.NoError(t, err)
		var want []types.NamespacedName
		for i := range count {
			want = append(want, key(fmt.Sprintf("%05d", i)))
		}
		for range 5 {
			for _, k := range want {
				runner.Add(k)
			}
		}
		c := runner.Counters()
		require.Equal(t, count, c.Queued, "duplicates coalesce")
		require.Equal(t, count, c.Added)
		require.Equal(t, 4*count, c.Repeated)

		r := &running{Runner: runner, stub: s, err: make(chan error, 1)}
		r.start(t)
		sleep(time.Minute)
		require.NoError(t, r.stop())
		c = runner.Counters()
		require.Equal(t, clusterapi.PassCounts{Succeeded: count, Failed: 7}, c.Passes)
		require.Zero(t, c.Queued+c.Delayed+c.Running)

		calls := r.calls()
		require.Len(t, calls, count+7)
		firsts := slices.DeleteFunc(slices.Clone(calls), func(call string) bool { return call[:5] == "00000" })
		require.True(t, slices.IsSortedFunc(firsts, func(a, b string) int { return slices.Compare([]byte(a[:5]), []byte(b[:5])) }), "fair order")
	})
}

// Four producers and eight workers, with panics, failures and delays: every key is passed
// once more after it was last added, and nothing is left behind.
func TestRunnerRace(t *testing.T) {
	const keys, adds = 50, 2000
	before := runtime.NumGoroutine()
	var version, seen [keys]atomic.Int64 // what was added, and what a pass saw of it
	number := map[types.NamespacedName]int{}
	for i := range keys {
		number[key(fmt.Sprint(i))] = i
	}
	s := newStub(t, func(_ context.Context, k types.NamespacedName, nth int) (clusterapi.Result, error) {
		i := number[k]
		was := version[i].Load()
		switch nth % 10 { // the first two passes of a key fail, and some later ones
		case 1:
			panic("boom")
		case 2:
			return clusterapi.Result{}, errors.New("boom")
		}
		seen[i].Store(was)
		return clusterapi.Result{}, nil
	})
	r := runStub(t, s, clusterapi.RunnerOptions{Workers: 8, FirstRetry: time.Microsecond, LastRetry: time.Millisecond})
	produced := make(chan struct{})
	for seed := range uint64(4) {
		go func() {
			defer func() { produced <- struct{}{} }()
			random := rand.New(rand.NewPCG(seed, 0))
			for range adds {
				i := random.IntN(keys)
				version[i].Add(1)
				if random.IntN(4) == 0 {
					r.AddAfter(key(fmt.Sprint(i)), time.Duration(random.IntN(1000))*time.Microsecond)
				} else {
					r.Add(key(fmt.Sprint(i)))
					r.Add(key(fmt.Sprint(i)))
				}
				r.Counters()
			}
		}()
	}
	for range 4 {
		<-produced
	}
	require.Eventually(t, func() bool {
		c := r.Counters()
		return c.Queued+c.Delayed+c.Running == 0
	}, 30*time.Second, time.Millisecond)
	c := r.Counters()
	require.NoError(t, r.stop())
	for i := range keys {
		assert.Equal(t, version[i].Load(), seen[i].Load(), "key %d", i)
	}
	assert.Equal(t, c.Passes.Failed+c.Passes.Panicked, c.Retries)
	assert.Positive(t, c.Passes.Panicked)
	assert.Positive(t, c.Repeated)
	assert.Equal(t, len(r.calls()), c.Passes.Total())
	atMost := before + 1 // Eventually has one of its own
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= atMost }, 10*time.Second, time.Millisecond, "goroutines left")
}

// Keys that need nothing any more take no memory.
func TestRunnerForgetsKeys(t *testing.T) {
	runner, err := clusterapi.NewRunner(&idle{}, clusterapi.RunnerOptions{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()
	before := heapInUse()
	for chunk := range 30 {
		for i := range 1000 {
			runner.Add(key(fmt.Sprint(chunk, i)))
		}
		require.Eventually(t, func() bool {
			c := runner.Counters()
			return c.Queued+c.Running == 0
		}, 10*time.Second, time.Millisecond)
	}
	assert.Less(t, heapInUse(), before+(2<<20), "a hundred bytes for each key would be more")
	cancel()
	require.NoError(t, <-ended)
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkRunner(b *testing.B) {
	runner, err := clusterapi.NewRunner(&idle{}, clusterapi.RunnerOptions{})
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()
	keys := make([]types.NamespacedName, 1000)
	for i := range keys {
		keys[i] = key(fmt.Sprint(i))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		runner.Add(keys[i%len(keys)])
	}
	cancel()
	require.NoError(b, <-ended)
}

// idle is a Syncer that does nothing.
type idle struct{ clusterapi.Syncer }

func (*idle) Sync(context.Context, types.NamespacedName) (clusterapi.Result, error) {
	return clusterapi.Result{}, nil
}
