//go:build unix

package command_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"strings"
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

// busy is a server with a set that needs one pod, whose create takes until release is
// closed. arrived is closed when it has come in.
func busy(t *testing.T) (s *stub, arrived, release chan struct{}) { //nolint:revive // two channels are one rendezvous
	t.Helper()
	arrived, release = make(chan struct{}), make(chan struct{})
	set, on := daemonSet("agent", ""), node(0)
	set.ResourceVersion, on.ResourceVersion = "5", "6"
	s = newStub(t, func(s *stub) {
		s.items = map[string]any{"daemonsets": []any{set}, "nodes": []any{on}}
		s.override = func(w http.ResponseWriter, r *http.Request) bool {
			pod := strings.HasSuffix(r.URL.Path, "/pods")
			if r.Method != http.MethodPost || !pod && !strings.HasSuffix(r.URL.Path, "/controllerrevisions") {
				return false
			}
			created := readObject(t, r)
			if pod {
				close(arrived)
				<-release
				created.SetName("agent-x")
			}
			created.SetUID("uid")
			created.SetResourceVersion("8")
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			_ = json.NewEncoder(w).Encode(created) // to a client that may be gone
			return true
		}
	})
	return s, arrived, release
}

func TestSignalLetsPassesFinish(t *testing.T) {
	s, arrived, release := busy(t)
	process, log := launch(t, "--kubeconfig="+kubeconfig(t, s.URL), "--leader-elect=false", "--listen=127.0.0.1:0")
	<-arrived
	require.NoError(t, process.Process.Signal(syscall.SIGTERM))
	eventually(t, "the signal has come", func() bool { return len(log.lines("msg=\"ending once")) == 1 })
	close(release)
	require.NoError(t, process.Wait())
	assert.Len(t, log.lines("msg=pass", "daemonset=ops/agent", "creates=1"), 1)
}

func TestSecondSignalEndsItAtOnce(t *testing.T) {
	s, arrived, release := busy(t)
	process, log := launch(t, "--kubeconfig="+kubeconfig(t, s.URL), "--leader-elect=false", "--listen=127.0.0.1:0")
	<-arrived
	require.NoError(t, process.Process.Signal(syscall.SIGTERM))
	eventually(t, "the signal has come", func() bool { return len(log.lines("msg=\"ending once")) == 1 })
	require.NoError(t, process.Process.Signal(syscall.SIGTERM))
	exit, ok := errors.AsType[*exec.ExitError](process.Wait())
	close(release)
	require.True(t, ok)
	assert.Equal(t, 1, exit.ExitCode())
	assert.Empty(t, log.lines("msg=ended"))
}
