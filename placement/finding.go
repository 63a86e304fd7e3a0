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

// Finding is one obstacle with the evidence for it.
type Finding struct {
	Code Code `json:"code"`

	// Field is the path, from the root of the pod template, of what was not met.
	Field string `json:"field,omitempty"`

	// Taint is a copy of the node's taint for the two taint codes, else zero.
	Taint corev1.Taint `json:"taint,omitzero"`

	// Detail says for people what was asked and what the node has. It is bounded: values
	// longer than a valid label key are cut, as are long lists. Do not parse it.
	Detail string `json:"detail,omitempty"`
}

// Verdict is the judgement on one node. It shares no memory with the node or the template.
type Verdict struct {
	Decision Decision `json:"decision"`

	// Findings holds every obstacle, not only the one that decided: the node name, the
	// selector's labels by key, affinity terms and their requirements as written, then taints
	// in the node's order. It is nil when Decision is Run or Undecided, and never empty
	// otherwise.
	Findings []Finding `json:"findings,omitempty"`
}
