package command

import (
	"fmt"
	"strings"

	"github.com/daemonplan/daemonplan/daemonset"
)

// nothing is the text of a plan with nothing to apply.
const nothing = "nothing"

// maxNote is how many bytes of text an event has at most, with room to spare: an API server
// takes 1024.
const maxNote = 1000

// actions is what a plan would do, in words.
type actions struct {
	full string // all of it
	note string // for an event
}

// describeActions says what would be written, and leaves out the numbers of a status, which
// change with every pod that turns ready.
func describeActions(p daemonset.Plan) actions {
	var parts []string
	add := func(format string, values ...any) { parts = append(parts, fmt.Sprintf(format, values...)) }
	for _, c := range p.Claims {
		verb := "release"
		if c.Adopt {
			verb = "adopt"
		}
		add("%s %s %s", verb, c.Kind, c.Ref.Name)
	}
	for _, r := range p.Relabels {
		add("relabel pod %s", r.Pod.Name)
	}
	for _, c := range p.Revisions {
		add("%s revision %s", c.Op, c.Revision.Name)
	}
	for _, c := range p.Creates {
		add("create a pod on node %s (%s)", c.Node, c.Reason)
	}
	for _, d := range p.Deletes {
		add("delete pod %s on node %s (%s)", d.Pod.Name, d.Node, d.Reason)
	}
	for _, e := range p.Events {
		add("record event %s", e.Reason)
	}
	if p.Status != nil {
		add("write the status")
	}
	if len(parts) == 0 {
		return actions{nothing, "would do nothing"}
	}
	full := strings.Join(parts, ", ")
	return actions{full, note(p, full)}
}

// note is the text for an event: the counts if the whole of it is too long.
func note(p daemonset.Plan, full string) string {
	if text := "would " + full; len(text) <= maxNote {
		return text
	}
	text := fmt.Sprintf("would create %d and delete %d pods, and more: %s", len(p.Creates), len(p.Deletes), full)
	cut := strings.LastIndex(text[:maxNote-len(" ...")], ", ")
	return text[:cut] + ", ..."
}
