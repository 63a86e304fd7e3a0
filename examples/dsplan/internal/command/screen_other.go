//go:build !linux

package command

import "io"

// columnsOf does not know how to ask here; COLUMNS says it.
func columnsOf(io.Writer) int { return 0 }
