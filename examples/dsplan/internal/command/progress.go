package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/daemonplan/daemonplan/daemonset/simulate"
)

// progressBar shows on a terminal how far a simulation is, and is silent elsewhere.
type progressBar struct {
	out   io.Writer // nil for nowhere
	shown string
}

func newProgressBar(w io.Writer) *progressBar {
	if !isTerminal(w) {
		return &progressBar{}
	}
	return &progressBar{out: w}
}

// of returns what shows the progress of one set; nil if nobody sees it.
func (b *progressBar) of(set string) func(simulate.Progress) {
	if b.out == nil {
		return nil
	}
	return func(p simulate.Progress) { b.show(set, p) }
}

// show draws the bar anew when it looks different.
func (b *progressBar) show(set string, p simulate.Progress) {
	const length = 30
	filled := length
	if p.Desired > 0 {
		filled = p.Settled * length / p.Desired
	}
	bar := fmt.Sprintf("%s [%s%s]", set, strings.Repeat("#", filled), strings.Repeat(".", length-filled))
	if bar == b.shown {
		return
	}
	b.shown = bar
	say(b.out, fmt.Sprintf("\r%s %d of %d nodes, %s", bar, p.Settled, p.Desired, p.At))
	say(b.out, "\x1b[K") // what a longer line left
}

// clear takes the bar away.
func (b *progressBar) clear() {
	if b.shown != "" {
		say(b.out, "\r\x1b[K")
		b.shown = ""
	}
}
