package clientgo

import (
	"strings"
	"sync"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are what a Controller has counted, as a Prometheus collector. They are made by
// [New], once for each Controller, and belong in one registry.
//
//	daemonplan_passes_total{outcome}          passes; "refused" are those made on stale reads
//	daemonplan_pass_duration_seconds          how long they took, a histogram
//	daemonplan_passes_retried_total           passes to be made again because of an error
//	daemonplan_writes_total{verb,outcome}     writes of plans
//	daemonplan_expired_writes_total           creates and deletes that were never seen
//	daemonplan_passes_running                 passes under way
//	daemonplan_passes_hanging                 of these, those that should have ended
//	daemonplan_leader                         whether this replica reconciles
//	workqueue_*{name}                         the metrics of client-go's work queues
type Metrics struct {
	controller *Controller
	queue      *queueMetrics
	passTime   prometheus.Histogram
	descs      metricDescs

	mu       sync.Mutex
	counters clusterapi.Counters
}

var _ prometheus.Collector = (*Metrics)(nil)

type metricDescs struct {
	passes, retried, writes, expired, running, hanging, leader *prometheus.Desc
}

func newMetrics(c *Controller) *Metrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("daemonplan_"+name, help, labels, nil)
	}
	return &Metrics{
		controller: c,
		queue:      newQueueMetrics(c.cfg.Name),
		passTime: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "daemonplan_pass_duration_seconds",
			Help:    "How long passes took.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 10), // to 262 s, near the default limit of a pass
		}),
		descs: metricDescs{
			passes:  desc("passes_total", "Passes by how they ended.", "outcome"),
			retried: desc("passes_retried_total", "Passes to be made again because of an error."),
			writes:  desc("writes_total", "Writes of plans by verb and outcome.", "verb", "outcome"),
			expired: desc("expired_writes_total", "Creates and deletes that were never seen, and given up."),
			running: desc("passes_running", "Passes under way."),
			hanging: desc("passes_hanging", "Passes under way that should have ended."),
			leader:  desc("leader", "Whether this replica reconciles: 1 or 0."),
		},
	}
}

// Metrics returns the collector, to be registered once.
func (c *Controller) Metrics() *Metrics { return c.metrics }

// Counters returns what was counted until now. Added, Repeated and Delayed stay zero: the
// work queue has metrics of its own.
func (c *Controller) Counters() clusterapi.Counters { return c.metrics.snapshot() }

func (m *Metrics) observe(p clusterapi.Pass) {
	m.passTime.Observe(p.Duration.Seconds())
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counters.Add(p)
}

func (m *Metrics) retried() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counters.Retries++
}

func (m *Metrics) snapshot() clusterapi.Counters {
	m.mu.Lock()
	counters := m.counters
	counters.Writes = append([]clusterapi.WriteCount(nil), counters.Writes...)
	m.mu.Unlock()
	l := m.controller.load()
	counters.Queued, counters.Running, counters.Stuck = l.queued, l.running, l.hanging
	return counters
}

// Describe sends what Collect may collect.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	d := m.descs
	for _, desc := range []*prometheus.Desc{d.passes, d.retried, d.writes, d.expired, d.running, d.hanging, d.leader} {
		out <- desc
	}
	m.passTime.Describe(out)
	m.queue.Describe(out)
}

// Collect sends the values of now.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	send := func(desc *prometheus.Desc, kind prometheus.ValueType, value int, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, kind, float64(value), labels...)
	}
	c := m.snapshot()
	for _, p := range []struct {
		outcome string
		count   int
	}{
		{"succeeded", c.Passes.Succeeded},
		{"refused", c.Passes.Refused},
		{"gone", c.Passes.Gone},
		{"failed", c.Passes.Failed},
		{"panicked", c.Passes.Panicked},
	} {
		send(m.descs.passes, prometheus.CounterValue, p.count, p.outcome)
	}
	for _, w := range c.Writes {
		send(m.descs.writes, prometheus.CounterValue, w.Count, label(string(w.Verb)), label(string(w.Outcome)))
	}
	send(m.descs.retried, prometheus.CounterValue, c.Retries)
	send(m.descs.expired, prometheus.CounterValue, c.Expired)
	send(m.descs.running, prometheus.GaugeValue, c.Running)
	send(m.descs.hanging, prometheus.GaugeValue, c.Stuck)
	send(m.descs.leader, prometheus.GaugeValue, m.controller.leading())
	m.passTime.Collect(out)
	m.queue.Collect(out)
}

// label is a verb or outcome as Prometheus users like it.
func label(words string) string { return strings.ReplaceAll(words, " ", "_") }
