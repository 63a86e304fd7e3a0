package simulate

import (
	"container/heap"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// patience is how much later than the model something may be in the snapshot before it is
// taken to be stuck. What should long have happened by the model, and has not, has a reason
// that the model does not know, and never happens.
const patience = time.Minute

// lostAfter is when the pods of a node that does not exist are removed: pod garbage
// collection of Kubernetes v1.37.2 waits 40 seconds and looks every 20.
const lostAfter = time.Minute

// enlist puts on the agenda what a pod of the snapshot is about to do.
func (r *run) enlist(p *pod) {
	switch {
	case p.leaving:
	case p.node == nowhere:
		if len(p.obj.Finalizers) == 0 && (p.terminating() || p.bound()) {
			r.plan(lostAfter, p, vanish)
		}
	case p.terminating():
		r.enlistTerminating(p)
	case p.ended():
	default:
		r.enlistLive(p)
	}
}

func (r *run) enlistTerminating(p *pod) {
	due := p.obj.DeletionTimestamp.Sub(r.start)
	if len(p.obj.Finalizers) == 0 && r.nodes[p.node].runs && due > -patience {
		r.plan(due, p, vanish)
	}
}

func (r *run) enlistLive(p *pod) {
	since, ready := p.readySince()
	began := r.offset(p.obj.CreationTimestamp.Time)
	switch {
	case ready:
		if r.minReady > 0 && !since.IsZero() && r.clock().Before(since.Add(r.minReady)) {
			r.plan(since.Add(r.minReady).Sub(r.start), p, turnAvailable)
		}
	case !p.bound():
		if due := began + r.model.Bind; due > -patience {
			r.plan(due, p, bind)
		}
	default:
		if due := began + r.model.Bind + r.startTime(p); due > -patience {
			r.plan(due, p, getReady)
		}
	}
}

// offset is an API time on the virtual clock; one that is not said is now.
func (r *run) offset(t time.Time) time.Duration {
	if t.IsZero() {
		return r.now
	}
	return t.Sub(r.start)
}

// happen does what is due, and reports whether anything happened that a plan looks at.
func (r *run) happen() bool {
	matters := false
	for len(r.agenda) > 0 && r.agenda[0].at <= r.now {
		t := heap.Pop(&r.agenda).(task)
		if !t.pod.gone && r.do(t) {
			matters = true
			r.last = r.now
		}
	}
	return matters
}

func (r *run) do(t task) bool {
	p := t.pod
	switch t.do {
	case bind:
		return r.bind(p)
	case getReady:
		return r.getReady(p)
	case turnAvailable:
		if p.terminating() {
			return false
		}
		r.tell(p, Available, "")
		r.touch(p.node)
	case vanish:
		r.vanish(p)
	}
	return true
}

// bind puts a pod on its node. What is in its way there will wake it when it goes.
func (r *run) bind(p *pod) bool {
	n := &r.nodes[p.node]
	if p.bound() || p.terminating() || !p.live() {
		return false
	}
	for _, other := range n.pods {
		if other != p && other.bound() && !other.ended() && p.clashes(other) {
			return false
		}
	}
	r.edit(p).Spec.NodeName = n.obj.Name
	r.tell(p, Bound, "")
	r.plan(r.now+r.startTime(p), p, getReady)
	return len(n.pods) > 1 // alone on its node, nobody looks whether a pod is bound
}

func (r *run) startTime(p *pod) time.Duration {
	return r.span(r.model.Start, howLongToStart, p)
}

func (r *run) span(s Span, q question, p *pod) time.Duration {
	n := &r.nodes[p.node]
	d := s.draw(ask(r.seed, q, n.obj.Name, p.nth))
	if n.slow {
		d *= time.Duration(r.model.SlowFactor)
	}
	return d
}

// getReady is the end of a pod's start.
func (r *run) getReady(p *pod) bool {
	n := &r.nodes[p.node]
	stuck := n.stuck && !p.original
	if !p.live() || !n.runs || !n.ready || stuck {
		return false
	}
	if ask(r.seed, whetherItFails, n.obj.Name, p.nth).happens(r.model.FailureRate) {
		r.edit(p).Status.Phase = corev1.PodFailed
		r.setReady(p, corev1.ConditionFalse)
		r.tell(p, Failed, "")
		r.touch(p.node)
		return true
	}
	r.edit(p).Status.Phase = corev1.PodRunning
	r.setReady(p, corev1.ConditionTrue)
	r.tell(p, Ready, "")
	if r.minReady > 0 {
		r.plan(r.now+r.minReady, p, turnAvailable)
	}
	r.touch(p.node)
	return true
}

// setReady writes the Ready condition, in a slice of its own.
func (r *run) setReady(p *pod, status corev1.ConditionStatus) {
	obj := r.edit(p)
	isReady := func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady }
	obj.Status.Conditions = append(slices.DeleteFunc(slices.Clone(obj.Status.Conditions), isReady), corev1.PodCondition{
		Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.NewTime(r.clock()),
	})
}

// vanish takes a pod out of the cluster, and lets pods bind that it was in the way of.
func (r *run) vanish(p *pod) {
	r.forget(p)
	if p.node == nowhere {
		return
	}
	n := &r.nodes[p.node]
	n.remove(p)
	r.tell(p, Gone, "")
	for _, other := range n.pods {
		if !other.bound() && other.live() {
			r.plan(r.now, other, bind)
		}
	}
	r.touch(p.node)
}
