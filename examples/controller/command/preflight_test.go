package command_test

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/examples/controller/command"
)

// fails runs the program, which has to fail, and returns the last line that it wrote.
func fails(t *testing.T, args ...string) (last string, all *output) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	all = &output{}
	args = append([]string{"--listen=", "--connect-timeout=20s"}, args...)
	require.Equal(t, 1, command.Run(ctx, args, all, all), "%s", all)
	text := strings.TrimSpace(all.String())
	_, last, ok := strings.Cut("\n"+text, "\ndaemonplan-controller: ")
	require.True(t, ok, "%s", all)
	return last, all
}

func TestServersThatWillNotDo(t *testing.T) {
	forbid := func(method, path, query string) func(s *stub) {
		return func(s *stub) {
			s.override = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != method || !strings.HasSuffix(r.URL.Path, path) || !strings.Contains(r.URL.RawQuery, query) {
					return false
				}
				status(w, http.StatusForbidden, metav1.StatusReasonForbidden, "user me may not do this to "+path)
				return true
			}
		}
	}
	tests := []struct {
		name string
		give func(s *stub)
		args []string
		want []string
	}{
		{"too old", func(s *stub) { s.version = "v1.24.17" }, nil, []string{"v1.24.17", "too old", "v1.25.0 or newer"}},
		{"no Kubernetes", func(s *stub) { s.version = "nginx" }, nil, []string{`its version is "nginx"`, "API server of Kubernetes?"}},
		{"no such group", func(s *stub) {
			s.override = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/apis/apps/v1" {
					http.NotFound(w, r)
					return true
				}
				return false
			}
		}, nil, []string{"does not serve apps/v1"}},
		{"no such resource", func(s *stub) { s.resources = []string{"daemonsets", "daemonsets/status"} }, nil, []string{"does not serve controllerrevisions of apps/v1"}},
		{"credentials", func(s *stub) {
			s.override = func(w http.ResponseWriter, _ *http.Request) bool {
				status(w, http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "Unauthorized")
				return true
			}
		}, nil, []string{"does not accept the credentials"}},
		{"no discovery", forbid("GET", "/version", ""), nil, []string{"refuses (Forbidden): reading /version"}},
		{"no list", forbid("GET", "/pods", "limit="), nil, []string{"rights are missing", "may not do this to /pods"}},
		{"no watch", forbid("GET", "/nodes", "watch="), nil, []string{"rights are missing", "may not do this to /nodes"}},
		{"no list in a dry run", forbid("GET", "/daemonsets", "limit="), []string{"--dry-run"}, []string{"rights are missing", "/daemonsets"}},
		{"no write", func(s *stub) { s.denied = "delete pods, patch daemonsets/status" }, nil, []string{"rights are missing: delete pods, patch daemonsets.apps/status"}},
		{"no lease", func(s *stub) { s.denied = "update leases" }, []string{"--class=blue"}, []string{"update leases.coordination.k8s.io daemonplan-controller-blue in namespace kube-system"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStub(t, test.give)
			last, _ := fails(t, append(test.args, "--kubeconfig="+kubeconfig(t, s.URL))...)
			for _, words := range test.want {
				assert.Contains(t, last, words)
			}
		})
	}
}

func TestServersThatDoNotAnswer(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	silent := newStub(t, func(s *stub) {
		s.override = func(_ http.ResponseWriter, r *http.Request) bool {
			<-r.Context().Done()
			return true
		}
	})
	broken := newStub(t, func(s *stub) {
		s.override = func(w http.ResponseWriter, _ *http.Request) bool {
			status(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "starting up")
			return true
		}
	})
	for name, server := range map[string]string{"closed": "http://" + closed.Addr().String(), "silent": silent.URL, "broken": broken.URL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun := time.Now()
			last, all := fails(t, "--server="+server, "--kubeconfig="+kubeconfig(t, server), "--connect-timeout=3s")
			assert.Contains(t, last, "the API server at "+server+" did not answer within 3s")
			assert.Less(t, time.Since(begun), patience)
			assert.LessOrEqual(t, len(all.lines("level=")), 2, "no endless log: %s", all)
		})
	}
}

// A server that was built without a version is judged by what it serves.
func TestServerWithoutVersion(t *testing.T) {
	s := newStub(t, func(s *stub) {
		s.version, s.resources = "v0.0.0-master+$Format:%H$", []string{"daemonsets"}
	})
	last, all := fails(t, "--kubeconfig="+kubeconfig(t, s.URL))
	assert.Contains(t, last, "does not serve daemonsets/status")
	assert.Len(t, all.lines("does not know its version"), 1)
}

// A server that is about to come up is waited for.
func TestServerThatComesUp(t *testing.T) {
	asked := 0
	s := newStub(t, func(s *stub) {
		s.version = "v1.9.0"
		s.override = func(w http.ResponseWriter, _ *http.Request) bool {
			if asked++; asked > 2 {
				return false
			}
			status(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "starting up")
			return true
		}
	})
	last, _ := fails(t, "--kubeconfig="+kubeconfig(t, s.URL))
	assert.Contains(t, last, "v1.9.0, which is too old")
}

func TestUntrustedServer(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	last, _ := fails(t, "--kubeconfig="+kubeconfig(t, server.URL))
	assert.Contains(t, last, "cannot be trusted")
	assert.Contains(t, last, "x509")
}

func TestBadKubeconfigs(t *testing.T) {
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "kubeconfig")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for name, test := range map[string]struct{ path, want string }{
		"absent":     {filepath.Join(t.TempDir(), "none"), "no such file"},
		"no YAML":    {file("{"), "yaml"},
		"no context": {file("apiVersion: v1\nkind: Config\ncurrent-context: here\n"), "here"},
		"empty":      {file(""), "no current context"},
		"no current context": {file(`apiVersion: v1
kind: Config
contexts: [{name: here, context: {cluster: here}}]
clusters: [{name: here, cluster: {server: "https://127.0.0.1:1"}}]
`), "no current context"},
		"no user key": {file(`apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: here, user: me}}]
clusters: [{name: here, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: me, user: {client-certificate: /nowhere/cert}}]
`), "/nowhere/cert"},
	} {
		t.Run(name, func(t *testing.T) {
			last, _ := fails(t, "--kubeconfig="+test.path)
			assert.Contains(t, last, "kubeconfig "+test.path+": ")
			assert.Contains(t, last, test.want)
		})
	}
}

func TestNoKubeconfigAtAll(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	last, _ := fails(t)
	assert.Contains(t, last, "neither --kubeconfig nor --server is given")
	assert.Contains(t, last, os.Getenv("KUBECONFIG"))
}
