package rollout

import (
	"cmp"
	"strings"
)

// Reason says why a step is taken or held back. Reasons are part of the API: more may be
// added, none is renamed.
type Reason string

// The reasons of steps that are taken.
const (
	// OutdatedUnavailable is an outdated pod that is not available. Replacing it costs no
	// availability, so it is deleted, or with surge joined by a current pod, whatever the
	// budget.
	OutdatedUnavailable Reason = "OutdatedUnavailable"
	// Outdated is an available outdated pod that is deleted within MaxUnavailable.
	Outdated Reason = "Outdated"
	// SurgeStarted is a current pod added within MaxSurge beside an available outdated one.
	SurgeStarted Reason = "SurgeStarted"
	// SurgeComplete is an outdated pod that is deleted because the current pod beside it is
	// available.
	SurgeComplete Reason = "SurgeComplete"
	// LeftIneligibleNode is an outdated pod that is deleted from a node which takes no new
	// pod: it is not available, or the set has more available pods than it needs.
	LeftIneligibleNode Reason = "LeftIneligibleNode"
)

// ReplacedInPlace is an available outdated pod that is deleted within MaxSurge because its
// successor cannot start beside it; see Input.ReplaceInPlace.
const ReplacedInPlace Reason = "ReplacedInPlace"

// The reasons of holds.
const (
	// SurgeBlocked is a node on which a current pod cannot start beside the outdated one.
	SurgeBlocked Reason = "SurgeBlocked"
	// BudgetExhausted is a node with an available outdated pod for which MaxUnavailable, or
	// with surge MaxSurge, has no room in this pass.
	BudgetExhausted Reason = "BudgetExhausted"
	// SurgeWaiting is a node on which the current pod beside the outdated one is not
	// available yet.
	SurgeWaiting Reason = "SurgeWaiting"
	// AvailabilityShort is a node which takes no new pod and whose outdated pod stays
	// until enough others are available.
	AvailabilityShort Reason = "AvailabilityShort"
	// ExcessPods is a node with more pods than an update can tell apart: two of one
	// revision or, without surge, two at all. Whoever keeps the number of pods on each node
	// has to clear it first.
	ExcessPods Reason = "ExcessPods"
)

// Delete removes one outdated pod.
type Delete struct {
	Node   string
	Pod    Pod
	Reason Reason
}

// Surge adds a current pod beside an outdated one.
type Surge struct {
	Node   string
	Reason Reason
}

// Hold names a node that is due and has to wait.
type Hold struct {
	Node   string
	Reason Reason
}

// Result is the steps of one pass and the nodes that wait. A node that is due, because it
// has an outdated pod or too many pods, is in exactly one of the slices, and there once but
// for several deletes under Kubernetes112; other nodes are in none. Each slice is sorted by node name, and nil if there is nothing in it. A Result
// shares no memory with the [Input] it comes from.
type Result struct {
	Deletes []Delete
	Surges  []Surge
	Holds   []Hold
}

// compareDeletes orders by node name. The rest matters only when a name comes twice.
func compareDeletes(a, b Delete) int {
	if c := strings.Compare(a.Node, b.Node); c != 0 {
		return c
	}
	return cmp.Or(comparePods(a.Pod, b.Pod), strings.Compare(string(a.Reason), string(b.Reason)))
}

func compareSurges(a, b Surge) int {
	if c := strings.Compare(a.Node, b.Node); c != 0 {
		return c
	}
	return strings.Compare(string(a.Reason), string(b.Reason))
}

func compareHolds(a, b Hold) int {
	if c := strings.Compare(a.Node, b.Node); c != 0 {
		return c
	}
	return strings.Compare(string(a.Reason), string(b.Reason))
}

// comparePods orders outdated pods; equal ones are alike in every field.
func comparePods(a, b Pod) int {
	return cmp.Or(
		strings.Compare(a.Name, b.Name),
		strings.Compare(string(a.UID), string(b.UID)),
		cmp.Compare(a.Health, b.Health),
	)
}
