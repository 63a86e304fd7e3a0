package fake

import (
	"cmp"
	"container/heap"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// task names something that a part of the cluster has to look at. What there is to do is
// decided when it is due.
type task struct {
	kind taskKind
	key  types.NamespacedName
}

type taskKind uint8

const (
	namespaceTask taskKind = iota
	nodeTask
	setTask
	revisionGarbageTask
	podGarbageTask
	podTask
)

type appointment struct {
	at time.Time
	task
}

func compareAppointments(a, b appointment) int {
	return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.kind, b.kind),
		cmp.Compare(a.key.Namespace, b.key.Namespace), cmp.Compare(a.key.Name, b.key.Name))
}

// appointments is a heap, the earliest first.
type appointments []appointment

func (as appointments) Len() int           { return len(as) }
func (as appointments) Less(i, j int) bool { return compareAppointments(as[i], as[j]) < 0 }
func (as appointments) Swap(i, j int)      { as[i], as[j] = as[j], as[i] }

// Push adds x at the end.
func (as *appointments) Push(x any) {
	if a, ok := x.(appointment); ok {
		*as = append(*as, a)
	}
}

// Pop removes the end.
func (as *appointments) Pop() any {
	end := len(*as) - 1
	last := (*as)[end]
	*as = (*as)[:end]
	return last
}

// agenda says when to look at what. A task has at most one appointment; those that were
// moved stay in the heap and are passed over.
type agenda struct {
	due  map[task]time.Time
	heap *appointments
}

func newAgenda() agenda { return agenda{due: map[task]time.Time{}, heap: &appointments{}} }

// set moves the appointment of a task to at.
func (a agenda) set(t task, at time.Time) {
	if before, ok := a.due[t]; ok && before.Equal(at) {
		return
	}
	a.due[t] = at
	heap.Push(a.heap, appointment{at: at, task: t})
}

// soon gives a task an appointment unless it has one.
func (a agenda) soon(t task, at time.Time) {
	if _, ok := a.due[t]; !ok {
		a.set(t, at)
	}
}

// cancel takes the task off the agenda.
func (a agenda) cancel(t task) { delete(a.due, t) }

// next returns the earliest appointment, if there is one.
func (a agenda) next() (appointment, bool) {
	for a.heap.Len() > 0 {
		first := (*a.heap)[0]
		if at, ok := a.due[first.task]; ok && at.Equal(first.at) {
			return first, true
		}
		heap.Pop(a.heap)
	}
	return appointment{}, false
}

// take removes and returns what is due at now, in order.
func (a agenda) take(now time.Time) []task {
	var tasks []task
	for {
		first, ok := a.next()
		if !ok || first.at.After(now) {
			return tasks
		}
		heap.Pop(a.heap)
		delete(a.due, first.task)
		tasks = append(tasks, first.task)
	}
}
