package clientgo

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/apimachinery/pkg/types"
)

// hangSlack is how long after its time is up a pass may take to return.
const hangSlack = 30 * time.Second

// Handler serves /healthz, /readyz and /metrics, the latter with those of Go and the process
// from a registry of its own. Programs with a registry use [Controller.Metrics] instead.
func (c *Controller) Handler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(c.metrics, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /healthz", c.Healthz())
	mux.Handle("GET /readyz", c.Readyz())
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	return mux
}

// Healthz answers 200, or 503 with the reason, if the process had better be started anew: a
// pass does not return, or a lease that ran out was neither renewed nor given up.
func (c *Controller) Healthz() http.Handler { return answer(c.Healthy) }

// Readyz answers 200 while Run is under way and the caches are filled, whether or not this
// replica leads, otherwise 503 with the reason.
func (c *Controller) Readyz() http.Handler { return answer(c.Ready) }

func answer(check func() error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if err := check(); err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintln(w, err)
			return
		}
		fmt.Fprintln(w, "ok")
	})
}

// Healthy returns what [Controller.Healthz] answers by.
func (c *Controller) Healthy() error {
	errs := []error{c.election.check()}
	for _, h := range c.hanging() {
		errs = append(errs, fmt.Errorf("clientgo: the pass for %s hangs since %s", h.key, h.since.UTC().Format(time.RFC3339)))
	}
	return errors.Join(errs...)
}

// Ready returns what [Controller.Readyz] answers by.
func (c *Controller) Ready() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ready:
		return nil
	case c.queue == nil:
		return errors.New("clientgo: not running")
	}
	if missing := c.informers.unsynced(); len(missing) > 0 {
		return errors.Join(fmt.Errorf("clientgo: not read yet: %v", missing), c.errors.of(missing))
	}
	return errors.New("clientgo: starting or ending")
}

// hanging lists the passes that should have ended.
func (c *Controller) hanging() []underWay {
	if c.cfg.PassTimeout < 0 {
		return nil
	}
	return c.passesSince(c.now().Add(-c.cfg.PassTimeout - hangSlack))
}

// underWay is a pass that has not ended.
type underWay struct {
	key   types.NamespacedName
	since time.Time
}

// passesSince lists the passes under way that began by a time, by key.
func (c *Controller) passesSince(latest time.Time) []underWay {
	c.mu.Lock()
	defer c.mu.Unlock()
	var passes []underWay
	for key, since := range c.underWay {
		if !since.After(latest) {
			passes = append(passes, underWay{key, since})
		}
	}
	slices.SortFunc(passes, func(a, b underWay) int { return cmp.Compare(a.key.String(), b.key.String()) })
	return passes
}

// load counts the keys that wait, the passes under way, and those of them that hang.
func (c *Controller) load() (l load) {
	l.hanging = len(c.hanging())
	c.mu.Lock()
	defer c.mu.Unlock()
	l.running = len(c.underWay)
	if c.queue != nil {
		l.queued = c.queue.Len()
	}
	return l
}

type load struct{ queued, running, hanging int }

// leading is 1 if this replica makes passes, else 0.
func (c *Controller) leading() int {
	if c.cfg.Leader == nil && c.Ready() == nil || c.election.leads() {
		return 1
	}
	return 0
}
