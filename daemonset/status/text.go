package status

import (
	"fmt"
	"strings"

	"github.com/daemonplan/daemonplan/daemonset/internal/plain"
)

// Describe renders a report for people and golden files. Do not parse it: Report is for that.
// At most as many troubles are listed as shown says, all for a negative number.
func Describe(r Report, shown int) string {
	d := &description{}
	d.line(0, fmt.Sprintf("%s (%s): %s", r.Phase, r.Activity, r.Message))
	d.line(1, r.Counts.text())
	for _, w := range r.Waits {
		d.line(1, "waits for "+w.text())
	}
	if shown < 0 {
		shown = len(r.Troubles)
	}
	for i, t := range r.Troubles {
		if i == shown {
			d.line(1, fmt.Sprintf("and %d more in trouble", len(r.Troubles)-shown))
			break
		}
		d.line(1, t.full())
	}
	return d.String()
}

// text is what kubectl rollout status goes by, and of the other numbers those that are not 0.
func (c Counts) text() string {
	var text strings.Builder
	fmt.Fprintf(&text, "desired %d, current %d, updated %d, ready %d, available %d", c.Desired, c.Current, c.Updated, c.Ready, c.Available)
	for _, more := range []struct {
		count int
		label string
	}{
		{c.Unavailable, "unavailable"},
		{c.ByChoice, "of them by choice"},
		{c.Lost, "lost their pod"},
		{c.Outdated, "outdated"},
		{c.Held, "held by the budget"},
		{c.OnDelete, "left by OnDelete"},
		{c.Misscheduled, "misscheduled"},
		{c.Evicted, "evicted now"},
		{c.Backoff, "in backoff"},
		{c.NoRoom, "without room"},
		{c.Deleting, "pods being deleted"},
		{c.Undeleted, "of them past their grace period"},
		{c.Unscheduled, "pods without a node"},
		{c.ImagePull, "pods without an image"},
		{c.CrashLoop, "pods in a crash loop"},
		{c.NodesDown, "nodes not ready"},
	} {
		if more.count != 0 {
			fmt.Fprintf(&text, ", %s %d", more.label, more.count)
		}
	}
	return text.String()
}

// full is a trouble with all that is known of it.
func (t Trouble) full() string {
	state := "starting"
	switch {
	case t.Over:
		state = "overdue"
	case t.Cause == Undeleted:
		state = "going"
	case t.Cause == Failing:
		state = "failing"
	case t.Again:
		state = "was ready"
	}
	text := state + ": " + t.text()
	if !t.Over && !t.Until.IsZero() {
		text += ", has until " + instant(t.Until)
	}
	if t.Text != "" {
		text += ": " + t.Text
	}
	return text
}

type description struct{ strings.Builder }

func (d *description) line(depth int, text string) {
	d.WriteString(strings.Repeat("  ", depth))
	d.WriteString(plain.Printable(text))
	d.WriteByte('\n')
}
