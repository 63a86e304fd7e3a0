package clusterapi

import (
	"container/heap"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// queue holds the keys that need a pass, each at most once. Keys come out in the order in
// which they came due; a key that is being worked on does not come out, but is put at the
// end once it is done. It has no clock and no lock: its user brings both.
type queue struct {
	items   map[types.NamespacedName]*item
	ready   []*item // first in, first out
	delayed delays
	running int
	arrived uint64 // numbers the delays, so that those of one instant keep their order
}

// item is all that is known of one key.
type item struct {
	key      types.NamespacedName
	queued   bool // in ready
	running  bool
	again    bool      // came due while running
	failures int       // passes that failed since the last one that did not
	rests    time.Time // it does not come due before that

	due   time.Time // in delayed, if place is not nowhere
	order uint64
	place int
}

const nowhere = -1

func newQueue() queue { return queue{items: map[types.NamespacedName]*item{}} }

func (q *queue) item(key types.NamespacedName) *item {
	it := q.items[key]
	if it == nil {
		it = &item{key: key, place: nowhere}
		q.items[key] = it
	}
	return it
}

// add makes a key ready at now, and reports whether it was not so already. A key that rests
// is only ready later.
func (q *queue) add(key types.NamespacedName, now time.Time) bool { return q.enqueue(q.item(key), now) }

func (q *queue) enqueue(it *item, now time.Time) bool {
	switch {
	case it.queued || it.again:
		return false
	case it.running:
		it.again = true
	case now.Before(it.rests):
		q.delay(it, it.rests)
		return false
	default:
		it.queued = true
		q.ready = append(q.ready, it)
	}
	return true
}

// rest keeps a key from coming due before an instant, whoever asks for it.
func (q *queue) rest(key types.NamespacedName, until time.Time) {
	it := q.item(key)
	it.rests = until
	if it.place != nowhere && it.due.Before(until) {
		it.due = until
		heap.Fix(&q.delayed, it.place)
	}
}

// addAt makes a key ready at an instant, or when it has rested. Of several instants the
// earliest stands, and a pass in the meantime does not count for it.
func (q *queue) addAt(key types.NamespacedName, due time.Time) {
	it := q.item(key)
	if due.Before(it.rests) {
		due = it.rests
	}
	q.delay(it, due)
}

func (q *queue) delay(it *item, due time.Time) {
	switch {
	case it.place == nowhere:
		q.arrived++
		it.due, it.order = due, q.arrived
		heap.Push(&q.delayed, it)
	case due.Before(it.due):
		it.due = due
		heap.Fix(&q.delayed, it.place)
	}
}

// promote makes ready what is due at now.
func (q *queue) promote(now time.Time) {
	for len(q.delayed) > 0 && !q.delayed[0].due.After(now) {
		q.enqueue(heap.Pop(&q.delayed).(*item), now)
	}
}

// next returns when the next delay is over; ok is false if there is none.
func (q *queue) next() (due time.Time, ok bool) {
	if len(q.delayed) == 0 {
		return time.Time{}, false
	}
	return q.delayed[0].due, true
}

// take returns the first ready key, which is then running until it is done.
func (q *queue) take() (key types.NamespacedName, ok bool) {
	if len(q.ready) == 0 {
		return types.NamespacedName{}, false
	}
	it := q.ready[0]
	q.ready[0] = nil
	q.ready = q.ready[1:]
	it.queued, it.running = false, true
	q.running++
	return it.key, true
}

// done ends the work on a key at now. It goes to the end of the queue if it came due
// meanwhile.
func (q *queue) done(key types.NamespacedName, now time.Time) {
	it := q.items[key]
	it.running = false
	q.running--
	if it.again {
		it.again = false
		q.enqueue(it, now)
	}
	if !it.queued && it.place == nowhere { // after a failure there is a retry
		delete(q.items, key)
	}
}

// delays is a heap of items, the next one due in front.
type delays []*item

func (d delays) Len() int { return len(d) }

func (d delays) Less(i, j int) bool {
	if d[i].due.Equal(d[j].due) {
		return d[i].order < d[j].order
	}
	return d[i].due.Before(d[j].due)
}

func (d delays) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].place, d[j].place = i, j
}

// Push is for package heap.
func (d *delays) Push(x any) {
	it := x.(*item)
	it.place = len(*d)
	*d = append(*d, it)
}

// Pop is for package heap.
func (d *delays) Pop() any {
	last := len(*d) - 1
	it := (*d)[last]
	(*d)[last] = nil
	*d = (*d)[:last]
	it.place = nowhere
	return it
}
