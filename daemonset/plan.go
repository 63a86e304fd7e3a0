package daemonset

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/backoff"
	"github.com/daemonplan/daemonplan/placement"
	"github.com/daemonplan/daemonplan/rollout"
)

// Plan lists changes in the order in which they must be applied, and the reasons for
// them. It is a value of its own: it shares no memory with the snapshot, so it may be
// kept, compared, logged and sent anywhere. Equal snapshots give plans that are equal
// byte for byte as text (Describe) and as JSON.
type Plan struct {
	For      Ref                     `json:"for"`                // the DaemonSet
	Revision Revision                `json:"revision,omitzero"`  // what new pods carry; zero when the set is not acted on
	Template *corev1.PodTemplateSpec `json:"template,omitempty"` // of new pods, before the node is set; see Pod

	Claims    []Claim                 `json:"claims,omitempty"`    // pods by name, then revisions by name
	Relabels  []Relabel               `json:"relabels,omitempty"`  // by pod name; before the duplicates go that the pods are of
	Revisions []RevisionChange        `json:"revisions,omitempty"` // before any pod that carries them
	Creates   []Create                `json:"creates,omitempty"`   // the most urgent first, then by node name
	Deletes   []Delete                `json:"deletes,omitempty"`   // likewise; pods of missing nodes last
	Failures  []backoff.Key           `json:"failures,omitempty"`  // record each once the delete on its node was accepted
	Status    *appsv1.DaemonSetStatus `json:"status,omitempty"`    // nil when it is up to date
	Events    []Event                 `json:"events,omitempty"`

	Suspended []Suspension `json:"suspended,omitempty"` // by node name: what the next snapshot is to bring back

	Nodes    []NodeReport `json:"nodes,omitempty"`    // every node, sorted by name: the explanation
	Findings []Finding    `json:"findings,omitempty"` // what is odd in the snapshot
	Deferred Deferred     `json:"deferred,omitzero"`  // wanted, held back by Burst
	Reason   Reason       `json:"reason,omitempty"`   // why no node is acted on at all; empty otherwise
	Next     time.Time    `json:"next,omitzero"`      // plan again by then; zero when only a change matters
}

// Empty reports whether there is nothing to apply. Such a plan may still ask to be made
// again at Next.
func (p Plan) Empty() bool {
	return len(p.Claims) == 0 && len(p.Revisions) == 0 && len(p.Relabels) == 0 &&
		len(p.Creates) == 0 && len(p.Deletes) == 0 && len(p.Failures) == 0 &&
		p.Status == nil && len(p.Events) == 0
}

// Wake is the earliest instant at which time alone may change the plan; zero if it cannot.
// It is Next, or the earliest Until of a node if that is sooner.
//
// Next is what Kubernetes v1.37.2 asks for. That controller also relies on being woken by
// the event of a pod turning ready, some seconds after it; a caller without such a timer
// goes by Wake.
func (p Plan) Wake() time.Time {
	at := p.Next
	for i := range p.Nodes {
		at = earlier(at, p.Nodes[i].Until)
	}
	return at
}

// Node finds the report on one node by binary search.
func (p Plan) Node(name string) (NodeReport, bool) {
	i, ok := slices.BinarySearchFunc(p.Nodes, name, func(r NodeReport, name string) int {
		return strings.Compare(r.Name, name)
	})
	if !ok {
		return NodeReport{}, false
	}
	return p.Nodes[i], true
}

// Ref names one object, incarnation included, so that a write cannot hit a successor.
type Ref struct {
	Namespace string    `json:"namespace,omitempty"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid,omitempty"`
}

// Revision identifies the state of the template that new pods carry.
type Revision struct {
	Name   string `json:"name"`   // of the ControllerRevision
	Hash   string `json:"hash"`   // its controller-revision-hash label, and that of its pods
	Number int64  `json:"number"` // after this plan
}

// Create places a pod. Plan.Pod builds the object.
type Create struct {
	Node   string `json:"node"`
	Reason Reason `json:"reason"`
	Bind   bool   `json:"bind,omitempty"` // with Options.Fit: the pod is bound to the node, not pinned
}

// Delete removes a pod, if its UID still matches.
type Delete struct {
	Node   string `json:"node"`
	Pod    Ref    `json:"pod"`
	Reason Reason `json:"reason"`
}

// NodeReport explains one node, whether or not it changes.
type NodeReport struct {
	Name    string            `json:"name"`
	Verdict placement.Verdict `json:"verdict"`
	Pods    []PodReport       `json:"pods,omitempty"`   // the one that counts in status first
	Reason  Reason            `json:"reason,omitempty"` // of what happens there, else of the wait
	Until   time.Time         `json:"until,omitzero"`   // when the reason lapses by itself, if it does
}

