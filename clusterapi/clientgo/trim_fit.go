package clientgo

import (
	corev1 "k8s.io/api/core/v1"
)

// TrimForFit is [Trim] for programs with Options.Fit or Options.Surge: it leaves what these
// read too.
//
//   - Of every pod its node, its phase, and what it holds: the requests of its containers
//     and of the whole, those that a resize has put in force, overhead, host ports, disks.
//   - Of a node also what it can hold and its conditions.
//
// The object that is given is not changed, and the error is always nil.
func TrimForFit(obj any) (any, error) {
	switch o := obj.(type) {
	case *corev1.Pod:
		trimmed := trimPod(o)
		keepNode(trimmed, o)
		keepHeld(trimmed, o)
		return trimmed, nil
	case *corev1.Node:
		trimmed := trimNode(o)
		trimmed.Status.Capacity = o.Status.Capacity
		trimmed.Status.Allocatable = o.Status.Allocatable
		for _, c := range o.Status.Conditions {
			trimmed.Status.Conditions = append(trimmed.Status.Conditions, corev1.NodeCondition{Type: c.Type, Status: c.Status, Reason: c.Reason})
		}
		return trimmed, nil
	}
	return Trim(obj)
}

// keepHeld adds to a trimmed pod what it holds on its node.
func keepHeld(trimmed, pod *corev1.Pod) {
	spec, status := &trimmed.Spec, &trimmed.Status
	spec.HostNetwork = pod.Spec.HostNetwork
	spec.Overhead = pod.Spec.Overhead
	spec.Resources = pod.Spec.Resources
	spec.InitContainers = heldBy(pod.Spec.InitContainers)
	spec.Containers = heldBy(pod.Spec.Containers)
	for _, volume := range pod.Spec.Volumes {
		if mayBeDisk(&volume.VolumeSource) {
			spec.Volumes = append(spec.Volumes, volume)
		}
	}
	status.Phase = pod.Status.Phase
	status.Resources = pod.Status.Resources
	status.AllocatedResources = pod.Status.AllocatedResources
	status.InitContainerStatuses = inForce(pod.Status.InitContainerStatuses)
	status.ContainerStatuses = inForce(pod.Status.ContainerStatuses)
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodResizePending {
			status.Conditions = append(status.Conditions, corev1.PodCondition{Type: c.Type, Status: c.Status, Reason: c.Reason})
			break // the first one counts
		}
	}
}

func heldBy(containers []corev1.Container) []corev1.Container {
	var kept []corev1.Container
	for _, c := range containers {
		kept = append(kept, corev1.Container{Name: c.Name, Resources: c.Resources, Ports: c.Ports, RestartPolicy: c.RestartPolicy})
	}
	return kept
}

func inForce(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	var kept []corev1.ContainerStatus
	for _, s := range statuses {
		if s.AllocatedResources != nil || s.Resources != nil {
			kept = append(kept, corev1.ContainerStatus{Name: s.Name, AllocatedResources: s.AllocatedResources, Resources: s.Resources})
		}
	}
	return kept
}

// mayBeDisk leaves out the kinds of volumes that are a pod's own and that many pods have.
func mayBeDisk(source *corev1.VolumeSource) bool {
	return source.EmptyDir == nil && source.ConfigMap == nil && source.Secret == nil &&
		source.Projected == nil && source.DownwardAPI == nil && source.HostPath == nil
}
