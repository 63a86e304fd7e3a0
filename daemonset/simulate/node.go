package simulate

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// node is one node with the set's pods on it.
type node struct {
	obj      *corev1.Node
	zone     int // index
	eligible bool
	runs     bool // its kubelet works: pods start and stop
	ready    bool // and reports the node as ready: pods turn ready
	slow     bool
	stuck    bool
	given    int    // pods that were created for it so far
	pods     []*pod // that are not gone, in no particular order
	known           // from the pods, brought up to date by touch
	out      Node   // what becomes of it in the Result
}

// class says whether a node is as it should be.
type class uint8

const (
	restless class = iota // no
	vacant                // yes: no pod and no wish for one
	settled               // yes: one available current pod where there should be one
)

// known is what is worked out from a node's pods.
type known struct {
	class   class
	state   State
	serves  bool // a pod that is not terminating is available
	doubled bool // an outdated pod, and a current one that is not available
	behind  bool // a live outdated pod
}

// study works out what is known of a node.
func (n *node) study(now time.Time, minReady time.Duration) known {
	t := n.take(now, minReady)
	k := known{class: restless, state: t.state(n), serves: t.serves}
	k.behind = t.outdated || t.unready
	k.doubled = k.behind && t.starting
	switch {
	case len(n.pods) == 0 && !n.eligible:
		k.class = vacant
	case len(n.pods) == 1 && n.eligible && t.updated:
		k.class = settled
	}
	return k
}

// tally is what kinds of pods a node has.
type tally struct {
	updated, starting   bool // current, available or not
	outdated, unready   bool // outdated, available or not
	stopping, brokenPod bool
	serves              bool // any of them is available and not terminating, even one that ended
}

func (n *node) take(now time.Time, minReady time.Duration) tally {
	t := tally{}
	for _, p := range n.pods {
		t.add(p, p.available(now, minReady))
	}
	return t
}

func (t *tally) add(p *pod, available bool) {
	t.serves = t.serves || available && !p.terminating()
	switch {
	case p.terminating():
		t.stopping = true
	case p.ended():
		t.brokenPod = true
	case p.current && available:
		t.updated = true
	case p.current:
		t.starting = true
	case available:
		t.outdated = true
	default:
		t.unready = true
	}
}

func (t tally) state(n *node) State {
	switch {
	case t.outdated && (t.starting || t.updated):
		return Surging
	case t.updated:
		return Updated
	case t.outdated:
		return Outdated
	case t.starting:
		return Starting
	case t.unready:
		return Unready
	case t.brokenPod:
		return Broken
	case t.stopping:
		return Stopping
	case n.eligible:
		return Missing
	}
	return Idle
}

func (n *node) remove(p *pod) {
	n.pods = slices.DeleteFunc(n.pods, func(other *pod) bool { return other == p })
}

// conditionReady is the node's Ready condition. A node that says nothing is taken for well.
func conditionReady(obj *corev1.Node) corev1.ConditionStatus {
	for i := range obj.Status.Conditions {
		if c := &obj.Status.Conditions[i]; c.Type == corev1.NodeReady {
			return c.Status
		}
	}
	return corev1.ConditionTrue
}
