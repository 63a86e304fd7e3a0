package status

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/internal/plain"
)

// isRollingOut reports whether an update is under way: a pod is outdated, the spec is new to
// the controller, or the current revision is younger than the deadline. The last is what is
// left of an update in its last wave.
func (j *judge) isRollingOut() bool {
	switch {
	case j.plan.Reason == daemonset.RevisionCollision, j.set.Status.ObservedGeneration < j.set.Generation:
		return true
	case slices.ContainsFunc(j.plan.Nodes, func(r daemonset.NodeReport) bool { return isOutdated(&r) || j.byUpdate(&r) }):
		return true
	}
	for _, c := range j.plan.Revisions {
		if c.Op != daemonset.DeleteRevision && c.Revision.Name == j.plan.Revision.Name {
			return true
		}
	}
	for _, r := range j.snapshot.Objects.Revisions {
		if r != nil && r.Namespace == j.set.Namespace && r.Name == j.plan.Revision.Name {
			return j.recent(r.CreationTimestamp.Time)
		}
	}
	return false
}

// conclude takes the verdict.
func (j *judge) conclude() {
	j.sort()
	for _, d := range j.plan.Deletes {
		if _, exists := j.plan.Node(d.Node); !exists {
			j.moving = true
		}
	}
	r := &j.report
	r.Phase = j.standing()
	if r.Phase == "" {
		r.Phase = j.phase()
	}
	r.Activity = j.activity()
	r.Message = j.message()
}

// standing is the phase of a set on whose nodes nothing is done at all, else empty.
func (j *judge) standing() Phase {
	switch j.plan.Reason {
	case "":
		return ""
	case daemonset.SetDeleting:
		return Terminating
	case daemonset.SelectsEverything:
		return Stuck
	case daemonset.WritesPending:
		return Waiting
	}
	return Progressing
}

func (j *judge) phase() Phase {
	switch {
	case j.open == 0 && !j.acts() && j.report.Observed < j.report.Generation:
		return Progressing
	case j.open == 0 && !j.acts():
		return Complete
	case j.moving && j.acts():
		return Progressing
	case j.moving:
		return Waiting
	case j.open == j.report.Counts.OnDelete:
		return Paused
	}
	return Stuck
}

// acts reports whether the plan creates or deletes pods.
func (j *judge) acts() bool { return len(j.plan.Creates)+len(j.plan.Deletes) > 0 }

func (j *judge) activity() Activity {
	switch {
	case j.report.Phase == Complete, j.report.Phase == Terminating, j.plan.Reason == daemonset.SelectsEverything:
		return Idle
	case j.rolling:
		return RollingOut
	case j.open > 0 || j.acts():
		return Repairing
	}
	return Idle
}

// message is the verdict in one line.
func (j *judge) message() string {
	r := &j.report
	c := &r.Counts
	parts := []string{fmt.Sprintf("%d of %s updated, %d available", c.Updated, plural(c.Desired, "node"), c.Available)}
	switch r.Phase {
	case Terminating:
		parts = append(parts, "the DaemonSet is being deleted")
	case Stuck:
		parts = append(parts, j.stuckOn())
	case Paused:
		parts = append(parts, plural(c.OnDelete, "node")+" with a pod that is outdated until somebody deletes it")
	case Progressing, Waiting:
		parts = append(parts, j.goingOn()...)
	case Complete:
		if c.Misscheduled > 0 {
			parts = append(parts, plural(c.Misscheduled, "node")+" with a pod that would not be placed there today")
		}
	}
	if r.Observed < r.Generation {
		parts = append(parts, fmt.Sprintf("the controller has not reported on generation %d yet", r.Generation))
	}
	return strings.Join(parts, "; ")
}

func (j *judge) stuckOn() string {
	over := 0
	for _, t := range j.report.Troubles {
		if t.Over {
			over++
		}
	}
	switch {
	case j.plan.Reason != "":
		return "nothing is done: " + string(j.plan.Reason)
	case over == 0:
		return "nothing moves, and no pod is to blame"
	}
	text := "nothing moves: " + j.report.Troubles[0].text()
	if over > 1 {
		text += fmt.Sprintf(", and %d more", over-1)
	}
	return text
}

func (j *judge) goingOn() []string {
	var parts []string
	if n := len(j.plan.Creates); n > 0 {
		parts = append(parts, plural(n, "pod")+" to create now")
	}
	if n := len(j.plan.Deletes); n > 0 {
		parts = append(parts, plural(n, "pod")+" to delete now")
	}
	if reason := j.plan.Reason; reason != "" {
		text := string(reason)
		if !j.report.Until.IsZero() {
			text += " until " + instant(j.report.Until)
		}
		parts = append(parts, text)
	}
	for _, w := range j.report.Waits {
		parts = append(parts, w.text())
	}
	return parts
}

func (w Wait) text() string {
	text := fmt.Sprintf("%s: %s", w.Reason, plural(w.Nodes, "node"))
	if w.Reason == "" {
		text = plural(w.Nodes, "node") + " without a pod"
	}
	if !w.Until.IsZero() {
		text += " until " + instant(w.Until)
	}
	return text
}

func (t Trouble) text() string {
	where := ""
	if t.Node != "" {
		where = "node " + t.Node
	}
	text := strings.Join(plain.NonEmpty(where, t.podText(), string(t.Cause)), ", ")
	if !t.Since.IsZero() {
		text += " since " + instant(t.Since)
	}
	return text
}

func (t Trouble) podText() string {
	if t.Pod == "" {
		return ""
	}
	return "pod " + t.Pod
}

func instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }
