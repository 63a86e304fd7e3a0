package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/daemonplan/daemonplan/daemonset/internal/plain"
	"github.com/daemonplan/daemonplan/placement"
)

// Describe renders a report for people and golden files. Do not parse it: Report is for that.
// Of nodes with the same story at most as many are named as names says, all for a negative
// number.
func Describe(r Report, names int) string {
	d := &description{}
	d.line(r.Template.text(r))
	for _, f := range r.Spec {
		d.line("  " + f.Path + ": " + shown(f.Before) + " -> " + shown(f.After))
	}
	if before, after := r.Before.text(), r.After.text(); before == after {
		d.line("strategy: " + after)
	} else {
		d.line("strategy: " + before + " -> " + after)
	}
	for _, c := range r.Counts() {
		d.line(fmt.Sprintf("%s: %s, %d of them now", c.Effect, nodes(c.Nodes), c.Now))
		for _, s := range stories(r.Nodes, c.Effect) {
			text := s.text(names)
			if r.After.Type == "" {
				text += ", left to garbage collection"
			}
			d.line("  " + text)
			for _, because := range s.because {
				d.line("    " + s.cause() + because)
			}
		}
	}
	d.line("unchanged: " + nodes(r.Unchanged))
	return d.String()
}

func (t Template) text(r Report) string {
	switch {
	case r.Before.Type == "":
		return "the DaemonSet is new"
	case r.After.Type == "":
		return "the DaemonSet is gone"
	case !t.Changed && t.Restarts == 0:
		return "template: the same by value, and restarts nothing"
	}
	text := "template: the same by value"
	if t.Changed {
		text = fmt.Sprintf("template: changed, revision %s -> %s", t.Before, t.After)
	}
	if t.Rollback {
		text += ", which is current again"
	}
	switch {
	case t.Restarts > 0:
		text += "; pods restart on " + nodes(t.Restarts)
	case t.Outdates > 0:
		text += "; pods are outdated on " + nodes(t.Outdates) + ", and stay until somebody deletes them"
	default:
		text += "; no pod restarts that was not to"
	}
	return text
}

func (s Strategy) text() string {
	if s.Type == "" {
		return "none"
	}
	text := fmt.Sprintf("%s, %s", s.Type, nodes(s.Desired))
	switch {
	case s.MaxSurge > 0:
		text += fmt.Sprintf(", maxSurge %d", s.MaxSurge)
	case s.MaxUnavailable > 0:
		text += fmt.Sprintf(", maxUnavailable %d", s.MaxUnavailable)
	}
	if s.MinReadySeconds > 0 {
		text += fmt.Sprintf(", minReadySeconds %d", s.MinReadySeconds)
	}
	return text
}

// story is nodes on which the same differs for the same reasons.
type story struct {
	Node
	because []string
	names   []string
}

// stories groups the nodes with one effect, in the order of their first nodes.
func stories(all []Node, effect Effect) []story {
	index := map[string]int{}
	var list []story
	for i := range all {
		n := &all[i]
		if n.Effect != effect {
			continue
		}
		key := fmt.Sprintf("%t %s %s %s %s %q %t", n.Now, n.Reason, n.Was, n.Before, n.After, n.Because, len(n.Pods) > 0)
		at, known := index[key]
		if !known {
			at = len(list)
			index[key] = at
			list = append(list, story{Node: *n, because: n.Because})
		}
		list[at].names = append(list[at].names, n.Name)
	}
	return list
}

func (s *story) text(names int) string {
	if names < 0 {
		names = len(s.names)
	}
	text := nodes(len(s.names))
	if names > 0 {
		text += " (" + strings.Join(s.names[:min(names, len(s.names))], ", ")
		if more := len(s.names) - names; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		text += ")"
	}
	switch {
	case s.Now:
		text += ": now, " + string(s.Reason)
	case s.Reason != "":
		text += ": later, " + string(s.Reason)
	case s.After != placement.Undecided:
		text += ": nothing is to be done there"
	}
	if s.Was != "" && s.Was != s.Reason {
		text += ", was " + string(s.Was)
	}
	if len(s.names) == 1 && len(s.Pods) > 0 {
		text += ", pod " + strings.Join(s.Pods, " and ")
	}
	return text
}

// cause leads up to what is in the way, or was.
func (s *story) cause() string {
	if (s.Effect == Gains || s.Effect == Admits) && !slices.Contains(s.because, newNode) {
		return "until now: "
	}
	return "because "
}

func shown(value string) string {
	if value == "" {
		return "(none)"
	}
	return value
}

func nodes(n int) string {
	if n == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", n)
}

type description struct{ strings.Builder }

func (d *description) line(text string) {
	d.WriteString(plain.Printable(text))
	d.WriteByte('\n')
}
