package simulate

import (
	"time"

	"github.com/daemonplan/daemonplan/daemonset"
)

// Result is what a simulation found. Equal inputs give results that are equal byte for byte
// as text ([Describe]) and as JSON. All times are durations since the snapshot's Now.
type Result struct {
	For      daemonset.Ref      `json:"for"`
	Revision daemonset.Revision `json:"revision,omitzero"` // what the fleet was brought to
	Start    time.Time          `json:"start"`             // the snapshot's Now, in UTC
	Seed     uint64             `json:"seed"`
	Model    Model              `json:"model"`

	Outcome  Outcome       `json:"outcome"`
	Duration time.Duration `json:"duration"` // until the last thing that happened
	Passes   int           `json:"passes"`

	Desired  int    `json:"desired"`  // nodes that should run a pod
	Settled  int    `json:"settled"`  // those with an available current pod and no other, at the end
	PeakPods int    `json:"peakPods"` // of the set, terminating ones included
	Worst    Low    `json:"worst"`
	Zones    []Zone `json:"zones"` // by name

	Writes []Write `json:"writes"` // by resource and verb; those that never happened are left out
	Proof  Proof   `json:"proof"`
	Waits  []Wait  `json:"waits,omitempty"` // why nodes are not settled at the end; by reason

	Nodes []Node  `json:"nodes"` // by name
	Curve []Point `json:"curve"` // by time; one for each instant at which a number changed

	// Final is the state at the end, as the next pass would see it. It shares objects with the
	// snapshot that the simulation started from, which are not to be written to.
	Final daemonset.Snapshot `json:"-"`
}

// Outcome is how a simulation ended.
type Outcome string

// The outcomes.
const (
	Complete Outcome = "Complete" // every node that should run a pod is settled, and nothing is left to do
	Stalled  Outcome = "Stalled"  // nothing is left to do or to wait for, and some nodes are not as they should be; see Waits
	CutOff   Outcome = "CutOff"   // the limit of time or of passes was reached
)

// Low is the moment at which the fewest pods were available; the first if there are several.
type Low struct {
	At          time.Duration `json:"at"`
	Unavailable int           `json:"unavailable"` // nodes that should run a pod and had no available one
}

// Zone is the nodes that share a value of the label topology.kubernetes.io/zone.
type Zone struct {
	Name    string `json:"name"` // empty for nodes without the label
	Nodes   int    `json:"nodes"`
	Desired int    `json:"desired"`
	Worst   Low    `json:"worst"`
}

// Write counts the writes of one verb to one resource that the controller would send to an
// API server. Creates and deletes are one each; passes at one instant are merged where that
// changes no pod, so that the number of status updates is a lower bound.
type Write struct {
	Resource string `json:"resource"` // "pods", "controllerrevisions", "daemonsets/status" or "events"
	Verb     string `json:"verb"`     // as in RBAC: "create", "update", "patch" or "delete"
	Count    int    `json:"count"`
}

// Proof is the check of every pass by [Audit].
type Proof struct {
	Budget     Budget      `json:"budget"`
	Steps      int         `json:"steps"` // passes that created or deleted pods; each was checked
	Violations []Violation `json:"violations,omitempty"`
}

// Budget is an update strategy as numbers of nodes. Of OnDelete both are zero.
type Budget struct {
	MaxUnavailable int `json:"maxUnavailable"`
	MaxSurge       int `json:"maxSurge"`
}

// Held reports that no step broke a rule.
func (p Proof) Held() bool { return len(p.Violations) == 0 }

// Wait is the nodes that wait for one reason.
type Wait struct {
	Reason daemonset.Reason `json:"reason"` // empty for nodes that should run a pod, have one, and nobody can say what is wrong
	Nodes  []string         `json:"nodes"`  // by name
}

// Node is what happened on one node.
type Node struct {
	Name     string    `json:"name"`
	Zone     string    `json:"zone,omitempty"`
	Eligible bool      `json:"eligible"`       // it should run a pod
	Slow     bool      `json:"slow,omitempty"` // by the model
	Spans    []Stretch `json:"spans"`          // by time; the first starts at 0, each lasts until the next
	Story    []Event   `json:"story,omitempty"`
}

// Stretch is a time during which a node's state is the same.
type Stretch struct {
	From  time.Duration `json:"from"`
	State State         `json:"state"`
}

// Event is one thing that happened to a pod.
type Event struct {
	At     time.Duration    `json:"at"`
	What   What             `json:"what"`
	Pod    string           `json:"pod"`
	Reason daemonset.Reason `json:"reason,omitempty"` // of a create or delete
}

// What is the kind of an Event.
type What string

// What happens to pods.
const (
	Created   What = "Created"   // by the controller
	Bound     What = "Bound"     // to its node, by the scheduler
	Ready     What = "Ready"     // says the kubelet
	Available What = "Available" // ready for minReadySeconds, if that is not at once
	Failed    What = "Failed"    // ended badly
	Deleted   What = "Deleted"   // by the controller; it may take a while to stop
	Gone      What = "Gone"      // from the node and from the API
	Adopted   What = "Adopted"   // by the set
)

// Point is the fleet at one instant, after what was done at it.
type Point struct {
	At        time.Duration `json:"at"`
	Available int           `json:"available"` // nodes that should run a pod and have an available one
	Settled   int           `json:"settled"`   // those where it is of the current revision and the only one
	Pods      int           `json:"pods"`      // of the set, terminating ones included
}
