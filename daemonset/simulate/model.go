package simulate

import (
	"fmt"
	"time"
)

// Span is a duration that varies evenly between Min and Max, both included. With Max below
// Min it is always Min. Negative durations are refused.
type Span struct {
	Min time.Duration `json:"min"` // nanoseconds in JSON, as all durations here
	Max time.Duration `json:"max"`
}

// Model says what the scheduler and the kubelets do with pods. Its zero value is a cluster
// in which everything succeeds at once; [DefaultModel] is a plausible one.
//
// What happens on a node depends on the seed, the node's name and how many pods it was given
// before, and on nothing else: a change to one node's fortune leaves the others' alone.
type Model struct {
	Bind  time.Duration `json:"bind"`  // from the creation of a pod until it is bound to its node
	Start Span          `json:"start"` // from there until it is ready
	Stop  Span          `json:"stop"`  // from the deletion of a running pod until it is gone

	// FailureRate is the share of pods that end as Failed at the moment when they would have
	// become ready: 0 for none, 1 for all.
	FailureRate float64 `json:"failureRate"`
	// StuckRate is the share of nodes on which no new pod ever becomes ready, as with an
	// image that cannot be pulled there. 1 simulates a broken template.
	StuckRate float64 `json:"stuckRate"`
	// SlowRate is the share of nodes on which Start and Stop take SlowFactor times as long.
	SlowRate float64 `json:"slowRate"`
	// SlowFactor below 2 makes no node slow.
	SlowFactor int `json:"slowFactor"`

	// Resolution is the grid on which things happen: every instant is rounded up to it. Zero
	// or less means one second, the grain of the API's own times. A coarser one makes fewer
	// passes.
	Resolution time.Duration `json:"resolution"`
}

// DefaultModel returns round figures for a cluster at ease: bound after a second, ready 10
// to 30 seconds later, gone 2 to 10 seconds after deletion, nothing fails, and one node in
// fifty takes four times as long.
func DefaultModel() Model {
	return Model{
		Bind:       time.Second,
		Start:      Span{Min: 10 * time.Second, Max: 30 * time.Second},
		Stop:       Span{Min: 2 * time.Second, Max: 10 * time.Second},
		SlowRate:   0.02,
		SlowFactor: 4,
	}
}

func (m Model) resolution() time.Duration {
	if m.Resolution <= 0 {
		return time.Second
	}
	return m.Resolution
}

// check finds what makes no sense. It also keeps sums of durations from overflowing.
func (m Model) check() error {
	const longest = 100 * 365 * 24 * time.Hour
	for _, d := range []struct {
		field string
		value time.Duration
	}{
		{"bind", m.Bind},
		{"start.min", m.Start.Min},
		{"start.max", m.Start.Max},
		{"stop.min", m.Stop.Min},
		{"stop.max", m.Stop.Max},
	} {
		if d.value < 0 || d.value > longest/time.Duration(max(m.SlowFactor, 1)) {
			return fmt.Errorf("simulate: model.%s is %s: want 0 or more, and not centuries", d.field, d.value)
		}
	}
	for _, r := range []struct {
		field string
		value float64
	}{
		{"failureRate", m.FailureRate},
		{"stuckRate", m.StuckRate},
		{"slowRate", m.SlowRate},
	} {
		if !(r.value >= 0 && r.value <= 1) { // also refuses what is no number
			return fmt.Errorf("simulate: model.%s is %v: want 0 to 1", r.field, r.value)
		}
	}
	return nil
}

// draw returns an even choice from the span.
func (s Span) draw(luck chance) time.Duration {
	if s.Max <= s.Min {
		return s.Min
	}
	return s.Min + time.Duration(luck.below(uint64(s.Max-s.Min)+1))
}
