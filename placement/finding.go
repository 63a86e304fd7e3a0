package placement

import corev1 "k8s.io/api/core/v1"

// Code names one kind of obstacle. Codes are part of the API: added, never renamed.
type Code string

// The obstacles.
const (
	// NodeNameMismatch: the template's spec.nodeName is another node.
	NodeNameMismatch Code = "NodeNameMismatch"

	// NodeSelectorMismatch: the node lacks a label that spec.nodeSelector asks for, or has
	// another value for it. One finding a label.
	NodeSelectorMismatch Code = "NodeSelectorMismatch"

	// NodeAffinityMismatch: a requirement of a required node affinity term does not hold, a
	// term is empty, or there are no terms. One finding a requirement; none when any term
	// matches.
	NodeAffinityMismatch Code = "NodeAffinityMismatch"

	// InvalidNodeAffinity: a requirement of a required node affinity term does not parse, so
	// the term matches no node. One finding a requirement; none when another term matches.
	InvalidNodeAffinity Code = "InvalidNodeAffinity"

	// UntoleratedNoScheduleTaint: the node carries a NoSchedule taint that nothing tolerates.
	UntoleratedNoScheduleTaint Code = "UntoleratedNoScheduleTaint"

	// UntoleratedNoExecuteTaint: the node carries a NoExecute taint that nothing tolerates.
	UntoleratedNoExecuteTaint Code = "UntoleratedNoExecuteTaint"
)

// The obstacles that only [Fitter.Fit] looks for.
const (
	// InsufficientResources: the node has less left of a resource than the pod asks for: cpu,
	// memory, ephemeral-storage, huge pages, an extended resource, or pods. One finding a
	// resource.
	InsufficientResources Code = "InsufficientResources"

	// InvalidRequest: the template asks for a resource in a way that no API server admits: a
	// negative or uncountably large quantity, or a name that is no resource of a container.
	// One finding a resource.
	InvalidRequest Code = "InvalidRequest"

	// HostPortTaken: another pod on the node holds a host port that the template asks for.
	// One finding a port of the template.
	HostPortTaken Code = "HostPortTaken"

	// NodeLabelPresence: the node lacks a label that [FitOptions] ask for, or has one that
	// they exclude. One finding a label.
	NodeLabelPresence Code = "NodeLabelPresence"

	// VolumeConflict: another pod on the node uses the same disk and the two may not share
	// it. One finding a volume of the template.
	VolumeConflict Code = "VolumeConflict"

	// VolumeZoneMismatch: a persistent volume of the template cannot be reached from the
	// node, by its zone labels or its node affinity. One finding a volume of the template.
	VolumeZoneMismatch Code = "VolumeZoneMismatch"

	// VolumeCountExceeded: with the template's volumes more would be attached to the node
	// than it allows of their kind. One finding a kind.
	VolumeCountExceeded Code = "VolumeCountExceeded"

	// NodeMemoryPressure: the node is short of memory and the pod would be best-effort, so
	// that it would be the first to be evicted.
	NodeMemoryPressure Code = "NodeMemoryPressure"

	// NodeDiskPressure: the node is short of disk space.
	NodeDiskPressure Code = "NodeDiskPressure"

	// NodePIDPressure: the node is short of process numbers. Judged by option only.
	NodePIDPressure Code = "NodePIDPressure"

	// NodeNotReady: the node's Ready condition is not True, or missing. Judged by option only.
	NodeNotReady Code = "NodeNotReady"

	// NodeNetworkUnavailable: the node's network is not set up and the pod would need it.
	// Judged by option only.
	NodeNetworkUnavailable Code = "NodeNetworkUnavailable"
)

// Decision returns what one finding of the code leaves of a node, as Kubernetes v1.12
// partitions what fails: Suspend for resources, volumes, conditions and pressures, Keep for
// an untolerated NoSchedule taint, Evict for everything else, also for a code that is not
// known. The decision of a verdict is the strictest of its findings': Evict before Keep
// before Suspend.
func (c Code) Decision() Decision {
	switch c {
	case InsufficientResources, InvalidRequest, VolumeConflict, VolumeZoneMismatch, VolumeCountExceeded,
		NodeMemoryPressure, NodeDiskPressure, NodePIDPressure, NodeNotReady, NodeNetworkUnavailable:
		return Suspend
	case UntoleratedNoScheduleTaint:
		return Keep
	}
	return Evict
}

// Finding is one obstacle with the evidence for it.
type Finding struct {
	Code Code `json:"code"`

	// Field is the path, from the root of the pod template, of what was not met.
	Field string `json:"field,omitempty"`

	// Taint is a copy of the node's taint for the two taint codes, else zero.
	Taint corev1.Taint `json:"taint,omitzero"`

	// Contention says, for resources, host ports and disks, what was asked for, what is free
	// and which pods hold the rest; else it is nil.
	Contention *Contention `json:"contention,omitempty"`

	// Detail says for people what was asked and what the node has. It is bounded: values
	// longer than a valid label key are cut, as are long lists. Do not parse it.
	Detail string `json:"detail,omitempty"`
}

// Verdict is the judgement on one node. It shares no memory with the node or the template.
type Verdict struct {
	Decision Decision `json:"decision"`

	// Findings holds every obstacle, not only the one that decided: the node name, the
	// selector's labels by key, affinity terms and their requirements as written, then taints
	// in the node's order; [Fitter.Fit] names a longer order. It is nil when Decision is Run or Undecided, and never empty
	// otherwise.
	Findings []Finding `json:"findings,omitempty"`
}
