package clusterapi

import (
	"time"
)

// The defaults of a Runner.
const (
	DefaultWorkers     = 2                    // as in Kubernetes v1.37.2
	DefaultFirstRetry  = 5 * time.Millisecond // as in client-go v0.37.2
	DefaultLastRetry   = 1000 * time.Second   // as in client-go v0.37.2
	DefaultPassTimeout = 5 * time.Minute      // as long as an unseen write is waited for
	DefaultGrace       = 10 * time.Second     // less than leaders are waited for by their successors
)

// DefaultRest is how long the adapters let a set rest after a pass, before events lead to
// another one. A Runner makes it at once.
const DefaultRest = 50 * time.Millisecond

// hangSlack is how long after its context is done a pass may take to return.
const hangSlack = time.Second

// RunnerOptions tune a Runner; the zero value has the defaults.
type RunnerOptions struct {
	Workers int // passes at a time; zero or less means DefaultWorkers

	// A pass that failed is made again after FirstRetry, twice that, four times that, until
	// LastRetry; one that did not fail starts this over. Zero or less means DefaultFirstRetry
	// and DefaultLastRetry. One that was refused, or only waits for earlier writes, changes
	// nothing. A delay that a server asked for is kept to, also if an event wakes the key.
	FirstRetry, LastRetry time.Duration

	// PassTimeout is when the context of a pass is done. Zero means DefaultPassTimeout, less
	// than zero no limit. A pass that still goes on a second later is left alone: its worker
	// turns to other keys, but its own key rests until it returns.
	PassTimeout time.Duration

	// Grace is how long passes may go on once the context of Run is done; then theirs is done
	// as well. Zero means DefaultGrace, less than zero none.
	Grace time.Duration

	// OnPass, if not nil, is told of every pass, before the next one of the same key begins;
	// of one that hangs when it is found to, and not again when it returns. It is called from
	// several goroutines and holds up the worker.
	OnPass func(Pass)

	// Now tells when a delay is over; nil means time.Now. Waiting in Run takes real time all
	// the same: a clock that jumps is noticed with the next key, or when the wait is over. How
	// long passes take is measured in real time.
	Now func() time.Time
}

func (o RunnerOptions) withDefaults() RunnerOptions {
	if o.Workers <= 0 {
		o.Workers = DefaultWorkers
	}
	if o.FirstRetry <= 0 {
		o.FirstRetry = DefaultFirstRetry
	}
	if o.LastRetry <= 0 {
		o.LastRetry = DefaultLastRetry
	}
	if o.PassTimeout == 0 {
		o.PassTimeout = DefaultPassTimeout
	}
	if o.Grace == 0 {
		o.Grace = DefaultGrace
	}
	if o.OnPass == nil {
		o.OnPass = func(Pass) {}
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the one clock of the runner
	}
	return o
}

// retry is how long to wait after a pass failed, when failures passes before it did, too.
func (o RunnerOptions) retry(failures int) time.Duration {
	delay := o.FirstRetry
	for range failures {
		if delay >= o.LastRetry/2 {
			return o.LastRetry
		}
		delay *= 2
	}
	return min(delay, o.LastRetry)
}
