package fake

import (
	corev1 "k8s.io/api/core/v1"
)

// tendPod does to a pod what is due now.
func (c *Cluster) tendPod(pod *corev1.Pod) {
	next, at := c.prospect(pod)
	if at.After(c.now) {
		c.schedulePod(pod)
		return
	}
	none := int64(0)
	switch next {
	case nothing:
	case evict:
		c.pods.end(pod, DeleteOptions{})
	case finish:
		c.pods.end(pod, DeleteOptions{Grace: &none})
	case loseNode:
		c.removeLost(pod)
	case bind, reportUnschedulable, reject, start, turnReady, turnUnready, fail, succeed, stop:
		c.pods.edit(pod, func(pod *corev1.Pod) { c.happen(pod, next) })
	}
}

// happen writes one deed into a pod.
func (c *Cluster) happen(pod *corev1.Pod, d deed) {
	switch d {
	case bind:
		if node := c.choose(pod); node != nil {
			pod.Spec.NodeName = node.Name
			c.setCondition(pod, corev1.PodScheduled, corev1.ConditionTrue)
		}
	case reportUnschedulable:
		c.setCondition(pod, corev1.PodScheduled, corev1.ConditionFalse)
		conditionOf(pod, corev1.PodScheduled).Reason = corev1.PodReasonUnschedulable
	case start:
		now := c.stamp()
		pod.Status.StartTime = &now
		pod.Status.Phase = corev1.PodRunning
		c.setCondition(pod, corev1.PodInitialized, corev1.ConditionTrue)
		c.setReady(pod, corev1.ConditionFalse)
	case turnReady:
		c.setReady(pod, corev1.ConditionTrue)
	case turnUnready:
		c.setReady(pod, corev1.ConditionFalse)
	case reject:
		c.endContainers(pod, corev1.PodFailed)
		pod.Status.Reason = "OutOfcpu"
	case fail:
		c.endContainers(pod, corev1.PodFailed)
	case succeed, stop:
		c.endContainers(pod, corev1.PodSucceeded)
	case nothing, finish, evict, loseNode:
	}
}

func (c *Cluster) endContainers(pod *corev1.Pod, phase corev1.PodPhase) {
	pod.Status.Phase = phase
	c.setReady(pod, corev1.ConditionFalse)
}

// removeLost does what pod garbage collection does with the pods of a node that is gone:
// nobody else can say that they ended.
func (c *Cluster) removeLost(pod *corev1.Pod) {
	if !finished(pod) {
		c.pods.edit(pod, func(pod *corev1.Pod) { c.endContainers(pod, corev1.PodFailed) })
	}
	none := int64(0)
	if failed, ok := c.pods.objects[keyOf(pod)]; ok {
		c.pods.end(failed, DeleteOptions{Grace: &none})
	}
}

func (c *Cluster) setReady(pod *corev1.Pod, status corev1.ConditionStatus) {
	c.setCondition(pod, corev1.PodReady, status)
	c.setCondition(pod, corev1.ContainersReady, status)
}

// setCondition keeps the transition time of a condition that does not change.
func (c *Cluster) setCondition(pod *corev1.Pod, kind corev1.PodConditionType, status corev1.ConditionStatus) {
	condition := conditionOf(pod, kind)
	if condition == nil {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: kind})
		condition = conditionOf(pod, kind)
	}
	if condition.Status != status {
		*condition = corev1.PodCondition{Type: kind, Status: status, LastTransitionTime: c.stamp()}
	}
}

// conditionOf finds a condition of a pod; nil if there is none.
func conditionOf(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}
