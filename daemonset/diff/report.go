package diff

import (
	"time"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
)

// Effect is what a change does on one node.
type Effect string

// The effects, in the order in which they are listed.
const (
	Gains    Effect = "Gains"    // the node takes a pod of the set, and did not
	Admits   Effect = "Admits"   // the pod there, which would not have been placed there, belongs there now
	Loses    Effect = "Loses"    // the pod there goes, and none takes its place
	Closes   Effect = "Closes"   // the node takes no new pod, and did; one that is there stays
	Restarts Effect = "Restarts" // the pod there is replaced, and was not to be
	Outdates Effect = "Outdates" // the pod there becomes outdated, and OnDelete leaves it until somebody deletes it
	Spares   Effect = "Spares"   // the pod there was to be replaced, and is not any more
	Delays   Effect = "Delays"   // what happened there now has to wait
	Hastens  Effect = "Hastens"  // what had to wait there happens now
	Differs  Effect = "Differs"  // other pods are there, or wait for something else
)

// Report is what a change does.
type Report struct {
	Set       daemonset.Ref `json:"set"`
	Spec      []Field       `json:"spec,omitempty"` // what differs in the spec, by path
	Template  Template      `json:"template"`
	Before    Strategy      `json:"before"`
	After     Strategy      `json:"after"`
	Nodes     []Node        `json:"nodes,omitempty"` // on which something differs, by name
	Unchanged int           `json:"unchanged"`       // nodes on which nothing does
}

// Template is what becomes of the pod template.
type Template struct {
	Changed  bool   `json:"changed"` // by value; another spelling of the same is no change
	Before   string `json:"before,omitempty"`
	After    string `json:"after,omitempty"`    // names of the revisions
	Rollback bool   `json:"rollback,omitempty"` // After is an older revision that becomes current again
	Restarts int    `json:"restarts"`           // nodes whose pod is replaced and was not to be
	Outdates int    `json:"outdates,omitempty"` // nodes whose pod becomes outdated and is left by OnDelete
}

// Strategy is how an update goes, resolved for the number of nodes that should run a pod.
type Strategy struct {
	Type            string `json:"type,omitempty"` // empty if there is no set
	Desired         int    `json:"desired"`
	MaxUnavailable  int    `json:"maxUnavailable"`
	MaxSurge        int    `json:"maxSurge"`
	MinReadySeconds int32  `json:"minReadySeconds,omitempty"`
}

// Node is a node on which something differs.
type Node struct {
	Name    string             `json:"name"`
	Effect  Effect             `json:"effect"`
	Before  placement.Decision `json:"before"` // Undecided for a node that was not there
	After   placement.Decision `json:"after"`
	Pods    []string           `json:"pods,omitempty"`    // those it is about, in the order of the plan's report
	Because []string           `json:"because,omitempty"` // what is in the way, before for Gains and Admits, after otherwise
	Now     bool               `json:"now"`               // the next plan does it, or begins it
	Reason  daemonset.Reason   `json:"reason,omitempty"`  // of the plan after the change: of what it does, or of the wait
	Was     daemonset.Reason   `json:"was,omitempty"`     // of the plan before it
	Until   time.Time          `json:"until,omitzero"`    // when the wait ends by itself, if it does
}

// Count is how many nodes have one effect.
type Count struct {
	Effect Effect `json:"effect"`
	Nodes  int    `json:"nodes"`
	Now    int    `json:"now"` // of them, those on which the next plan does it
}

// Counts counts the effects, in their order; those that do not occur are left out.
func (r Report) Counts() []Count {
	var counts []Count
	for _, effect := range []Effect{Gains, Admits, Loses, Closes, Restarts, Outdates, Spares, Delays, Hastens, Differs} {
		c := Count{Effect: effect}
		for i := range r.Nodes {
			if r.Nodes[i].Effect != effect {
				continue
			}
			c.Nodes++
			if r.Nodes[i].Now {
				c.Now++
			}
		}
		if c.Nodes > 0 {
			counts = append(counts, c)
		}
	}
	return counts
}

// Empty reports whether nothing differs: neither the spec nor anything on a node.
func (r Report) Empty() bool { return len(r.Spec) == 0 && len(r.Nodes) == 0 && !r.Template.Changed }
