package command

import (
	"io"

	"github.com/daemonplan/daemonplan/daemonset/simulate"
)

// Looks is what output to a writer looks like.
func Looks(w io.Writer) (colour bool, width int) {
	s := screenOf(w)
	return s.colour, s.width
}

// ShowProgress shows some progress and clears it away.
func ShowProgress(w io.Writer, steps ...simulate.Progress) {
	bar := newProgressBar(w)
	show := bar.of("demo/agent")
	for _, step := range steps {
		if show != nil {
			show(step)
		}
	}
	bar.clear()
}

// Strips renders nodes against time for a terminal of a width, with colours.
func Strips(r simulate.Result, width int) string {
	return strips(r, screen{colour: true, width: width})
}

// Dress makes text fit for a terminal of a width, with or without colours.
func Dress(text string, width int, colour bool) string {
	return screen{terminal: true, colour: colour, width: width}.dress(text)
}
