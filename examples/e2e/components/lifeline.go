package components

import (
	"io"
	"os"
)

// dieWithParent ends this process at the end of its standard input, which its parent holds
// open for as long as it lives. The end comes however the parent goes, killed or crashed,
// on every system, and without the parent's doing.
func dieWithParent() {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
}
