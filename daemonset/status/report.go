package status

import (
	"fmt"
	"time"

	"github.com/daemonplan/daemonplan/daemonset"
)

// Phase is the verdict on a set.
type Phase string

// The phases.
const (
	// Complete: every node that should run a pod has an available one of the current revision,
	// and the controller has seen the latest spec. Extra nodes with misscheduled pods do not
	// matter, as for kubectl rollout status.
	Complete Phase = "Complete"
	// Progressing: the plan creates or deletes pods, or has yet to be made by a controller.
	Progressing Phase = "Progressing"
	// Waiting: the plan changes nothing now, and pods or time will bring it on.
	Waiting Phase = "Waiting"
	// Stuck: nothing moves by itself any more; see the package documentation.
	Stuck Phase = "Stuck"
	// Paused: what is left are outdated pods that the strategy OnDelete leaves alone.
	Paused Phase = "Paused"
	// Terminating: the DaemonSet itself is being deleted.
	Terminating Phase = "Terminating"
)

// Activity says what is under way, whatever the phase.
type Activity string

// The activities.
const (
	// Idle: nothing is to be done.
	Idle Activity = "Idle"
	// RollingOut: pods are being brought to a new revision, or the set is new.
	RollingOut Activity = "RollingOut"
	// Repairing: no update is under way, and nodes lack their pod: they lost it, or are new.
	Repairing Activity = "Repairing"
)

// Report is how far a set is.
type Report struct {
	Set      daemonset.Ref `json:"set"`
	Revision string        `json:"revision,omitempty"` // name of the current one
	Phase    Phase         `json:"phase"`
	Activity Activity      `json:"activity"`
	Message  string        `json:"message"`         // for people, one line
	Waits    []Wait        `json:"waits,omitempty"` // what nodes wait for, the most first
	Troubles []Trouble     `json:"troubles,omitempty"`
	Until    time.Time     `json:"until,omitzero"` // the next instant at which time alone moves something
	Counts   Counts        `json:"counts"`

	// Generation is that of the spec, Observed the last one that the controller has seen.
	Generation int64     `json:"generation"`
	Observed   int64     `json:"observedGeneration"`
	At         time.Time `json:"at"` // of the snapshot

	budget int // how many may be unavailable
}

// Wait is how many nodes wait for one reason.
type Wait struct {
	Reason daemonset.Reason `json:"reason"`
	Nodes  int              `json:"nodes"`
	Until  time.Time        `json:"until,omitzero"` // the earliest, if time alone ends it
}

// Cause says what is wrong with a pod.
type Cause string

// The causes, of which the first that applies is given.
const (
	NodeDown      Cause = "NodeDown"      // its node is not ready
	Undeleted     Cause = "Undeleted"     // it is being deleted and does not go
	Failing       Cause = "Failing"       // it failed, as those before it did
	Unscheduled   Cause = "Unscheduled"   // no scheduler has bound it to its node
	ImagePull     Cause = "ImagePull"     // an image cannot be pulled
	CrashLoop     Cause = "CrashLoop"     // a container ends again and again
	BadConfig     Cause = "BadConfig"     // a container cannot be created from what the template says
	NotStarted    Cause = "NotStarted"    // containers are not running, and nothing says why
	NotReady      Cause = "NotReady"      // it runs and is not ready
	NoRoom        Cause = "NoRoom"        // there is no pod, because the node cannot take it
	NeverMature   Cause = "NeverMature"   // it is ready and does not say since when, so it never becomes available
	NodeForgotten Cause = "NodeForgotten" // it is bound to a node that does not exist
)

// Trouble is a pod that keeps a node from being done.
type Trouble struct {
	Node  string    `json:"node"`
	Pod   string    `json:"pod,omitempty"`
	Cause Cause     `json:"cause"`
	Text  string    `json:"text,omitempty"`  // what the objects say about it
	Since time.Time `json:"since,omitzero"`  // zero if they do not say
	Until time.Time `json:"until,omitzero"`  // when it counts as overdue, or will; zero if it does at once
	Over  bool      `json:"over"`            // it is overdue
	Again bool      `json:"again,omitempty"` // it had been ready before: the node lost its pod, it is not the update
}

// Counts are numbers of nodes, unless they say pods. The first seven are those of the set's
// status as the plan would write it, of which kubectl rollout status shows Desired, Updated
// and Available.
type Counts struct {
	Desired      int `json:"desired"`
	Current      int `json:"current"`
	Ready        int `json:"ready"`
	Updated      int `json:"updated"`
	Available    int `json:"available"`
	Unavailable  int `json:"unavailable"`
	Misscheduled int `json:"misscheduled"`

	Done        int `json:"done"`        // of Desired, those on which nothing is left to do
	Outdated    int `json:"outdated"`    // nodes with an outdated pod that is not being deleted
	Lost        int `json:"lost"`        // their pod is gone, failed or no longer ready, and not because of the update
	ByChoice    int `json:"byChoice"`    // without an available pod because the update takes it away
	Held        int `json:"held"`        // due for the update, and held by its budget
	OnDelete    int `json:"onDelete"`    // due for the update, and left until somebody deletes their pod
	Evicted     int `json:"evicted"`     // pods deleted now from nodes that may not carry them
	Backoff     int `json:"backoff"`     // with a failed pod that waits for its backoff
	NoRoom      int `json:"noRoom"`      // that cannot take the pod they should run
	Deleting    int `json:"deleting"`    // pods being deleted
	Undeleted   int `json:"undeleted"`   // of these, those whose grace period is over
	Unscheduled int `json:"unscheduled"` // pods without a node
	ImagePull   int `json:"imagePull"`   // pods that cannot pull an image
	CrashLoop   int `json:"crashLoop"`   // pods in a crash loop
	NodesDown   int `json:"nodesDown"`   // of Desired, those that are not ready themselves
}

// KStatus is the phase in the vocabulary of kstatus: "Current" for Complete, also for Paused,
// because nothing will come of waiting; "InProgress" for Progressing and Waiting; "Failed" for
// Stuck; "Terminating" for Terminating.
func (r Report) KStatus() string {
	switch r.Phase {
	case Complete, Paused:
		return "Current"
	case Progressing, Waiting:
		return "InProgress"
	case Stuck:
		return "Failed"
	case Terminating:
		return "Terminating"
	}
	return "Unknown"
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
