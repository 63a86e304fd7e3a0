package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/daemonplan/daemonplan/daemonset/simulate"
)

// mark is how a state looks in one column of text, and what that stands for. The colours are of
// the 256 of terminals, and differ in lightness; the characters tell the states apart without
// them.
type mark struct {
	text   string
	colour int
	words  string
}

func markOf(s simulate.State) mark {
	switch s {
	case simulate.Updated:
		return mark{"#", 33, "updated"}
	case simulate.Starting:
		return mark{"~", 220, "starting"}
	case simulate.Surging:
		return mark{"%", 79, "outdated, a new one starting"}
	case simulate.Outdated:
		return mark{".", 245, "outdated"}
	case simulate.Unready:
		return mark{"!", 208, "outdated, not available"}
	case simulate.Stopping:
		return mark{"-", 180, "stopping"}
	case simulate.Broken:
		return mark{"x", 196, "failed"}
	case simulate.Missing:
		return mark{"_", 160, "no pod"}
	case simulate.Idle:
	}
	return mark{" ", 0, ""}
}

// mostStrips is how many lines of nodes are printed at most.
const mostStrips = 40

// strips renders nodes against time.
func strips(r simulate.Result, s screen) string {
	uninvolved := func(n simulate.Node) bool { return len(n.Spans) == 1 && n.Spans[0].State == simulate.Idle }
	involved := slices.DeleteFunc(slices.Clone(r.Nodes), uninvolved)
	groups := grouped(involved)
	label := 0
	for _, g := range groups {
		label = max(label, utf8.RuneCountInString(g.label()))
	}
	columns := max(s.width-label-3, 10)
	b := &strings.Builder{}
	seen := map[simulate.State]bool{}
	for i, g := range groups {
		if groups[0].zone() != groups[len(groups)-1].zone() && (i == 0 || g.zone() != groups[i-1].zone()) {
			fmt.Fprintln(b, cmp.Or(g.zone(), "no zone"))
		}
		states := g.states(r.Duration, columns)
		fmt.Fprintf(b, "%-*s |", label, g.label())
		s.writeCells(b, states)
		b.WriteString("|\n")
		for _, state := range states {
			seen[state] = true
		}
	}
	if len(groups) > 0 {
		fmt.Fprintf(b, "%-*s  0s%*s\n", label, "", columns-2, r.Duration)
		for _, row := range s.rows(legend(seen)) {
			b.WriteString(row + "\n")
		}
	}
	b.WriteString(others(len(r.Nodes) - len(involved)))
	return b.String()
}

func others(nodes int) string {
	switch nodes {
	case 0:
		return ""
	case 1:
		return "1 other node has and gets no pod of the set\n"
	}
	return fmt.Sprintf("%d other nodes have and get no pod of the set\n", nodes)
}

// legend says what the marks of states stand for.
func legend(seen map[simulate.State]bool) string {
	var words []string
	for _, state := range simulate.States() {
		if m := markOf(state); seen[state] && m.words != "" {
			words = append(words, m.text+" "+m.words)
		}
	}
	return strings.Join(words, "   ")
}

// writeCells writes states, with a change of colour only where it changes.
func (s screen) writeCells(b *strings.Builder, states []simulate.State) {
	last := 0
	for _, state := range states {
		m := markOf(state)
		if s.colour && m.colour != last {
			fmt.Fprintf(b, "\x1b[38;5;%dm", m.colour)
			last = m.colour
		}
		b.WriteString(m.text)
	}
	if last != 0 {
		b.WriteString("\x1b[0m")
	}
}

// group is nodes that share a line.
type group []simulate.Node

func (g group) zone() string { return g[0].Zone }

func (g group) label() string {
	if len(g) == 1 {
		return g[0].Name
	}
	return fmt.Sprintf("%s +%d", g[0].Name, len(g)-1)
}

// grouped puts nodes on lines, by zone and name. With many, neighbours of a zone share one.
func grouped(nodes []simulate.Node) []group {
	sorted := slices.SortedStableFunc(slices.Values(nodes), func(a, b simulate.Node) int {
		return cmp.Or(cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.Name, b.Name))
	})
	size := (len(sorted) + mostStrips - 1) / mostStrips
	var groups []group
	for _, n := range sorted {
		last := len(groups) - 1
		if last < 0 || len(groups[last]) == size || groups[last][0].Zone != n.Zone {
			groups = append(groups, group{n})
			continue
		}
		groups[last] = append(groups[last], n)
	}
	return groups
}

// states is the state of most nodes of the group in each of so many slices of time; of equally
// many, the one that is declared first.
func (g group) states(duration time.Duration, columns int) []simulate.State {
	at := make([]int, len(g)) // where each node is in its spans
	states := make([]simulate.State, columns)
	for column := range states {
		// The middle of the slice; at the end, what the end is like.
		instant := time.Duration((float64(column) + 0.5) / float64(columns) * float64(duration))
		if column == columns-1 {
			instant = duration
		}
		votes := map[simulate.State]int{}
		for i := range g {
			for at[i]+1 < len(g[i].Spans) && g[i].Spans[at[i]+1].From <= instant {
				at[i]++
			}
			votes[g[i].Spans[at[i]].State]++
		}
		all := simulate.States()
		states[column] = slices.MaxFunc(all, func(a, b simulate.State) int { return cmp.Compare(votes[a], votes[b]) })
	}
	return states
}
