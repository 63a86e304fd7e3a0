package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/daemonplan/daemonplan/daemonset"
)

// Group is the nodes with one story: the same decision, obstacles, kinds of pods, actions and
// reason. Names, times and what single nodes have instead of what is asked differ.
type Group struct {
	Story Story     `json:"story"` // of the first node of the group by name
	Nodes []string  `json:"nodes"` // all of them, by name
	From  time.Time `json:"from,omitzero"`
	Until time.Time `json:"until,omitzero"` // the earliest and the latest of their Until
}

// Grouped puts equal stories together: those in which something happens first, then those
// that wait, then those at rest; among them the largest groups, then by first node. Stories
// must be sorted by node, as from [Nodes]; the groups share memory with them.
func Grouped(stories []Story) []Group {
	index := map[string]int{}
	var groups []Group
	for i := range stories {
		story := &stories[i]
		key := keyOf(story)
		at, known := index[key]
		if !known {
			at = len(groups)
			index[key] = at
			groups = append(groups, Group{Story: *story})
		}
		groups[at].add(story)
	}
	slices.SortStableFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(len(b.Nodes), len(a.Nodes)))
	})
	return groups
}

func (g *Group) add(story *Story) {
	g.Nodes = append(g.Nodes, story.Node)
	if story.Until.IsZero() {
		return
	}
	if g.From.IsZero() || story.Until.Before(g.From) {
		g.From = story.Until
	}
	if story.Until.After(g.Until) {
		g.Until = story.Until
	}
}

func (g *Group) rank() int {
	switch {
	case len(g.Story.Actions) > 0:
		return 0
	case g.Story.Reason != "":
		return 1
	case len(g.Story.Obstacles) > 0:
		return 3
	}
	return 2
}

// keyOf is equal for equal stories.
func keyOf(s *Story) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%t %s %s %t\n", s.Hypothetical, s.Decision, s.Reason, s.Until.IsZero())
	for i := range s.Obstacles {
		fmt.Fprintf(&b, "%s %q %q\n", s.Obstacles[i].Code, s.Obstacles[i].Field, s.Obstacles[i].Problem)
	}
	for _, p := range s.Pods {
		fmt.Fprintf(&b, "%t %s %s %s\n", p.Current, p.State, p.Health, p.Counts)
	}
	for _, a := range s.Actions {
		fmt.Fprintf(&b, "%s %s\n", a.Verb, a.Reason)
	}
	return b.String()
}

// Remark is something about the set and not about one node.
type Remark struct {
	Subject string           `json:"subject,omitempty"` // kind and name of the object, empty for the whole set
	Reason  daemonset.Reason `json:"reason"`
	Why     Meaning          `json:"why"`
	Detail  string           `json:"detail,omitempty"`
}

// Remarks explains what a plan holds apart from its nodes: why none is acted on, what is
// adopted and released, what is written to history, deletes on nodes that do not exist, and
// what is odd. In the order of the plan.
func Remarks(p daemonset.Plan) []Remark {
	var remarks []Remark
	words := newDictionary()
	add := func(subject string, reason daemonset.Reason, detail string) {
		remarks = append(remarks, Remark{Subject: subject, Reason: reason, Why: words.reason(reason), Detail: detail})
	}
	if p.Reason != "" {
		add("", p.Reason, "")
	}
	for _, c := range p.Claims {
		add(string(c.Kind)+" "+c.Ref.Name, c.Reason, "")
	}
	for _, c := range p.Revisions {
		for _, reason := range c.Reasons {
			add(string(daemonset.RevisionKind)+" "+c.Revision.Name, reason, "")
		}
	}
	for _, d := range p.Deletes {
		if _, exists := p.Node(d.Node); !exists {
			add(string(daemonset.PodKind)+" "+d.Pod.Name, d.Reason, "node "+d.Node)
		}
	}
	for _, f := range p.Findings {
		detail := f.Detail
		if f.Reason == daemonset.PodOnMissingNode {
			detail = "node " + detail
		}
		add(string(f.Kind)+" "+f.Ref.Name, f.Reason, detail)
	}
	return remarks
}
