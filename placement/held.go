package placement

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// held counts what a pod that is on a node holds. While it is resized in place that is the
// largest of what its spec asks for, what the kubelet has allocated and what is in force;
// what the kubelet called infeasible does not count.
type held struct {
	spec       *corev1.PodSpec
	status     *corev1.PodStatus
	infeasible bool
}

func heldRequests(pod *corev1.Pod) quantities {
	h := held{spec: &pod.Spec, status: &pod.Status, infeasible: resizeInfeasible(pod)}
	desired := containerRequests(h.spec, fromSpec)
	var total quantities
	if !h.infeasible {
		total.addAll(desired)
	}
	h.raiseToStatus(&total)
	if whole := podRequests(h.spec, desired); len(whole) > 0 {
		for _, q := range h.wholePod(whole) {
			total.put(q.name, q.value)
		}
	}
	for name, value := range inOrder(h.spec.Overhead) {
		total.add(name, value)
	}
	return total
}

// wholePod returns the same for what the pod asks for as a whole.
func (h *held) wholePod(desired corev1.ResourceList) quantities {
	if h.status.Resources == nil {
		return listOf(desired)
	}
	var largest quantities
	if !h.infeasible {
		largest = listOf(desired)
	}
	largest.raise(listOf(h.status.Resources.Requests))
	largest.raise(listOf(h.status.AllocatedResources))
	return slices.DeleteFunc(largest, func(q quantity) bool { return !isPodLevel(q.name) })
}

// raiseToStatus brings total up to what the kubelet says it has allocated and put in force:
// for the pod, if it says so, else added up over the containers.
func (h *held) raiseToStatus(total *quantities) {
	if h.status.AllocatedResources != nil && h.status.Resources != nil && h.status.Resources.Requests != nil {
		total.raise(listOf(h.status.AllocatedResources))
		total.raise(listOf(h.status.Resources.Requests))
		return
	}
	if len(h.status.ContainerStatuses)+len(h.status.InitContainerStatuses) == 0 {
		return // nothing is known but the spec
	}
	total.raise(containerRequests(h.spec, h.allocated))
	total.raise(containerRequests(h.spec, h.actuated))
}

func (h *held) allocated(c *corev1.Container) need {
	if s := h.statusOf(c.Name); s != nil && s.AllocatedResources != nil {
		return need{requests: s.AllocatedResources}
	}
	if h.infeasible {
		return need{}
	}
	return fromSpec(c)
}

func (h *held) actuated(c *corev1.Container) need {
	if s := h.statusOf(c.Name); s != nil && s.Resources != nil && s.Resources.Requests != nil {
		return need{requests: s.Resources.Requests}
	}
	return h.allocated(c)
}

func (h *held) statusOf(container string) *corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{h.status.ContainerStatuses, h.status.InitContainerStatuses} {
		for i := range list {
			if list[i].Name == container {
				return &list[i]
			}
		}
	}
	return nil
}

// resizeInfeasible looks at the first condition of its type only, as Kubernetes does.
func resizeInfeasible(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == corev1.PodResizePending {
			return pod.Status.Conditions[i].Reason == corev1.PodReasonInfeasible
		}
	}
	return false
}

func listOf(from corev1.ResourceList) quantities {
	var list quantities
	list.addList(from, nil)
	return list
}
