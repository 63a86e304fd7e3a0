package daemonset

import "github.com/daemonplan/daemonplan/rollout"

// Reason is a stable, machine-readable cause. Reasons are part of the API: added, never
// renamed. The empty reason means that there is nothing to say.
type Reason string

// Why a pod is created.
const (
	MissingPod   Reason = "MissingPod"                 // the node should run a pod and has none
	NoLivePod    Reason = "NoLivePod"                  // with surge: what is there is finished or on its way out
	SurgeStarted        = Reason(rollout.SurgeStarted) // beside an outdated pod, within maxSurge
)

// Why a pod is deleted.
const (
	FailedPod           Reason = "FailedPod"                         // it failed, and its backoff allows a replacement
	SucceededPod        Reason = "SucceededPod"                      // it ended, and daemon pods must not
	ExcessPod           Reason = "ExcessPod"                         // another pod of the set on the node is kept instead
	OutdatedNotReady    Reason = "OutdatedNotReady"                  // with surge: outdated, not ready, and a current pod is there
	NodeUnsuitable      Reason = "NodeUnsuitable"                    // the node may not carry a pod of this set
	NodeMissing         Reason = "NodeMissing"                       // not bound, and the node it is meant for does not exist
	Outdated                   = Reason(rollout.Outdated)            // replaced within maxUnavailable
	OutdatedUnavailable        = Reason(rollout.OutdatedUnavailable) // outdated and not available: replaced outside the budget
	ReplacedInPlace            = Reason(rollout.ReplacedInPlace)     // within maxSurge: its successor cannot start beside it
	SurgeComplete              = Reason(rollout.SurgeComplete)       // its successor on the node is available
	LeftIneligibleNode         = Reason(rollout.LeftIneligibleNode)  // outdated, on a node that takes no new pod
)

// Why a node waits.
const (
	FailedPodBackoff  Reason = "FailedPodBackoff"                // a failed pod stays until its backoff has run
	TerminatingPod    Reason = "TerminatingPod"                  // the pod there has to go before a new one comes
	PodNotReady       Reason = "PodNotReady"                     // the pod there is not ready
	MinReadySeconds   Reason = "MinReadySeconds"                 // the pod there is ready, not yet for long enough
	UpdateOnDelete    Reason = "UpdateOnDelete"                  // outdated, and the strategy leaves it until somebody deletes it
	NodeStepFirst     Reason = "NodeStepFirst"                   // outdated; updates wait for a pass without other creates and deletes
	BurstExceeded     Reason = "BurstExceeded"                   // wanted, but the plan is full
	WritesPending     Reason = "WritesPending"                   // earlier writes have not been seen yet
	Misscheduled      Reason = "Misscheduled"                    // a pod is there that would not be placed there today
	BudgetExhausted          = Reason(rollout.BudgetExhausted)   // outdated; maxUnavailable or maxSurge is used up
	Suspended         Reason = "Suspended"                       // a pod is wanted and cannot be placed now
	SurgeBlocked             = Reason(rollout.SurgeBlocked)      // outdated; the new pod cannot start beside it
	SurgeWaiting             = Reason(rollout.SurgeWaiting)      // the new pod beside the outdated one is not available yet
	ExcessPods               = Reason(rollout.ExcessPods)        // too many pods to tell which one to update
	AvailabilityShort        = Reason(rollout.AvailabilityShort) // too few pods are available elsewhere
)

// Why no node is acted on at all.
const (
	SetDeleting       Reason = "SetDeleting"       // the DaemonSet is being deleted; its pods are garbage collection's
	SelectsEverything Reason = "SelectsEverything" // the selector is empty and would take every pod
	RevisionCollision Reason = "RevisionCollision" // the new revision's name is taken by another template
)

// Why ownership changes.
const (
	SelectorMatches  Reason = "SelectorMatches"  // an orphan that the selector matches
	SelectorMismatch Reason = "SelectorMismatch" // ours, but the selector does not match any more
)

// Why history is written.
const (
	NewTemplate       Reason = "NewTemplate"       // no revision holds the template
	HashLabelMissing  Reason = "HashLabelMissing"  // a revision without a hash label gets its name as one
	RolledBack        Reason = "RolledBack"        // an older revision is current again and becomes the newest
	DuplicateRevision Reason = "DuplicateRevision" // another revision holds the same template
	HistoryLimit      Reason = "HistoryLimit"      // beyond revisionHistoryLimit and on no pod
)

// What is odd in a snapshot.
const (
	PodWithoutNode         Reason = "PodWithoutNode"         // a pod of the set that is neither bound nor pinned to a node: counted nowhere
	PodOnMissingNode       Reason = "PodOnMissingNode"       // a pod of the set on a node that does not exist: left to garbage collection
	UnreadableRevision     Reason = "UnreadableRevision"     // a revision whose data holds no pod template: it matches no template
	UnparsableGeneration   Reason = "UnparsableGeneration"   // the template generation annotation is no number: it is ignored
	UnparsableNodeAffinity Reason = "UnparsableNodeAffinity" // a node affinity term that does not parse: it matches no node
)
