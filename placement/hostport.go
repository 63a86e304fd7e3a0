package placement

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// anyAddress is the one address that stands for all. Kubernetes v1.37.2 does not take "::"
// for a wildcard.
const anyAddress = "0.0.0.0"

// hostPort is a port of the node that a container listens on.
type hostPort struct {
	protocol corev1.Protocol
	address  string
	port     int32
}

// clashes reports whether the two cannot be held at once.
func (p hostPort) clashes(q hostPort) bool {
	return p.port == q.port && p.protocol == q.protocol &&
		(p.address == q.address || p.address == anyAddress || q.address == anyAddress)
}

func (p hostPort) text() string {
	return clip(string(p.protocol) + " " + p.address + ":" + strconv.Itoa(int(p.port)))
}

// hostPorts returns the host ports of the containers that run as long as the pod, with the
// defaults of an API server: TCP, all addresses and, in the host's network, the container's
// own port. Ports that are not positive are none.
func hostPorts(spec *corev1.PodSpec) []hostPort {
	var ports []hostPort
	for i := range spec.InitContainers {
		if restarts(&spec.InitContainers[i]) {
			ports = appendHostPorts(ports, spec, spec.InitContainers[i].Ports)
		}
	}
	for i := range spec.Containers {
		ports = appendHostPorts(ports, spec, spec.Containers[i].Ports)
	}
	return ports
}

func appendHostPorts(ports []hostPort, spec *corev1.PodSpec, from []corev1.ContainerPort) []hostPort {
	for i := range from {
		p := hostPort{protocol: from[i].Protocol, address: from[i].HostIP, port: from[i].HostPort}
		if p.port == 0 && spec.HostNetwork {
			p.port = from[i].ContainerPort
		}
		if p.port <= 0 {
			continue
		}
		if p.protocol == "" {
			p.protocol = corev1.ProtocolTCP
		}
		if p.address == "" {
			p.address = anyAddress
		}
		ports = append(ports, p)
	}
	return ports
}
