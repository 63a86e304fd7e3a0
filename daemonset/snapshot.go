package daemonset

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/backoff"
	"github.com/daemonplan/daemonplan/expectations"
	"github.com/daemonplan/daemonplan/placement"
	"github.com/daemonplan/daemonplan/rollout"
)

// Objects is the cluster state a plan looks at, in any order. Compute only reads it, so
// the objects may come straight from a shared cache.
//
// Pods and Revisions may hold more than belongs to the DaemonSet: what is in another
// namespace or has another controller is ignored. They must hold everything it owns and
// the orphans of its namespace that its selector matches. Revisions of other owners are
// worth passing too, because they show that a name is taken.
type Objects struct {
	DaemonSet *appsv1.DaemonSet            `json:"daemonSet"`
	Nodes     []*corev1.Node               `json:"nodes,omitempty"`
	Pods      []*corev1.Pod                `json:"pods,omitempty"`
	Revisions []*appsv1.ControllerRevision `json:"controllerRevisions,omitempty"`
	// Others are the pods of other owners, of all namespaces. They are read only if Options
	// say that they matter (Fit, Surge) and not where to find them (Beside). The set's own
	// pods may be among them and are passed over.
	Others []*corev1.Pod `json:"others,omitempty"`
}

// Snapshot is every input of a plan, time included. Marshalled to JSON, it is a complete bug
// report. What comes from an API server goes there and back without loss; the times in
// Kubernetes objects keep whole seconds only, and a revision whose data is no JSON cannot be
// written.
type Snapshot struct {
	Objects Objects              `json:"objects"`
	Pending expectations.Pending `json:"pending,omitzero"` // writes that Objects may not show yet
	Backoff backoff.Entries      `json:"backoff,omitempty"`
	// Suspended is that of the set's last plan, so that its users are told once why a pod
	// cannot be placed; nil if there was none, or if nobody remembers: then they are told again.
	Suspended []Suspension `json:"suspended,omitempty"`
	// Now is compared as wall time, which is all that objects have. Zero is not special: it is an
	// instant long before any pod turned ready.
	Now time.Time `json:"now"`
}

// DefaultBurst is how many pods one plan creates, and how many it deletes, at most: the
// burstReplicas of Kubernetes v1.37.2.
const DefaultBurst = 250

// Options tune a plan; the zero value behaves like Kubernetes.
type Options struct {
	Burst     int // creates, and deletes, per plan; zero or less means DefaultBurst
	Placement placement.Options
	Backoff   backoff.Policy
	// Prefer says which of two nodes an update takes first, negative for a. It sees only
	// nodes that are equally entitled; nil, and ties, go by name. It must be a pure
	// function, or plans are no longer deterministic.
	Prefer func(a, b rollout.Node) int
	// Fit makes the controller the scheduler of the set's pods, as in Kubernetes v1.12: nodes
	// are judged with what else runs there, and pods are bound when they are created. An
	// empty Namespace is the set's, and Placement is what counts instead of Matching. Nil
	// leaves scheduling to others.
	Fit *placement.FitOptions
	// Beside is asked in place of Objects.Others, which a pass counts anew. Nil does not say.
	Beside Beside
	// Surge says what an update with surge does where a pod cannot start beside the outdated
	// one.
	Surge SurgePolicy
	// Profile says whose rules an update follows; zero is Kubernetes v1.37. All else is as in
	// v1.37 with every profile. Kubernetes112 has no surge: maxSurge is read as 0, and a
	// maxUnavailable that is then 0 as well as 1.
	Profile rollout.Profile
}

// Beside says what the pods on a node hold, for callers that keep count of it. The set's own
// pods may be counted. It must be a pure function, and what it returns is only read; a nil
// answer is an empty node.
type Beside func(node string) *placement.Occupancy

func (o Options) burst() int {
	if o.Burst <= 0 {
		return DefaultBurst
	}
	return o.Burst
}

// SurgePolicy says what an update with surge does on a node on which a pod cannot start
// beside the outdated one: both ask for the same host port or disk, or there is no room.
type SurgePolicy uint8

// The surge policies.
const (
	// SurgeAnyway creates the pod and lets it wait, as Kubernetes v1.37.2 does. With
	// Options.Fit it is SurgeWithRoom: who schedules the pod knows that it cannot start.
	SurgeAnyway SurgePolicy = iota
	// SurgeWithRoom leaves the outdated pod until there is room (rollout.SurgeBlocked).
	SurgeWithRoom
	// SurgeOrReplace deletes the outdated pod first, within maxSurge, where that makes room
	// (rollout.ReplacedInPlace), and waits where it does not.
	SurgeOrReplace
)
