package clientgo

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// pace keeps the passes for one set apart. What happens to a set comes as a swarm of events,
// such as those of fifty pods that start: one pass for all of them writes one status in
// place of many, and what a server asked for is kept to. The first event after a rest is
// served at once.
type pace struct {
	mu   sync.Mutex
	sets map[types.NamespacedName]*step
}

// step is what is known of a set that has a pass under way or that rests.
type step struct {
	running bool
	woken   bool          // an event has come since the last pass began
	rests   time.Time     // no event leads to a pass before that
	rest    time.Duration // how long it rests, for clocks that are turned back
}

func newPace() *pace { return &pace{sets: map[types.NamespacedName]*step{}} }

// wake returns how long after now to make a pass because of an event. If ok is false there
// is nothing to do: a pass is asked for already, or will be by end.
func (p *pace) wake(key types.NamespacedName, now time.Time) (after time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.sets[key]
	switch {
	case s == nil:
		return 0, true
	case s.running || s.woken:
		s.woken = true
		return 0, false
	}
	after = min(s.rests.Sub(now), s.rest)
	if after <= 0 {
		delete(p.sets, key)
		return 0, true
	}
	s.woken = true
	return after, true
}

// begin notes that a pass begins.
func (p *pace) begin(key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sets[key] = &step{running: true}
}

// end notes that a pass has ended and lets the set rest. It returns whether an event came
// in the meantime, so that a pass is due after the rest.
func (p *pace) end(key types.NamespacedName, now time.Time, rest time.Duration) (woken bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.sets[key]
	if rest <= 0 {
		delete(p.sets, key)
		return s.woken
	}
	s.running, s.rests, s.rest = false, now.Add(rest), rest
	return s.woken
}

// leave forgets a set that is gone, unless an event has come since.
func (p *pace) leave(key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.sets[key]; s != nil && !s.running && !s.woken {
		delete(p.sets, key)
	}
}
