package clientgo_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi/clientgo"
)

// patience is for what is going to happen, on a machine that may be busy.
const patience = 2 * time.Minute

const tick = 5 * time.Millisecond

// running is a Controller that runs.
type running struct {
	*clientgo.Controller

	stop  context.CancelFunc
	ended chan error
}

// run starts a Controller. That it ends without an error is
// checked when the test is over, unless the test has waited for it.
func run(t *testing.T, cfg clientgo.Config) *running {
	t.Helper()
	cfg.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	controller, err := clientgo.New(cfg)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	r := &running{Controller: controller, stop: stop, ended: make(chan error, 1)}
	go func() { r.ended <- controller.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if r.ended != nil {
			require.NoError(t, r.end(t))
		}
	})
	return r
}

// end waits until Run has returned.
func (r *running) end(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.ended:
		r.ended = nil
		return err
	case <-after(patience):
		require.Fail(t, "Run does not return")
		return nil
	}
}

// stub is a Syncer that does what it is told.
type stub struct {
	pass func(ctx context.Context, number int) (clusterapi.Result, error)

	mu      sync.Mutex
	passes  []time.Time
	log     []string // settled UIDs and synced keys, in order
	settled []daemonset.Wakes
}

func (s *stub) use(*clusterapi.Driver) clusterapi.Syncer { return s }

func (s *stub) Sync(ctx context.Context, key types.NamespacedName) (clusterapi.Result, error) {
	s.mu.Lock()
	s.passes = append(s.passes, wall())
	s.log = append(s.log, "sync "+key.String())
	number := len(s.passes)
	s.mu.Unlock()
	if s.pass == nil {
		return clusterapi.Result{}, nil
	}
	return s.pass(ctx, number)
}

func (s *stub) Settle(w daemonset.Wakes) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settled = append(s.settled, w)
	for _, seen := range w.Seen {
		s.log = append(s.log, "settle "+string(seen.Pod))
	}
}

func (s *stub) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.passes)
}

// settledCount is how many events have come.
func (s *stub) settledCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.settled)
}

// await waits for so many passes.
func (s *stub) await(t *testing.T, passes int) {
	t.Helper()
	require.Eventually(t, func() bool { return s.count() >= passes }, patience, tick, "pass %d", passes)
}

// gap is the time from the first pass to the second.
func (s *stub) gap() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.passes[1].Sub(s.passes[0])
}

func wall() time.Time { return time.Now() } //nolint:forbidigo // measures the test itself

func pause(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // lets something not happen

func after(d time.Duration) <-chan time.Time { return time.After(d) } //nolint:forbidigo // limits a wait

var errOfTest = errors.New("of the test")

// clock stands still until it is advanced.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}
