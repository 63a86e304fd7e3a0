package simulate

import (
	"time"

	"github.com/daemonplan/daemonplan/daemonset"
)

// Defaults of Options.
const (
	DefaultLimit  = 7 * 24 * time.Hour
	DefaultPasses = 100_000
)

// Options tune a simulation.
type Options struct {
	Model Model  // zero succeeds at once; see DefaultModel
	Seed  uint64 // of all that is left to chance; zero is a seed like any other

	Plan   daemonset.Options // of every pass; zero is Kubernetes
	Limit  time.Duration     // of virtual time, after which the simulation is cut off; zero or less means DefaultLimit
	Passes int               // of the planner, likewise; zero or less means DefaultPasses

	// Whole makes every pass plan from scratch, with daemonset.Compute. By default a
	// daemonset.Planner is told what has changed; the result is the same, and comes sooner.
	Whole bool

	// Progress, if it is not nil, is called after each instant. It must not keep the
	// simulation waiting, and cannot change it.
	Progress func(Progress)
}

// Progress is how far a simulation has come.
type Progress struct {
	At      time.Duration // virtual, since the start
	Passes  int
	Desired int // nodes that should run a pod
	Settled int // those of them that have an available pod of the current revision, and no other
}

func (o Options) limit() time.Duration {
	if o.Limit <= 0 {
		return DefaultLimit
	}
	return o.Limit
}

func (o Options) passes() int {
	if o.Passes <= 0 {
		return DefaultPasses
	}
	return o.Passes
}
