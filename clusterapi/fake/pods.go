package fake

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// deed is the next thing that happens to a pod.
type deed uint8

const (
	nothing deed = iota
	bind
	reportUnschedulable
	reject
	start
	turnReady
	turnUnready
	fail
	succeed
	stop
	finish
	evict
	loseNode
)

// flapping is how long a pod that flaps stays as it is at least.
const flapping = time.Second

// prospect says what happens to a pod next, and when, if nothing changes until then.
func (c *Cluster) prospect(pod *corev1.Pod) (deed, time.Time) {
	at := c.life.stages[pod.UID]
	if at.stage == unbound {
		return c.prospectUnbound(pod, at.at)
	}
	if pod.Spec.NodeName == "" {
		return nothing, at.at // held by a finalizer, without ever having run
	}
	node := c.nodes.objects[keyIn("", pod.Spec.NodeName)]
	if node == nil {
		return loseNode, later(at.at, c.life.lost[pod.Spec.NodeName]).Add(c.life.timing.LostNode)
	}
	next, when := c.prospectOnNode(pod, at)
	if at.stage == ended || at.stage == stopping || at.stage == stopped {
		return next, when
	}
	if eviction, ok := evictionOf(pod, node, at.at); ok && (next == nothing || eviction.Before(when)) {
		return evict, eviction
	}
	return next, when
}

func (c *Cluster) prospectUnbound(pod *corev1.Pod, created time.Time) (deed, time.Time) {
	when := created.Add(c.takes(pod.UID, unbound, c.life.timing.Bind))
	switch {
	case c.choose(pod) != nil:
		return bind, when
	case conditionOf(pod, corev1.PodScheduled) == nil:
		return reportUnschedulable, when
	}
	return nothing, when
}

// prospectOnNode is what the kubelet does next.
func (c *Cluster) prospectOnNode(pod *corev1.Pod, at since) (deed, time.Time) {
	health := c.life.health[pod.Spec.NodeName].health
	if health == Unreachable {
		return nothing, at.at
	}
	fate := c.life.fate(pod)
	switch at.stage {
	case bound:
		return c.prospectBound(pod, fate, at.at)
	case running:
		if fate.Outcome != NeverReady && health == Healthy {
			return turnReady, at.at.Add(c.takes(pod.UID, running, c.life.timing.Ready))
		}
	case ready:
		return prospectReady(fate, at.at)
	case stopping:
		if !fate.Hangs {
			grace := seconds(*pod.DeletionGracePeriodSeconds)
			return stop, at.at.Add(min(grace, c.takes(pod.UID, stopping, c.life.timing.Stop)))
		}
	case stopped:
		return finish, at.at
	case unbound, ended:
	}
	return nothing, at.at
}

func (c *Cluster) prospectBound(pod *corev1.Pod, fate Fate, since time.Time) (deed, time.Time) {
	switch fate.Outcome {
	case NeverStarts:
		return nothing, since
	case Rejected:
		return reject, since
	case Runs, NeverReady, Fails, Succeeds, Flaps:
	}
	return start, since.Add(c.takes(pod.UID, bound, c.life.timing.Start))
}

func prospectReady(fate Fate, since time.Time) (deed, time.Time) {
	when := since.Add(max(0, fate.After))
	switch fate.Outcome {
	case Fails:
		return fail, when
	case Succeeds:
		return succeed, when
	case Flaps, NeverReady:
		return turnUnready, since.Add(max(flapping, fate.After))
	case Runs, NeverStarts, Rejected:
	}
	return nothing, when
}

// evictionOf says when a taint drives a pod off its node that ran, or stood by, at least
// since a given time; not ok if none does.
func evictionOf(pod *corev1.Pod, node *corev1.Node, since time.Time) (at time.Time, ok bool) {
	for i := range node.Spec.Taints {
		taint := &node.Spec.Taints[i]
		if taint.Effect != corev1.TaintEffectNoExecute {
			continue
		}
		when := since
		if taint.TimeAdded != nil {
			when = taint.TimeAdded.Time
		}
		if toleration := tolerationOf(pod, taint); toleration != nil {
			if toleration.TolerationSeconds == nil {
				continue
			}
			when = when.Add(seconds(max(0, *toleration.TolerationSeconds)))
		}
		if !ok || when.Before(at) {
			at, ok = when, true
		}
	}
	return at, ok
}

// takes is a duration with the jitter that one pod has at one stage.
func (c *Cluster) takes(pod types.UID, s stage, d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	share := c.chance.source("takes", string(pod), strconv.Itoa(int(s))).Float64()
	return d + time.Duration(float64(d)*max(0, c.life.timing.Jitter)*share)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// schedulePod puts on the agenda when something happens to a pod next.
func (c *Cluster) schedulePod(pod *corev1.Pod) {
	t := task{kind: podTask, key: keyOf(pod)}
	if next, at := c.prospect(pod); next == nothing {
		c.agenda.cancel(t)
	} else {
		c.agenda.set(t, at)
	}
}

// schedulePodsOn does so for all pods that a node matters to.
func (c *Cluster) schedulePodsOn(node string) {
	for _, pod := range c.podsOn.members[node] {
		c.schedulePod(pod)
	}
	if node != "" {
		c.schedulePodsOn("")
	}
}

// scheduleAll does so for all pods and nodes, after what applies to all of them changed.
func (c *Cluster) scheduleAll() {
	for _, node := range c.nodes.in("") {
		c.scheduleNode(node)
	}
	for _, pod := range c.pods.in("") {
		c.schedulePod(pod)
	}
}
