package placement

import (
	"fmt"
	"strconv"
)

// Decision is what a node may carry. It stands for three answers: is a pod wanted there
// ([Decision.Wants]), may one be placed now ([Decision.Schedules]), may one that is there
// stay ([Decision.Keeps]). Only four of their eight combinations can occur, so it has four
// values. It marshals as text.
type Decision uint8

// The decisions that [Matcher.Evaluate] and [Fitter.Fit] return; the zero value means that
// none was taken. Evaluate never returns Suspend.
const (
	Undecided Decision = iota // there was no node to judge
	Run                       // place a pod where there is none
	Keep                      // leave a pod that is there, place no new one
	Evict                     // no daemon pod may stay
	Suspend                   // a pod is wanted and cannot be placed now; leave one that is there
)

// Wants reports whether the node counts as one that should carry a pod (wantToRun in
// Kubernetes v1.12): for Run and Suspend.
func (d Decision) Wants() bool { return d == Run || d == Suspend }

// Schedules reports whether a pod may be placed now (shouldSchedule): for Run only.
func (d Decision) Schedules() bool { return d == Run }

// Keeps reports whether a pod that is there may stay (shouldContinueRunning): for Run,
// Suspend and Keep. For Undecided all three are false.
func (d Decision) Keeps() bool { return d == Run || d == Suspend || d == Keep }

// String returns the name of the constant, or Decision(n) for a value that has none.
func (d Decision) String() string {
	switch d {
	case Undecided:
		return "Undecided"
	case Run:
		return "Run"
	case Keep:
		return "Keep"
	case Evict:
		return "Evict"
	case Suspend:
		return "Suspend"
	}
	return "Decision(" + strconv.Itoa(int(d)) + ")"
}

// MarshalText returns the name of the constant. A value without a name is an error.
func (d Decision) MarshalText() ([]byte, error) {
	if d > Suspend {
		return nil, fmt.Errorf("placement: %s has no text form", d)
	}
	return []byte(d.String()), nil
}

// UnmarshalText sets d to the constant named by text. Any other text, also the empty one,
// is an error that leaves d as it was.
func (d *Decision) UnmarshalText(text []byte) error {
	for known := range Suspend + 1 {
		if known.String() == string(text) {
			*d = known
			return nil
		}
	}
	return fmt.Errorf("placement: unknown decision %s", quote(string(text)))
}
