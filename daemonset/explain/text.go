package explain

import (
	"fmt"
	"strings"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/internal/plain"
)

// Describe renders one story for people and golden files. Do not parse it: Story is for that.
func Describe(s Story) string {
	d := &description{}
	subject := "node " + s.Node
	if s.Hypothetical {
		subject += ", if it were there as given,"
	}
	d.line(0, subject+" "+s.Means)
	d.body(&s, detailed)
	return d.String()
}

// DescribeGroups renders groups, each with as many of its nodes as examples as names are
// named, all of them for a negative number.
func DescribeGroups(groups []Group, names int) string {
	d := &description{}
	for i := range groups {
		g := &groups[i]
		d.line(0, g.title(names))
		if !g.From.Equal(g.Until) {
			d.line(1, "until: between "+instant(g.From)+" and "+instant(g.Until))
		}
		d.body(&g.Story, len(g.Nodes))
	}
	return d.String()
}

// DescribeRemarks renders remarks, a line for each.
func DescribeRemarks(remarks []Remark) string {
	d := &description{}
	for _, r := range remarks {
		subject := r.Subject
		if r.Detail != "" {
			subject += " (" + plain.Clip(r.Detail) + ")"
		}
		if subject == "" {
			subject = "all nodes"
		}
		d.line(0, fmt.Sprintf("%s: %s: %s %s", strings.TrimSpace(subject), r.Reason, r.Why.Means, r.Why.Next))
	}
	return d.String()
}

func (g *Group) title(names int) string {
	if len(g.Nodes) == 1 {
		return "node " + g.Nodes[0] + " " + g.Story.Means
	}
	if names < 0 {
		names = len(g.Nodes)
	}
	shown := g.Nodes[:min(len(g.Nodes), names)]
	list := strings.Join(shown, ", ")
	switch more := len(g.Nodes) - len(shown); {
	case len(shown) == 0:
		return fmt.Sprintf("%d nodes: each %s", len(g.Nodes), g.Story.Means)
	case more > 0:
		list += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%d nodes (%s): each %s", len(g.Nodes), list, g.Story.Means)
}

type description struct{ strings.Builder }

func (d *description) line(depth int, text string) {
	d.WriteString(strings.Repeat("  ", depth))
	d.WriteString(plain.Printable(text))
	d.WriteByte('\n')
}

// detailed is the number of nodes of a story that is told of one node.
const detailed = 1

// body tells the story of the nodes whose number is given: of several only what they share.
func (d *description) body(s *Story, nodes int) {
	for i := range s.Obstacles {
		o := s.Obstacles[i]
		if o.Has != "" && nodes != detailed {
			o.Has = "on " + s.Node + " " + o.Has
		}
		d.line(1, "because "+o.Text())
		d.line(2, o.Lift)
	}
	for i := range s.Pods {
		d.line(1, s.Pods[i].text(nodes))
	}
	for _, a := range s.Actions {
		d.line(1, a.text(nodes))
	}
	switch {
	case s.Waits():
		text := fmt.Sprintf("waits: %s: %s %s", s.Reason, s.Why.Means, s.Why.Next)
		if nodes == detailed && !s.Until.IsZero() {
			text += " Until " + instant(s.Until) + "."
		}
		d.line(1, text)
	case len(s.Actions) == 0:
		d.line(1, "nothing is to be done there")
	}
}

func (p *Pod) text(nodes int) string {
	text := "pod"
	if nodes == detailed {
		text += " " + p.Name
	}
	text += stateText(p.State) + ": " + p.Counts
	if p.Why != "" && nodes == detailed {
		text += "; " + p.Why
	}
	return text
}

func (a Action) text(nodes int) string {
	what := "a pod is created"
	if a.Verb == DeletePod {
		what = "the pod is deleted"
		if nodes == detailed {
			what = "pod " + a.Pod + " is deleted"
		}
	}
	return fmt.Sprintf("now %s: %s: %s %s", what, a.Reason, a.Why.Means, a.Why.Next)
}

func stateText(s daemonset.PodState) string {
	switch s {
	case daemonset.Failed:
		return ", failed"
	case daemonset.Succeeded:
		return ", ended"
	case daemonset.Terminating:
		return ", terminating"
	case daemonset.Live:
	}
	return ""
}
