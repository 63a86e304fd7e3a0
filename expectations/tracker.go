package expectations

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// DefaultTimeout is how long a write is waited for, as in Kubernetes v1.37.2.
const DefaultTimeout = 5 * time.Minute

// lostTimeout is how long a create of unknown outcome is waited for, if nothing else is: as
// long as an API server works on a request by default.
const lostTimeout = time.Minute

// Tracker collects writes and sightings, pod by pod: what is waited for is this pod and
// not any pod. So the two events of one graceful deletion count once, and an event of an
// old deletion settles nothing else.
//
// Its zero value is ready and empty; it is safe for concurrent use, and must not be copied
// once it is used.
type Tracker struct {
	Timeout time.Duration // zero or less means DefaultTimeout; set before first use

	mu     sync.Mutex
	owners map[types.UID]*waiting
}

// waiting is what one owner waits for.
type waiting struct {
	unnamed int // creates whose call has not returned: no UID is known yet
	lost    int // creates that may have taken effect, but whose call returned no pod
	created map[types.UID]struct{}
	early   map[types.UID]struct{} // seen while creates were unnamed; perhaps one of them
	deletes map[types.UID]struct{}

	deadline  time.Time
	lostUntil time.Time
}

// matchEarly takes early pods that no returned create has named for lost ones, as soon as
// no more names are to come.
func (w *waiting) matchEarly() {
	if w.unnamed == 0 {
		w.lost = max(0, w.lost-len(w.early))
		clear(w.early)
	}
}

// until is when waiting ends regardless.
func (w *waiting) until() time.Time {
	onlyLost := w.unnamed == 0 && len(w.created) == 0 && len(w.deletes) == 0
	if onlyLost && w.lostUntil.Before(w.deadline) {
		return w.lostUntil
	}
	return w.deadline
}

// Expect announces writes before they are issued, at now. What is still waited for from
// before goes on being waited for, unless its deadline has come: then it is given up.
func (t *Tracker) Expect(owner types.UID, creates int, deletes []types.UID, now time.Time) {
	if creates <= 0 && len(deletes) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.owners[owner]
	if w == nil || !now.Before(w.until()) {
		w = &waiting{
			created: map[types.UID]struct{}{},
			early:   map[types.UID]struct{}{},
			deletes: map[types.UID]struct{}{},
		}
		if t.owners == nil {
			t.owners = map[types.UID]*waiting{}
		}
		t.owners[owner] = w
	}
	w.unnamed += max(0, creates)
	for _, pod := range deletes {
		w.deletes[pod] = struct{}{}
	}
	w.deadline = now.Add(t.timeout())
}

// Created reports that one of the announced creates returned, with the new pod's UID. The
// pod is waited for from then on, unless it was seen before the call returned.
func (t *Tracker) Created(owner, pod types.UID) {
	t.change(owner, func(w *waiting) {
		if w.unnamed == 0 {
			return
		}
		w.unnamed--
		if _, ok := w.early[pod]; ok {
			delete(w.early, pod)
		} else {
			w.created[pod] = struct{}{}
		}
		w.matchEarly()
	})
}

// Cancel withdraws writes that failed or were not issued: creates whose call did not
// return a pod, and deletes.
func (t *Tracker) Cancel(owner types.UID, creates int, deletes ...types.UID) {
	t.change(owner, func(w *waiting) {
		w.unnamed = max(0, w.unnamed-max(0, creates))
		w.matchEarly()
		for _, pod := range deletes {
			delete(w.deletes, pod)
		}
	})
}

// Lost reports at now that the call of an announced create ended without an answer: the
// pod may exist or not. It is waited for, for a minute at most; any pod that becomes
// visible and is not otherwise known is taken for it.
func (t *Tracker) Lost(owner types.UID, now time.Time) {
	t.change(owner, func(w *waiting) {
		if w.unnamed == 0 {
			return
		}
		w.unnamed--
		w.lost++
		w.lostUntil = now.Add(lostTimeout)
		w.matchEarly()
	})
}

// SawCreate reports that a pod became visible; repeats are harmless.
func (t *Tracker) SawCreate(owner, pod types.UID) {
	t.change(owner, func(w *waiting) {
		switch _, known := w.created[pod]; {
		case known:
			delete(w.created, pod)
		case w.unnamed > 0:
			w.early[pod] = struct{}{}
		default:
			w.lost = max(0, w.lost-1)
		}
	})
}

// SawDelete reports that a pod is gone or going; repeats are harmless. A pod that was
// waited for as a new one is not any more: it came and went unseen.
func (t *Tracker) SawDelete(owner, pod types.UID) {
	t.change(owner, func(w *waiting) {
		delete(w.deletes, pod)
		delete(w.created, pod)
		if w.unnamed > 0 {
			w.early[pod] = struct{}{}
		}
	})
}

// Pending returns a copy of what an owner waits for; zero for nothing.
func (t *Tracker) Pending(owner types.UID) Pending {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.owners[owner]
	if w == nil {
		return Pending{}
	}
	return Pending{
		Creates:  w.unnamed + w.lost + len(w.created),
		Deletes:  slices.Sorted(maps.Keys(w.deletes)),
		Deadline: w.until(),
	}
}

// Forget drops an owner that is gone, or what it waits for.
func (t *Tracker) Forget(owner types.UID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.owners, owner)
}

// Owners counts the owners that wait for something.
func (t *Tracker) Owners() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.owners)
}

func (t *Tracker) timeout() time.Duration {
	if t.Timeout <= 0 {
		return DefaultTimeout
	}
	return t.Timeout
}

// change applies f to what an owner waits for, and drops the owner once that is nothing.
func (t *Tracker) change(owner types.UID, f func(*waiting)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.owners[owner]
	if w == nil {
		return
	}
	f(w)
	if w.unnamed == 0 && w.lost == 0 && len(w.created) == 0 && len(w.deletes) == 0 {
		delete(t.owners, owner)
	}
}
