package placement

import corev1 "k8s.io/api/core/v1"

// heldRequests returns what a pod that is on a node holds. While it is resized in place that
// is the largest of what its spec asks for, what the kubelet has allocated and what is in
// force; what the kubelet called infeasible does not count.
func heldRequests(pod *corev1.Pod) quantities {
	spec := &pod.Spec
	infeasible := resizeInfeasible(pod)
	desired := containerRequests(spec, fromSpec)
	allocated, actuated := statusRequests(pod, infeasible)
	var total quantities
	if !infeasible {
		total = append(total, desired...)
	}
	total.raise(actuated)
	total.raise(allocated)

	if whole := podRequests(spec, desired); len(whole) > 0 {
		for _, q := range heldPodRequests(pod, whole, infeasible) {
			total.put(q.name, q.value)
		}
	}
	for name, value := range spec.Overhead {
		total.add(name, value)
	}
	return total
}

// heldPodRequests is the same for the pod as a whole.
func heldPodRequests(pod *corev1.Pod, whole corev1.ResourceList, infeasible bool) quantities {
	var largest quantities
	if pod.Status.Resources == nil || !infeasible {
		largest.addList(whole, nil)
	}
	if pod.Status.Resources != nil {
		largest.raise(listOf(pod.Status.Resources.Requests))
		largest.raise(listOf(pod.Status.AllocatedResources))
	}
	supported := largest[:0]
	for _, q := range largest {
		if isPodLevel(q.name) {
			supported = append(supported, q)
		}
	}
	return supported
}

// statusRequests returns what the kubelet says it has allocated and put in force: for the
// pod, if it says so, else added up over the containers, of which the spec stands in for one
// that it does not report.
func statusRequests(pod *corev1.Pod, infeasible bool) (allocated, actuated quantities) {
	status := &pod.Status
	if status.AllocatedResources != nil && status.Resources != nil && status.Resources.Requests != nil {
		return listOf(status.AllocatedResources), listOf(status.Resources.Requests)
	}
	if len(status.ContainerStatuses) == 0 && len(status.InitContainerStatuses) == 0 && !infeasible {
		return nil, nil // both are what the spec asks for
	}
	fallback := func(c *corev1.Container) need {
		if infeasible {
			return need{}
		}
		return fromSpec(c)
	}
	allocated = containerRequests(&pod.Spec, func(c *corev1.Container) need {
		if s := statusOf(status, c.Name); s != nil && s.AllocatedResources != nil {
			return need{requests: s.AllocatedResources}
		}
		return fallback(c)
	})
	actuated = containerRequests(&pod.Spec, func(c *corev1.Container) need {
		s := statusOf(status, c.Name)
		switch {
		case s != nil && s.Resources != nil && s.Resources.Requests != nil:
			return need{requests: s.Resources.Requests}
		case s != nil && s.AllocatedResources != nil:
			return need{requests: s.AllocatedResources}
		}
		return fallback(c)
	})
	return allocated, actuated
}

func statusOf(status *corev1.PodStatus, container string) *corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{status.ContainerStatuses, status.InitContainerStatuses} {
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
