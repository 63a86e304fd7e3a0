package simulate

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// pod is one pod of the set. The object is replaced, not written to, as long as it is shared.
type pod struct {
	obj      *corev1.Pod
	node     int  // index of its node, or nowhere
	nth      int  // how many pods its node was given before
	current  bool // carries the current revision
	shared   bool // the snapshot or the planner has the object too
	original bool // it is as it was in the snapshot
	leaving  bool // the set is about to release it
	gone     bool
}

// nowhere is the node of pods whose node is not known or does not exist.
const nowhere = -1

func (p *pod) terminating() bool { return p.obj.DeletionTimestamp != nil }

func (p *pod) ended() bool {
	return p.obj.Status.Phase == corev1.PodFailed || p.obj.Status.Phase == corev1.PodSucceeded
}

// live reports whether the pod holds its node.
func (p *pod) live() bool { return !p.terminating() && !p.ended() }

func (p *pod) bound() bool { return p.obj.Spec.NodeName != "" }

// readySince is when the pod became ready; ok is false if it is not.
func (p *pod) readySince() (since time.Time, ok bool) {
	for i := range p.obj.Status.Conditions {
		if c := &p.obj.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.LastTransitionTime.Time, c.Status == corev1.ConditionTrue
		}
	}
	return time.Time{}, false
}

// available reports whether the pod has been ready for minReady. A condition that does not
// say since when is ready for no time at all.
func (p *pod) available(now time.Time, minReady time.Duration) bool {
	since, ready := p.readySince()
	if !ready || minReady == 0 {
		return ready
	}
	return !since.IsZero() && !now.Before(since.Add(minReady))
}

// clashes reports whether two pods cannot run beside each other on a node, because both want
// a port of it. An address of its own keeps the same port apart.
func (p *pod) clashes(other *pod) bool {
	for port := range hostPorts(p.obj) {
		for taken := range hostPorts(other.obj) {
			anywhere := isAny(port.HostIP) || isAny(taken.HostIP) || port.HostIP == taken.HostIP
			if port.HostPort == taken.HostPort && protocolOf(port) == protocolOf(taken) && anywhere {
				return true
			}
		}
	}
	return false
}

func isAny(ip string) bool { return ip == "" || ip == "0.0.0.0" || ip == "::" }

func protocolOf(port *corev1.ContainerPort) corev1.Protocol {
	if port.Protocol == "" {
		return corev1.ProtocolTCP
	}
	return port.Protocol
}

// hostPorts yields the ports of the node that a pod takes. On the host network every port is
// one, as an API server would have filled in.
func hostPorts(obj *corev1.Pod) func(yield func(*corev1.ContainerPort) bool) {
	return func(yield func(*corev1.ContainerPort) bool) {
		for i := range obj.Spec.Containers {
			for j := range obj.Spec.Containers[i].Ports {
				port := obj.Spec.Containers[i].Ports[j]
				if obj.Spec.HostNetwork && port.HostPort == 0 {
					port.HostPort = port.ContainerPort
				}
				if port.HostPort > 0 && !yield(&port) {
					return
				}
			}
		}
	}
}
