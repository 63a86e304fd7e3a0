package simulate

import (
	"fmt"
	"strings"
)

// Describe renders a result for people and golden files, a line for each thing: the numbers,
// then each node with its states and when they began. What is empty has no line. Do not
// parse it; the JSON form has the curve and the stories as well.
func Describe(r Result) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "simulated  %s/%s  %s\n", r.For.Namespace, r.For.Name, r.Revision.Name)
	b.WriteString(Summary(r))
	for _, n := range r.Nodes {
		fmt.Fprintf(b, "node       %s", n.Name)
		if n.Slow {
			b.WriteString("  (slow)")
		}
		for _, s := range n.Spans {
			fmt.Fprintf(b, "  %s %s", s.From, s.State)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Summary renders the numbers of a result without its nodes.
func Summary(r Result) string {
	b := &strings.Builder{}
	line := func(label, format string, values ...any) {
		fmt.Fprintf(b, "%-10s %s\n", label, fmt.Sprintf(format, values...))
	}
	line("outcome", "%s after %s, %d of %s settled, %s, seed %d",
		r.Outcome, r.Duration, r.Settled, counted(r.Desired, "node", "nodes"), counted(r.Passes, "pass", "passes"), r.Seed)
	for _, w := range r.Waits {
		line("waiting", "%s", w)
	}
	line("pods", "at most %d", r.PeakPods)
	line("worst", "%s", r.Worst.of(r.Desired))
	for _, z := range r.Zones {
		if z.Desired == 0 || z.Desired == r.Desired {
			continue
		}
		line("zone", "%s  %s", orDash(z.Name), z.Worst.of(z.Desired))
	}
	for _, w := range r.Writes {
		line("writes", "%d %s %s", w.Count, w.Verb, w.Resource)
	}
	for _, v := range r.Proof.Violations {
		line("broken", "%s at %s: %d, allowed %d: %s", v.Rule, v.At, v.Got, v.Limit, someOf(v.Nodes))
	}
	line("budgets", "%s", r.Proof)
	return b.String()
}

// String is the proof as one sentence.
func (p Proof) String() string {
	verdict := "held"
	if !p.Held() {
		verdict = "BROKEN " + counted(len(p.Violations), "time", "times")
	}
	steps := fmt.Sprintf("at all %d steps", p.Steps)
	switch p.Steps {
	case 0:
		steps = "as no step was made"
	case 1:
		steps = "at the only step"
	}
	return fmt.Sprintf("%s %s: maxUnavailable %d, maxSurge %d", verdict, steps, p.Budget.MaxUnavailable, p.Budget.MaxSurge)
}

// String is the reason, and the first of the nodes.
func (w Wait) String() string { return orDash(string(w.Reason)) + "  " + someOf(w.Nodes) }

func (l Low) of(desired int) string {
	if l.Unavailable == 0 {
		return fmt.Sprintf("0 of %s unavailable", counted(desired, "node", "nodes"))
	}
	return fmt.Sprintf("%d of %s unavailable at %s", l.Unavailable, counted(desired, "node", "nodes"), l.At)
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// someOf lists the first names, and how many there are.
func someOf(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
