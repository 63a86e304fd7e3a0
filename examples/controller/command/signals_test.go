//go:build unix

package command_test

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// launch runs the program as a process of its own.
func launch(t *testing.T, args ...string) (process *exec.Cmd, log *output) {
	t.Helper()
	log = &output{}
	process = exec.CommandContext(t.Context(), os.Args[0], args...)
	process.Env = append(os.Environ(), beProgram+"=1")
	process.Stdout, process.Stderr = log, log
	require.NoError(t, process.Start())
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log:\n%s", log)
		}
	})
	return process, log
}

func TestSignalsEndIt(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(signal.String(), func(t *testing.T) {
			s := newStub(t, nil)
			process, log := launch(t, "--kubeconfig="+kubeconfig(t, s.URL), "--leader-elect=false", "--listen=")
			eventually(t, "it works", func() bool { return len(log.lines("msg=reconciling")) == 1 })
			require.NoError(t, process.Process.Signal(signal))
			require.NoError(t, process.Wait())
			assert.Len(t, log.lines("msg=ended", "asked to end by the signal"), 1)
		})
	}
}
