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
	deletes map[types.UID]struct{}
	doubted map[types.UID]struct{} // deletes that may have taken effect

	// known are the pods that a returned create has named or that were seen: none of them is
	// the pod of a lost create.
	known map[types.UID]struct{}
	// early are the pods seen while creates were unnamed, perhaps theirs: true if one became
	// visible, false if it was only seen to go.
	early map[types.UID]bool

	deadline  time.Time
	lostUntil time.Time
}

func newWaiting() *waiting {
	return &waiting{
		created: map[types.UID]struct{}{},
		deletes: map[types.UID]struct{}{},
		doubted: map[types.UID]struct{}{},
		known:   map[types.UID]struct{}{},
		early:   map[types.UID]bool{},
	}
}

// matchEarly takes early pods that no returned create has named for lost ones, as soon as
// no more names are to come. One that was only seen to go may be much older.
func (w *waiting) matchEarly() {
	if w.unnamed > 0 {
		return
	}
	for _, visible := range w.early {
		if visible {
			w.lost = max(0, w.lost-1)
		}
	}
	clear(w.early)
}

// certain reports whether anything is waited for that has certainly been written.
func (w *waiting) certain() bool { return w.unnamed > 0 || len(w.created) > 0 || len(w.deletes) > 0 }

func (w *waiting) empty() bool { return !w.certain() && w.lost == 0 && len(w.doubted) == 0 }

// until is when waiting ends regardless.
func (w *waiting) until() time.Time {
	if !w.certain() && w.lostUntil.Before(w.deadline) {
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
		w = newWaiting()
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

// Sent reports at now that all announced calls have returned. How long what they wrote is
// waited for counts from then, not from Expect: calls can take long.
func (t *Tracker) Sent(owner types.UID, now time.Time) {
	t.change(owner, func(w *waiting) {
		if deadline := now.Add(t.timeout()); w.deadline.Before(deadline) {
			w.deadline = deadline
		}
	})
}

// Created reports that one of the announced creates returned, with the new pod's UID. The
// pod is waited for from then on, unless it was seen before the call returned.
func (t *Tracker) Created(owner, pod types.UID) {
	t.change(owner, func(w *waiting) {
		if w.unnamed == 0 {
			return
		}
		w.unnamed--
		w.known[pod] = struct{}{}
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

// LostDelete reports at now that the call of an announced delete ended without an answer:
// the pod may be going or not. That is waited for, for a minute at most.
func (t *Tracker) LostDelete(owner, pod types.UID, now time.Time) {
	t.change(owner, func(w *waiting) {
		if _, ok := w.deletes[pod]; ok {
			delete(w.deletes, pod)
			w.doubted[pod] = struct{}{}
			w.lostUntil = now.Add(lostTimeout)
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
		delete(w.created, pod)
		if _, ok := w.known[pod]; ok {
			return
		}
		w.known[pod] = struct{}{}
		if w.unnamed > 0 {
			w.early[pod] = true
		} else {
			w.lost = max(0, w.lost-1)
		}
	})
}

// SawDelete reports that a pod is gone or going; repeats are harmless. A pod that was
// waited for as a new one is not any more: it came and went unseen.
func (t *Tracker) SawDelete(owner, pod types.UID) {
	t.change(owner, func(w *waiting) {
		delete(w.deletes, pod)
		delete(w.doubted, pod)
		delete(w.created, pod)
		if _, ok := w.early[pod]; !ok && w.unnamed > 0 {
			w.early[pod] = false
		}
	})
}

// Sight is what a read shows of a pod.
type Sight uint8

// The sights; the zero value tells nothing.
const (
	Unclear Sight = iota // the read may be older than the pod or its deletion
	Present              // it is there
	Going                // it is there, and being deleted
	Gone                 // it is not there, though the read is newer than the pod
)

// Observed settles what a read shows, so that an event that was lost is not waited for in
// vain: created pods that are there, and deleted ones that are going or gone. look is asked
// for each pod that is waited for, and must not call the Tracker. A create whose call
// returned no pod is not settled by reads: nothing tells its pod from older ones.
func (t *Tracker) Observed(owner types.UID, look func(pod types.UID) Sight) {
	t.change(owner, func(w *waiting) {
		maps.DeleteFunc(w.created, func(pod types.UID, _ struct{}) bool { return look(pod) != Unclear })
		over := func(pod types.UID, _ struct{}) bool { return look(pod) >= Going }
		maps.DeleteFunc(w.deletes, over)
		maps.DeleteFunc(w.doubted, over)
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
	deletes := slices.AppendSeq(slices.Collect(maps.Keys(w.deletes)), maps.Keys(w.doubted))
	slices.Sort(deletes)
	return Pending{
		Creates:  w.unnamed + w.lost + len(w.created),
		Deletes:  deletes,
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
	if w.empty() {
		delete(t.owners, owner)
	}
}
