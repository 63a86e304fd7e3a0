package simulate

import (
	"container/heap"
	"time"
)

// deed is what the cluster does to a pod.
type deed uint8

const (
	bind          deed = iota // put it on its node, if nothing there is in the way
	getReady                  // or fail, as the model has it
	turnAvailable             // ready for long enough; only the planner's view changes
	vanish
)

// task is one deed that is due.
type task struct {
	at  time.Duration
	seq int // tasks of one instant are done in the order in which they came up
	pod *pod
	do  deed
}

// agenda is the tasks, as a heap.
type agenda []task

// Len counts the tasks.
func (a agenda) Len() int { return len(a) }

// Less orders tasks by time.
func (a agenda) Less(i, j int) bool {
	if a[i].at != a[j].at {
		return a[i].at < a[j].at
	}
	return a[i].seq < a[j].seq
}

// Swap exchanges two tasks.
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }

// Push appends a task, for package heap.
func (a *agenda) Push(x any) { *a = append(*a, x.(task)) }

// Pop removes the last task, for package heap.
func (a *agenda) Pop() any {
	old := *a
	last := old[len(old)-1]
	*a = old[:len(old)-1]
	return last
}

// plan puts a deed on the agenda, not before now and on the grid.
func (r *run) plan(at time.Duration, p *pod, do deed) {
	r.seq++
	heap.Push(&r.agenda, task{at: r.onGrid(max(at, r.now)), seq: r.seq, pod: p, do: do})
}

// onGrid rounds an instant up.
func (r *run) onGrid(at time.Duration) time.Duration {
	if over := at % r.grid; over > 0 {
		return at - over + r.grid
	}
	return at
}
