package daemonset_test

import (
	"testing"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/internal/script"
)

// TestScripts runs the specification in testdata: one behaviour a file, in the order of the
// cluster it builds, what is planned for it, and why.
func TestScripts(t *testing.T) {
	script.Run(t, "testdata/*.txt", func() script.Runner { return script.NewWorld(daemonset.Compute) })
}
