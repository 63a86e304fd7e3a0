package fake

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Health is how a node is, which its Ready condition and its taints show in time.
type Health uint8

// The healths.
const (
	Healthy     Health = iota
	NotReady           // the kubelet works, and reports that the node is not ready: no pod on it is
	Unreachable        // the kubelet is cut off: nothing starts, nothing stops, and after Timing.Unreachable it shows
)

// condition is the health of a node and since when.
type condition struct {
	health Health
	since  time.Time
}

// SetNodeHealth changes how the node of that name is. The node lifecycle shows it at the
// next Step, or when it notices: the Ready condition, the taint node.kubernetes.io/not-ready
// or node.kubernetes.io/unreachable for NoSchedule and NoExecute, and pods that are not
// ready. A node that is removed and comes back is healthy.
func (c *Cluster) SetNodeHealth(name string, health Health) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life.health[name].health == health {
		return
	}
	c.life.health[name] = condition{health: health, since: c.now}
	if node, ok := c.nodes.objects[keyIn("", name)]; ok {
		c.scheduleNode(node)
	}
	c.schedulePodsOn(name)
}

// shown is the health that the node lifecycle knows of, and when it will know better.
func (c *Cluster) shown(name string) (Health, time.Time) {
	current := c.life.health[name]
	if current.health != Unreachable {
		return current.health, c.now
	}
	if noticed := current.since.Add(c.life.timing.Unreachable); noticed.After(c.now) {
		return Healthy, noticed
	}
	return Unreachable, c.now
}

// scheduleNode puts on the agenda when the node lifecycle has to do with a node next.
func (c *Cluster) scheduleNode(node *corev1.Node) {
	t := task{kind: nodeTask, key: keyOf(node)}
	health, later := c.shown(node.Name)
	switch {
	case later.After(c.now):
		c.agenda.set(t, later)
	case !c.shows(node, health):
		c.agenda.set(t, c.now)
	default:
		c.agenda.cancel(t)
	}
}

// tendNode lets a node show its health, and whether it is cordoned.
func (c *Cluster) tendNode(node *corev1.Node) {
	health, _ := c.shown(node.Name)
	if !c.shows(node, health) {
		c.nodes.edit(node, func(node *corev1.Node) {
			if ready := readyOf(node); ready != nil && ready.Status != statusOf(health) {
				ready.Status, ready.LastTransitionTime = statusOf(health), c.stamp()
			}
			node.Spec.Taints = c.taintsOf(node, health)
		})
	}
	if health == Healthy {
		return
	}
	for _, pod := range c.podsOn.list(node.Name) {
		if isReady(pod) {
			c.pods.edit(pod, func(pod *corev1.Pod) { c.setCondition(pod, corev1.PodReady, corev1.ConditionFalse) })
		}
	}
}

// shows tells whether a node shows its health.
func (c *Cluster) shows(node *corev1.Node, health Health) bool {
	ready := readyOf(node)
	return (ready == nil || ready.Status == statusOf(health)) && same(node.Spec.Taints, c.taintsOf(node, health))
}

func statusOf(health Health) corev1.ConditionStatus {
	switch health {
	case NotReady:
		return corev1.ConditionFalse
	case Unreachable:
		return corev1.ConditionUnknown
	case Healthy:
	}
	return corev1.ConditionTrue
}

// taintsOf is the taints of a node, with those that the node lifecycle looks after as they
// should be.
func (c *Cluster) taintsOf(node *corev1.Node, health Health) []corev1.Taint {
	now := c.stamp()
	managed := []struct {
		taint  corev1.Taint
		wanted bool
	}{
		{corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}, node.Spec.Unschedulable},
		{corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}, health == NotReady},
		{corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoExecute, TimeAdded: &now}, health == NotReady},
		{corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule}, health == Unreachable},
		{corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute, TimeAdded: &now}, health == Unreachable},
	}
	taints := slices.Clone(node.Spec.Taints)
	for _, m := range managed {
		alike := func(t corev1.Taint) bool { return t.MatchTaint(&m.taint) }
		switch there := slices.ContainsFunc(taints, alike); {
		case m.wanted && !there:
			taints = append(taints, m.taint)
		case !m.wanted && there:
			taints = slices.DeleteFunc(taints, alike)
		}
	}
	return taints
}

// sameForPods tells whether two states of a node are the same for the pods on it, and for
// those that wait for one.
func sameForPods(a, b *corev1.Node) bool {
	return a.UID == b.UID && same(a.Labels, b.Labels) && same(a.Spec.Taints, b.Spec.Taints)
}
