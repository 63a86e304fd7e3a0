package command

import (
	"io"
	"io/fs"
	"os"
	"strconv"
)

// screen is what output goes to, as far as its looks depend on it.
type screen struct {
	terminal bool // somebody looks at it now
	colour   bool
	width    int // in columns
}

// pageWidth is the width of output that nobody sees at once, such as in a file.
const pageWidth = 80

// screenOf finds out what a writer is. Only a terminal has colour, unless NO_COLOR or
// TERM=dumb asks for none, and a width of its own.
func screenOf(w io.Writer) screen {
	s := screen{width: pageWidth}
	if !isTerminal(w) {
		return s
	}
	s.terminal = true
	s.colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		s.width = columns
	} else if columns := columnsOf(w); columns > 0 {
		s.width = columns
	}
	return s
}

// isTerminal reports whether a writer is a character device. A pipe or a file is not.
func isTerminal(w io.Writer) bool {
	file, ok := w.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&fs.ModeCharDevice != 0
}
