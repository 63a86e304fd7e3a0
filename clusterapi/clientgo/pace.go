package clientgo

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// pace keeps the passes for one set apart. What happens to a set comes as a swarm of events,
// such as those of fifty pods that start: one pass for all of them writes one status in
// place of many, and what a server asked for is kept to. The first event after a rest is
// served at once. All times are real ones, as the queue's are.
type pace struct {
	mu   sync.Mutex
	sets map[types.NamespacedName]*step
}

// step is what is known of a set that has a pass under way or that rests.
type step struct {
	running bool
	woken   bool      // an event has come since the last pass began
	rests   time.Time // no event leads to a pass before that
	asked   time.Time // nothing does, because a server asked for that; zero if none did
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
	if after = s.rests.Sub(now); after <= 0 {
		delete(p.sets, key)
		return 0, true
	}
	s.woken = true
	return after, true
}

// begin notes that a pass begins. It does not if left is not zero: so long still takes what a
// server asked for, and a pass is due after that. What an earlier pass asked for may be due
// before.
func (p *pace) begin(key types.NamespacedName, now time.Time) (left time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.sets[key]; s != nil && now.Before(s.asked) {
		s.woken = true
		return s.asked.Sub(now)
	}
	p.sets[key] = &step{running: true}
	return 0
}

// end notes that a pass has ended and lets the set rest, from events for rest and from anything
// for asked. It returns how long it rests from events, and whether one came in the meantime, so
// that a pass is due after that.
func (p *pace) end(key types.NamespacedName, now time.Time, rest, asked time.Duration) (_ time.Duration, woken bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.sets[key]
	if rest = max(rest, asked); rest <= 0 {
		delete(p.sets, key)
		return 0, s.woken
	}
	s.running, s.rests = false, now.Add(rest)
	if asked > 0 {
		s.asked = now.Add(asked)
	}
	return rest, s.woken
}

// leave forgets a set that is gone, unless an event has come since.
func (p *pace) leave(key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.sets[key]; s != nil && !s.running && !s.woken {
		delete(p.sets, key)
	}
}
