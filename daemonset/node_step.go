package daemonset

import (
	"time"

	"github.com/daemonplan/daemonplan/backoff"
	"github.com/daemonplan/daemonplan/placement"
	"github.com/daemonplan/daemonplan/rollout"
)

// nodeStep brings each node by itself to the number of pods it should have.
type nodeStep struct {
	*pass
	backoff backoff.Entries // sorted
	*actions
}

// stepNodes runs the per-node step over the fleet.
func (p *pass) stepNodes(f *fleet, entries backoff.Entries, into *actions) {
	step := nodeStep{pass: p, backoff: entries.Sorted(), actions: into}
	for _, number := range f.named(node.unsettled) {
		step.visit(f.node(number))
	}
	for _, number := range f.gone() {
		step.visitMissing(f.node(number))
	}
}

// unsettled is false for a node on which the step surely finds nothing to do, which is most
// of them.
func (n node) unsettled() bool {
	switch len(n.pods) {
	case 0:
		return n.open()
	case 1:
		return n.pods[0].state != Live || !n.decision().Keeps()
	}
	return true
}

func (s *nodeStep) visit(n node) {
	switch n.decision() {
	case placement.Run:
		if len(n.pods) == 0 {
			s.create(n, MissingPod)
			return
		}
		s.keep(n)
	case placement.Keep, placement.Suspend: // the second only comes from a Fitter
		s.keep(n)
	case placement.Evict, placement.Undecided:
		for _, p := range n.podsByName((*pod).staying) {
			s.delete(n, p, NodeUnsuitable)
		}
	}
}

// visitMissing deletes the unbound pods of a node that does not exist, because nobody else
// would; bound ones are pod garbage collection's. Terminating ones are deleted again, as
// in Kubernetes v1.37.2.
func (s *nodeStep) visitMissing(n node) {
	for _, p := range n.podsByName((*pod).unbound) {
		s.delete(n, p, NodeMissing)
	}
}

// keep prunes a node whose pods may stay.
func (s *nodeStep) keep(n node) {
	s.removeFinished(n)
	if s.set.surging {
		s.keepPair(n)
		return
	}
	kept := false
	for i := range n.pods {
		if n.pods[i].state != Live {
			continue
		}
		if kept {
			s.delete(n, &n.pods[i], ExcessPod)
		}
		kept = true
	}
}

// removeFinished deletes failed and succeeded pods, the failed ones no faster than their
// backoff allows.
func (s *nodeStep) removeFinished(n node) {
	entry, known := backoff.Entry{}, false
	for _, p := range n.podsByName((*pod).ended) {
		if p.state == Succeeded {
			s.events = append(s.events, succeededEvent(n, p.obj))
			s.delete(n, p, SucceededPod)
			continue
		}
		if !known {
			entry, _ = s.backoff.Get(s.backoffKey(n))
			known = true
		}
		entry = s.removeFailed(n, p, entry)
	}
}

// removeFailed deletes a failed pod unless entry, the state of its node, forbids it, and
// returns the state after that. A second failed pod on the node already has to wait for
// the first.
func (s *nodeStep) removeFailed(n node, p *pod, entry backoff.Entry) backoff.Entry {
	if wait := s.options.Backoff.Wait(entry, s.now); wait > 0 {
		n.wait(FailedPodBackoff, instantOf(s.now.Add(wait)))
		s.wake(s.now.Add(entry.Delay))
		return entry
	}
	s.failures = append(s.failures, failure{key: entry.Key, delete: len(s.deletes)})
	s.events = append(s.events, failedEvent(n, p.obj))
	s.delete(n, p, FailedPod)
	return s.options.Backoff.Next(entry, s.now)
}

func (p *pass) backoffKey(n node) backoff.Key {
	return backoff.Key{Owner: p.set.ref.UID, Generation: p.set.obj.Status.ObservedGeneration, Node: n.name()}
}

// keepPair prunes a node on which a current and an outdated pod may stand side by side.
func (s *nodeStep) keepPair(n node) {
	live := 0
	for i := range n.pods {
		if n.pods[i].state == Live {
			live++
		}
	}
	switch {
	case live == 0 && n.open():
		if s.fitter != nil && s.room(n) != rollout.RoomForBoth {
			n.wait(Suspended, time.Time{}) // whoever places the pod knows that it has to wait for the terminating one
			return
		}
		// A terminating pod does not count: with surge its successor need not wait for it.
		s.create(n, NoLivePod)
	case live > 1:
		s.prunePair(n)
	}
}

// prunePair keeps the first live pod with the current hash and the first without, and of
// these two only the current one once it can stand alone.
func (s *nodeStep) prunePair(n node) {
	var current, outdated *pod
	for i := range n.pods {
		p := &n.pods[i]
		switch {
		case p.state != Live:
		case p.hashed && current == nil:
			current = p
		case !p.hashed && outdated == nil:
			outdated = p
		default:
			s.delete(n, p, ExcessPod)
		}
	}
	switch {
	case current == nil || outdated == nil:
	case outdated.health == rollout.Unhealthy:
		s.delete(n, outdated, OutdatedNotReady)
	case current.health == rollout.Available:
		s.delete(n, outdated, SurgeComplete)
	}
}