// PodReport is how one pod was counted.
type PodReport struct {
	Ref     Ref            `json:"ref"`
	Current bool           `json:"current"` // carries the current revision
	Health  rollout.Health `json:"health"`
	State   PodState       `json:"state"`
}

// PodState is where a pod is in its life. The zero value is a pod that holds its node.
type PodState uint8

// The pod states.
const (
	Live        PodState = iota // pending, running or unknown
	Failed                      // ended badly
	Succeeded                   // ended well
	Terminating                 // being deleted, whatever its phase
)

// String names the state.
func (s PodState) String() string {
	switch s {
	case Live:
		return "Live"
	case Failed:
		return "Failed"
	case Succeeded:
		return "Succeeded"
	case Terminating:
		return "Terminating"
	}
	return fmt.Sprintf("PodState(%d)", uint8(s))
}

// MarshalText writes the name.
func (s PodState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a name that MarshalText wrote.
func (s *PodState) UnmarshalText(text []byte) error {
	value, err := named(text, Live, Failed, Succeeded, Terminating)
	*s = value
	return err
}

// named finds the value with the given name.
func named[T fmt.Stringer](text []byte, values ...T) (T, error) {
	for _, value := range values {
		if value.String() == string(text) {
			return value, nil
		}
	}
	var zero T
	return zero, fmt.Errorf("daemonset: no %T is named %q", zero, text)
}

// Kind tells pods and revisions apart in a Claim or Finding.
type Kind string

// The kinds.
const (
	PodKind       Kind = "Pod"
	RevisionKind  Kind = "ControllerRevision"
	DaemonSetKind Kind = "DaemonSet"
)

// Claim adopts an orphan (sets the controller reference) or releases what is no longer
// ours (removes it). What is adopted counts as owned in the same plan.
type Claim struct {
	Kind   Kind   `json:"kind"`
	Ref    Ref    `json:"ref"`
	Adopt  bool   `json:"adopt"` // false releases
	Reason Reason `json:"reason"`
}

// RevisionOp is what happens to a revision.
type RevisionOp uint8

// The revision operations. The zero value is none of them.
const (
	CreateRevision RevisionOp = iota + 1
	UpdateRevision
	DeleteRevision
)

// String names the operation.
func (op RevisionOp) String() string {
	switch op {
	case CreateRevision:
		return "create"
	case UpdateRevision:
		return "update"
	case DeleteRevision:
		return "delete"
	}
	return fmt.Sprintf("RevisionOp(%d)", uint8(op))
}

// MarshalText writes the name.
func (op RevisionOp) MarshalText() ([]byte, error) { return []byte(op.String()), nil }

// UnmarshalText reads a name that MarshalText wrote.
func (op *RevisionOp) UnmarshalText(text []byte) error {
	value, err := named(text, CreateRevision, UpdateRevision, DeleteRevision)
	*op = value
	return err
}

// RevisionChange writes history. Revision is the object to create or update to, and for
// a delete the one to remove, without its data; it belongs to the plan.
type RevisionChange struct {
	Op       RevisionOp                 `json:"op"`
	Revision *appsv1.ControllerRevision `json:"revision"`
	Reasons  []Reason                   `json:"reasons"` // more than one when one update serves both
}

// Relabel moves a pod to the surviving one of two equal revisions.
type Relabel struct {
	Pod  Ref    `json:"pod"`
	Hash string `json:"hash"` // the new value of the controller-revision-hash label
}

// The event types and reasons of a plan, as in Kubernetes v1.37.2.
const (
	EventSelectingAll       = "SelectingAll"
	EventFailedDaemonPod    = "FailedDaemonPod"
	EventSucceededDaemonPod = "SucceededDaemonPod"
	EventFailedPlacement    = "FailedPlacement" // as in Kubernetes v1.12
)

// Event is a message for the DaemonSet's users.
type Event struct {
	Type   string `json:"type"` // corev1.EventTypeNormal or corev1.EventTypeWarning
	Reason string `json:"reason"`
	Note   string `json:"note"`
}

// Finding is something in the snapshot that Kubernetes passes over in silence.
type Finding struct {
	Kind   Kind   `json:"kind"`
	Ref    Ref    `json:"ref"`
	Reason Reason `json:"reason"`
	Detail string `json:"detail,omitempty"`
}

// Deferred counts what Burst held back.
type Deferred struct {
	Creates int `json:"creates,omitempty"`
	Deletes int `json:"deletes,omitempty"`
}
