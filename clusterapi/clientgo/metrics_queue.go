package clientgo

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
)

// queueMetrics give one work queue its metrics, under the names that those of Kubernetes
// v1.37.2 have.
type queueMetrics struct {
	depth, unfinished, longest prometheus.Gauge
	adds, retries              prometheus.Counter
	latency, work              prometheus.Histogram
}

var _ workqueue.MetricsProvider = (*queueMetrics)(nil)

func newQueueMetrics(name string) *queueMetrics {
	labels := prometheus.Labels{"name": name}
	gauge := func(metric, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: "workqueue_" + metric, Help: help, ConstLabels: labels})
	}
	counter := func(metric, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "workqueue_" + metric, Help: help, ConstLabels: labels})
	}
	histogram := func(metric, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "workqueue_" + metric, Help: help, ConstLabels: labels, Buckets: prometheus.ExponentialBuckets(1e-4, 10, 8),
		})
	}
	return &queueMetrics{
		depth:      gauge("depth", "Keys that wait for a worker."),
		unfinished: gauge("unfinished_work_seconds", "Seconds that passes under way have taken so far, together."),
		longest:    gauge("longest_running_processor_seconds", "Seconds that the longest pass under way has taken so far."),
		adds:       counter("adds_total", "Keys that were queued."),
		retries:    counter("retries_total", "Keys that were queued for later."),
		latency:    histogram("queue_duration_seconds", "How long keys waited."),
		work:       histogram("work_duration_seconds", "How long keys were worked on."),
	}
}

func (q *queueMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{q.depth, q.unfinished, q.longest, q.adds, q.retries, q.latency, q.work}
}

// Describe is for package prometheus.
func (q *queueMetrics) Describe(out chan<- *prometheus.Desc) {
	for _, c := range q.collectors() {
		c.Describe(out)
	}
}

// Collect is for package prometheus.
func (q *queueMetrics) Collect(out chan<- prometheus.Metric) {
	for _, c := range q.collectors() {
		c.Collect(out)
	}
}

// NewDepthMetric is for package workqueue, like those below.
func (q *queueMetrics) NewDepthMetric(string) workqueue.GaugeMetric { return q.depth }

// NewAddsMetric counts what is queued.
func (q *queueMetrics) NewAddsMetric(string) workqueue.CounterMetric { return q.adds }

// NewLatencyMetric tells how long keys wait.
func (q *queueMetrics) NewLatencyMetric(string) workqueue.HistogramMetric { return q.latency }

// NewWorkDurationMetric tells how long keys are worked on.
func (q *queueMetrics) NewWorkDurationMetric(string) workqueue.HistogramMetric { return q.work }

// NewUnfinishedWorkSecondsMetric sums up the work under way.
func (q *queueMetrics) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric {
	return q.unfinished
}

// NewLongestRunningProcessorSecondsMetric shows a pass that hangs.
func (q *queueMetrics) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return q.longest
}

// NewRetriesMetric counts what is queued for later.
func (q *queueMetrics) NewRetriesMetric(string) workqueue.CounterMetric { return q.retries }
