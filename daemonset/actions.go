package daemonset

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/backoff"
)

// action is one pod to create, or one to delete.
type action struct {
	node   int32 // its number
	pod    *pod  // nil for a create
	reason Reason
	chosen bool // one of several equals, for which the update budget had room
}

// actions is what a step wants done, what is to go first at the front.
type actions struct {
	creates  []action
	deletes  []action
	failures []failure
	events   []Event
	next     time.Time
	bind     bool // creates are bound to their nodes
}

// reset makes room for another step's actions.
func (a *actions) reset(options Options) *actions {
	clear(a.deletes)
	clear(a.failures)
	clear(a.events)
	*a = actions{
		creates: a.creates[:0], deletes: a.deletes[:0], failures: a.failures[:0], events: a.events[:0],
		bind: options.Fit != nil,
	}
	return a
}

// failure is a backoff entry to advance, if the delete it belongs to is in the plan.
type failure struct {
	key    backoff.Key
	delete int // its index
}

func (a *actions) create(n node, reason Reason) {
	a.creates = append(a.creates, action{node: n.number, reason: reason})
}

func (a *actions) delete(n node, p *pod, reason Reason) {
	a.deletes = append(a.deletes, action{node: n.number, pod: p, reason: reason})
}

func (a *actions) wake(at time.Time) { a.next = earlier(a.next, instantOf(at)) }

// idle reports that the step found nothing to do.
func (a *actions) idle() bool { return len(a.creates) == 0 && len(a.deletes) == 0 }

// writeTo puts the actions into the plan, no more creates and deletes than burst, and
// explains the nodes of the fleet by them.
func (a *actions) writeTo(plan *Plan, f *fleet, burst int) {
	creates, deletes := min(len(a.creates), burst), min(len(a.deletes), burst)
	plan.Deferred = Deferred{Creates: len(a.creates) - creates, Deletes: len(a.deletes) - deletes}
	plan.Creates = slices.Grow(plan.Creates, creates)
	for _, c := range a.creates[:creates] {
		n := f.node(c.node)
		plan.Creates = append(plan.Creates, Create{Node: n.name(), Reason: c.reason, Bind: a.bind})
		n.act(c.reason)
	}
	plan.Deletes = slices.Grow(plan.Deletes, deletes)
	for _, d := range a.deletes[:deletes] {
		n := f.node(d.node)
		plan.Deletes = append(plan.Deletes, Delete{Node: n.name(), Pod: d.pod.ref(), Reason: d.reason})
		n.act(d.reason)
	}
	for _, failed := range a.failures {
		if failed.delete < deletes {
			plan.Failures = append(plan.Failures, failed.key)
		}
	}
	for _, c := range a.creates[creates:] {
		f.node(c.node).wait(BurstExceeded, time.Time{})
	}
	for _, d := range a.deletes[deletes:] {
		f.node(d.node).wait(BurstExceeded, time.Time{})
	}
	plan.Events = append(plan.Events, a.events...)
	plan.Next = earlier(plan.Next, a.next)
}

// earlier is the earlier of two instants, where zero means never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// instantOf brings an instant into the form in which plans hold them: in UTC and without a
// monotonic reading, so that a plan is the same whatever zone its input came in and whether it
// went through JSON, and never when JSON could not write it.
func instantOf(t time.Time) time.Time {
	t = wallTime(t).UTC()
	if year := t.Year(); year < 0 || year > 9999 {
		return time.Time{}
	}
	return t
}

// wallTime is an instant without a monotonic reading. All that is compared with now is wall
// time: the times in objects have nothing else, and two clocks that drift apart give no order.
func wallTime(t time.Time) time.Time { return t.Round(0) }

func failedEvent(n node, obj *corev1.Pod) Event {
	return Event{
		Type:   corev1.EventTypeWarning,
		Reason: EventFailedDaemonPod,
		Note:   fmt.Sprintf("Pod %s failed on node %s and is to be deleted", obj.Name, n.name()),
	}
}

func succeededEvent(n node, obj *corev1.Pod) Event {
	return Event{
		Type:   corev1.EventTypeNormal,
		Reason: EventSucceededDaemonPod,
		Note:   fmt.Sprintf("Pod %s ended on node %s and is to be deleted", obj.Name, n.name()),
	}
}
