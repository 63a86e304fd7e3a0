package clusterapi

import (
	"errors"
	"fmt"
	"time"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/expectations"
)

// Result is the outcome of one pass. It is valid even when Sync returns an error: it says
// what was planned and how far applying it got.
type Result struct {
	Plan    daemonset.Plan
	Writes  []Write              // every write of the plan in the plan's order, also those not made
	Gone    bool                 // there is no such DaemonSet, or it is not selected
	Stale   *StaleError          // the pass was refused, because reads are older than our own writes
	Expired expectations.Pending // writes that were never seen and are given up with this pass
	Requeue time.Duration        // make another pass by then; zero: wait for a change
}

// Verb is what a write does.
type Verb string

// The verbs.
const (
	AdoptPod        Verb = "adopt pod"
	ReleasePod      Verb = "release pod"
	AdoptRevision   Verb = "adopt revision"
	ReleaseRevision Verb = "release revision"
	CreateRevision  Verb = "create revision"
	UpdateRevision  Verb = "update revision"
	DeleteRevision  Verb = "delete revision"
	RelabelPod      Verb = "relabel pod"
	CreatePod       Verb = "create pod"
	DeletePod       Verb = "delete pod"
	UpdateStatus    Verb = "update status"
)

// Outcome is what became of a write.
type Outcome string

// The outcomes.
const (
	Done        Outcome = "done"         // the server said so
	AlreadyDone Outcome = "already done" // nothing was left to do: gone, or there already
	Failed      Outcome = "failed"       // the server refused; nothing was changed
	Unknown     Outcome = "unknown"      // no answer; it may have taken effect
	Skipped     Outcome = "skipped"      // not sent, because of what happened before it; or not needed any more, as the namespace ends
)

// Write is one write of a plan.
type Write struct {
	Verb    Verb
	Ref     daemonset.Ref // of the object; for a new pod, known once it is created
	Node    string        // for pods that are created or deleted
	Outcome Outcome
	Err     error // for Failed and Unknown; for Skipped the reason, if it is not another write
}

// Count says how many writes of a verb had an outcome.
func (r Result) Count(verb Verb, outcome Outcome) int {
	count := 0
	for _, w := range r.Writes {
		if w.Verb == verb && w.Outcome == outcome {
			count++
		}
	}
	return count
}

// ApplyError is one write that failed; Sync joins them in plan order.
type ApplyError struct {
	Verb Verb
	Ref  daemonset.Ref
	Node string
	Err  error
}

func (e *ApplyError) Error() string {
	subject := string(e.Verb)
	if e.Ref.Name != "" { // a pod that was not created may have none
		subject += " " + e.Ref.Name
	}
	if e.Node != "" {
		subject += " on node " + e.Node
	}
	return fmt.Sprintf("clusterapi: %s: %v", subject, e.Err)
}

// Unwrap returns the cause.
func (e *ApplyError) Unwrap() error { return e.Err }

// StaleError says that a cache has not caught up with what this driver wrote.
type StaleError struct {
	Kind          string // Pod, ControllerRevision or DaemonSet
	Seen, Written string // resource versions
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("clusterapi: the cache of kind %s is at resource version %s, before our own write at %s",
		e.Kind, e.Seen, e.Written)
}

// ErrAdapter is wrapped by errors about a ClusterAPI that breaks its contract. In tests it is
// often a fake client beneath a sound adapter: those of client-go and controller-runtime give
// new objects no UID unless they are told to.
var ErrAdapter = errors.New("the adapter broke the contract of ClusterAPI")

// errors joins what failed, in plan order.
func (r Result) errors() error {
	var errs []error
	for _, w := range r.Writes {
		if w.Err != nil && w.Outcome != Done && w.Outcome != AlreadyDone {
			errs = append(errs, &ApplyError{Verb: w.Verb, Ref: w.Ref, Node: w.Node, Err: w.Err})
		}
	}
	return errors.Join(errs...)
}
