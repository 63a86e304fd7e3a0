package clientgo_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/expectations"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/clusterapi/clientgo"
)

func TestMetrics(t *testing.T) {
	s := &stub{pass: func(_ context.Context, number int) (clusterapi.Result, error) {
		switch number {
		case 1:
			return clusterapi.Result{
				Writes: []clusterapi.Write{
					{Verb: clusterapi.CreatePod, Outcome: clusterapi.Done},
					{Verb: clusterapi.CreatePod, Outcome: clusterapi.Done},
					{Verb: clusterapi.DeletePod, Outcome: clusterapi.AlreadyDone},
				},
				Expired: expectations.Pending{Creates: 2},
			}, errOfTest
		case 2:
			return clusterapi.Result{Stale: &clusterapi.StaleError{}, Requeue: time.Millisecond}, nil
		case 3:
			panic(errOfTest)
		}
		return clusterapi.Result{Gone: true}, nil
	}}
	c := run(t, clientgo.Config{Client: newClient(agentSet()), Syncer: s.use, Name: "agents"})
	require.Eventually(t, func() bool { return c.Counters().Passes.Gone == 1 }, patience, tick)
	assert.NoError(t, testutil.CollectAndCompare(c.Metrics(), strings.NewReader(`
# HELP daemonplan_expired_writes_total Creates and deletes that were never seen, and given up.
# TYPE daemonplan_expired_writes_total counter
daemonplan_expired_writes_total 2
# HELP daemonplan_leader Whether this replica reconciles: 1 or 0.
# TYPE daemonplan_leader gauge
daemonplan_leader 1
# HELP daemonplan_passes_hanging Passes under way that should have ended.
# TYPE daemonplan_passes_hanging gauge
daemonplan_passes_hanging 0
# HELP daemonplan_passes_retried_total Passes to be made again because of an error.
# TYPE daemonplan_passes_retried_total counter
daemonplan_passes_retried_total 2
# HELP daemonplan_passes_running Passes under way.
# TYPE daemonplan_passes_running gauge
daemonplan_passes_running 0
# HELP daemonplan_passes_total Passes by how they ended.
# TYPE daemonplan_passes_total counter
daemonplan_passes_total{outcome="failed"} 1
daemonplan_passes_total{outcome="gone"} 1
daemonplan_passes_total{outcome="panicked"} 1
daemonplan_passes_total{outcome="refused"} 1
daemonplan_passes_total{outcome="succeeded"} 0
# HELP daemonplan_writes_total Writes of plans by verb and outcome.
# TYPE daemonplan_writes_total counter
daemonplan_writes_total{outcome="already_done",verb="delete_pod"} 1
daemonplan_writes_total{outcome="done",verb="create_pod"} 2
# HELP workqueue_adds_total Keys that were queued.
# TYPE workqueue_adds_total counter
workqueue_adds_total{name="agents"} 4
# HELP workqueue_depth Keys that wait for a worker.
# TYPE workqueue_depth gauge
workqueue_depth{name="agents"} 0
# HELP workqueue_retries_total Keys that were queued for later.
# TYPE workqueue_retries_total counter
workqueue_retries_total{name="agents"} 3
`),
		"daemonplan_expired_writes_total", "daemonplan_leader", "daemonplan_passes_hanging", "daemonplan_passes_retried_total",
		"daemonplan_passes_running", "daemonplan_passes_total", "daemonplan_writes_total",
		"workqueue_adds_total", "workqueue_depth", "workqueue_retries_total",
	))
	problems, err := testutil.CollectAndLint(c.Metrics())
	require.NoError(t, err)
	for _, p := range problems {
		assert.Equal(t, "workqueue_longest_running_processor_seconds", p.Metric, p.Text) // the name is Kubernetes'
	}
	prometheus.NewPedanticRegistry().MustRegister(c.Metrics())
}

// TestLoad: what waits and what is under way is shown while it does.
func TestLoad(t *testing.T) {
	goOn := make(chan struct{})
	s := &stub{pass: func(context.Context, int) (clusterapi.Result, error) {
		<-goOn
		return clusterapi.Result{}, nil
	}}
	other := agentSet()
	other.Name, other.UID = "other", "set-2"
	c := run(t, clientgo.Config{Client: newClient(agentSet(), other), Syncer: s.use, Workers: 1})
	assert.Eventually(t, func() bool {
		counters := c.Counters()
		return counters.Running == 1 && counters.Queued == 1
	}, patience, tick)
	close(goOn)
	assert.Eventually(t, func() bool { return c.Counters().Passes.Succeeded == 2 }, patience, tick)
}

func get(t *testing.T, handler http.Handler, path string) (code int, body string) {
	t.Helper()
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
	raw, err := io.ReadAll(w.Result().Body)
	require.NoError(t, err)
	return w.Code, string(raw)
}

func TestHealth(t *testing.T) {
	clock := &clock{}
	goOn := make(chan struct{})
	s := &stub{pass: func(context.Context, int) (clusterapi.Result, error) {
		<-goOn
		return clusterapi.Result{}, nil
	}}
	c, err := clientgo.New(clientgo.Config{Client: newClient()})
	require.NoError(t, err)
	code, body := get(t, c.Handler(), "/readyz")
	assert.Equal(t, http.StatusServiceUnavailable, code)
	assert.Contains(t, body, "not running")
	code, _ = get(t, c.Handler(), "/healthz")
	assert.Equal(t, http.StatusOK, code)

	r := run(t, clientgo.Config{
		Client: newClient(agentSet()), Syncer: s.use, PassTimeout: time.Minute, Driver: clusterapi.Config{Now: clock.now},
	})
	s.await(t, 1)
	handler := r.Handler()
	for _, path := range []string{"/readyz", "/healthz"} {
		code, body := get(t, handler, path)
		assert.Equal(t, http.StatusOK, code)
		assert.Equal(t, "ok\n", body)
	}
	code, body = get(t, handler, "/metrics")
	assert.Equal(t, http.StatusOK, code)
	for _, want := range []string{
		"daemonplan_passes_running 1", "workqueue_work_duration_seconds_count", "go_goroutines", "process_",
		"daemonplan_pass_duration_seconds_bucket",
	} {
		assert.Contains(t, body, want)
	}
	clock.advance(2 * time.Minute)
	code, body = get(t, handler, "/healthz")
	assert.Equal(t, http.StatusServiceUnavailable, code)
	assert.Contains(t, body, "ops/agent hangs")
	assert.Equal(t, 1, r.Counters().Stuck)
	close(goOn)
	require.Eventually(t, func() bool { return r.Healthy() == nil }, patience, tick)
	r.stop()
	require.NoError(t, r.end(t))
	assert.Error(t, r.Ready(), "it has ended")
}

var _ clusterapi.Syncer = (*stub)(nil)

var _ clientgo.Sink = (*clusterapi.Runner)(nil)
