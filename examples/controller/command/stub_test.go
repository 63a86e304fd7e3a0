package command_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// stub is an API server with nothing in it, as far as the program needs one at its start.
// Its requests can be answered otherwise.
type stub struct {
	*httptest.Server
	version   string
	resources []string
	denied    string                                                 // rights that a review denies: "create pods"
	items     map[string]any                                         // lists of objects, by resource
	override  func(w http.ResponseWriter, r *http.Request) (ok bool) // nil answers nothing

	mu     sync.Mutex
	writes []string // method and path of requests that are not GET
}

func newStub(t *testing.T, change func(s *stub)) *stub {
	t.Helper()
	s := &stub{version: "v1.37.2", resources: []string{"daemonsets", "daemonsets/status", "controllerrevisions"}}
	if change != nil {
		change(s)
	}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.override != nil && s.override(w, r) {
		return
	}
	if r.Method != http.MethodGet {
		s.mu.Lock()
		s.writes = append(s.writes, r.Method+" "+r.URL.Path)
		s.mu.Unlock()
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path == "/version":
		fmt.Fprintf(w, `{"major":"1","minor":"0","gitVersion":%q}`, s.version)
	case r.URL.Path == "/apis/apps/v1":
		var list []string
		for _, name := range s.resources {
			list = append(list, fmt.Sprintf(`{"name":%q,"kind":"X","namespaced":true,"verbs":["list"]}`, name))
		}
		fmt.Fprintf(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apps/v1","resources":[%s]}`, strings.Join(list, ","))
	case strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews"):
		s.review(w, r)
	case r.URL.Query().Get("sendInitialEvents") != "":
		status(w, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "no initial events")
	case r.URL.Query().Get("watch") != "":
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case r.Method == http.MethodGet && slices.Contains(listKinds, filepath.Base(r.URL.Path)):
		s.list(w, filepath.Base(r.URL.Path))
	default:
		status(w, http.StatusNotFound, metav1.StatusReasonNotFound, r.Method+" "+r.URL.Path+" is not there")
	}
}

var listKinds = []string{"daemonsets", "controllerrevisions", "pods", "nodes"}

func (s *stub) list(w http.ResponseWriter, resource string) {
	kind, version := map[string]string{
		"daemonsets": "DaemonSetList", "controllerrevisions": "ControllerRevisionList", "pods": "PodList", "nodes": "NodeList",
	}[resource], "v1"
	if strings.HasPrefix(kind, "D") || strings.HasPrefix(kind, "C") {
		version = "apps/v1"
	}
	items := s.items[resource]
	if items == nil {
		items = []any{}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{ // to a client that may be gone
		"kind": kind, "apiVersion": version, "metadata": map[string]any{"resourceVersion": "7"}, "items": items,
	})
}

// review works with the fields that the stub needs, whatever form they come in.
func (s *stub) review(w http.ResponseWriter, r *http.Request) {
	right := readReview(r)
	fmt.Fprintf(w, `{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","status":{"allowed":%t}}`,
		s.denied == "" || !strings.Contains(s.denied, right))
}

func (s *stub) written() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.writes)
}

func status(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	})
}

// kubeconfig writes a file that leads to a server.
func kubeconfig(t *testing.T, server string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: here, user: me}}]
clusters: [{name: here, cluster: {server: %q}}]
users: [{name: me, user: {token: secret}}]
`, server)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
