package simulate

import (
	"time"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/expectations"
)

// Run simulates what becomes of the snapshot when nothing interferes: passes of the planner
// are made whenever something happened that wakes a controller, their writes take effect at
// once, and the scheduler and the kubelets do as the model says, until nothing is left to do
// or to wait for, or until a limit. The snapshot is not written to.
//
// What the snapshot holds is taken as it is. Pods that are starting or stopping go on by the
// model, but one that should be ready or gone by it for a minute already stays as it is. On a
// node whose Ready condition is Unknown nothing starts or stops, and where it is False no pod
// becomes ready. Writes in Snapshot.Pending are taken for seen. Nodes do not change.
//
// The scheduler knows of no resources and of no pods but the set's: a pod is bound after
// Model.Bind unless another one of the set holds a port of the node that it wants.
//
// An error is an *daemonset.InvalidError if no plan can be made, or says which part of the
// model makes no sense; the result is then zero.
func Run(s daemonset.Snapshot, o Options) (Result, error) {
	if err := o.Model.check(); err != nil {
		return Result{}, err
	}
	s.Pending = expectations.Pending{}
	plan, err := daemonset.Compute(s, o.Plan)
	if err != nil {
		return Result{}, err
	}
	r := newRun(s, o, plan)
	r.proof.Budget = r.limits()
	r.usePlanner()
	cut, err := r.toTheEnd()
	if err != nil {
		return Result{}, err
	}
	return r.result(cut)
}

// toTheEnd goes from instant to instant, and reports whether a limit was met.
func (r *run) toTheEnd() (cut bool, err error) {
	awake := true
	for {
		awake = r.happen() || awake
		if awake {
			if cut, err = r.passesNow(); cut || err != nil {
				return cut, err
			}
		}
		r.observe()
		r.progress()
		r.tidy()
		next, ok := r.next()
		switch {
		case !ok && !r.closing:
			r.closing, awake = true, true // one last pass, for the status
			continue
		case !ok:
			return false, nil
		case next > r.options.limit():
			return true, nil
		}
		r.closing = false
		awake = next == r.wake
		r.now = next
	}
}

// next is the next instant at which something is due, if there is one.
func (r *run) next() (at time.Duration, ok bool) {
	at, ok = r.wake, r.wake > 0
	if len(r.agenda) > 0 && (!ok || r.agenda[0].at < at) {
		at, ok = r.agenda[0].at, true
	}
	return at, ok
}

// passesNow makes passes until they find nothing more to do at this instant.
func (r *run) passesNow() (cut bool, err error) {
	for again := true; again; {
		if r.passes >= r.options.passes() {
			return true, nil
		}
		r.passes++
		if again, err = r.pass(); err != nil {
			return false, err
		}
		again = r.happen() || again
	}
	return false, nil
}

// pass makes a plan and carries it out. It reports whether the next pass would find more.
func (r *run) pass() (again bool, err error) {
	plan, err := r.compute()
	if err != nil {
		return false, err
	}
	if len(plan.Creates)+len(plan.Deletes) > 0 {
		r.proof.Steps++
		r.proof.Violations = append(r.proof.Violations, r.audit(plan)...)
	}
	changed := r.apply(plan)
	r.wake = r.wakeOf(plan)
	if changed {
		r.last = r.now
	}
	return changed && r.goesOn(plan), nil
}

// goesOn reports whether a plan may leave something to do that needs no event but the plan's
// own writes. Deletes of an update do not: their pods are terminating, and what that does to
// the budget was reckoned with.
func (r *run) goesOn(plan daemonset.Plan) bool {
	if !r.calm || plan.Deferred != (daemonset.Deferred{}) {
		return true
	}
	outdated := r.counted.behind > 0 || r.lost > 0
	if len(plan.Creates) > 0 {
		return outdated
	}
	for _, d := range plan.Deletes {
		switch d.Reason {
		case daemonset.Outdated, daemonset.OutdatedUnavailable, daemonset.LeftIneligibleNode:
		default:
			return outdated
		}
	}
	return false
}

func (r *run) progress() {
	if r.options.Progress != nil {
		r.options.Progress(Progress{At: r.now, Passes: r.passes, Desired: r.counted.desired, Settled: r.counted.settled})
	}
}
