package fake

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/daemonplan/daemonplan/clusterapi"
)

// Harness is what TestClusterAPI needs around an implementation: a server on which it can
// do what users do.
type Harness interface {
	// API returns the implementation under test.
	API() clusterapi.ClusterAPI

	// Namespace names a namespace that exists and holds nothing.
	Namespace() string

	// Create stores a *corev1.Node, *corev1.Pod, *appsv1.DaemonSet or
	// *appsv1.ControllerRevision and returns it as stored.
	Create(t *testing.T, obj runtime.Object) runtime.Object

	// Remove deletes such an object and returns when it is gone from the server.
	Remove(t *testing.T, obj runtime.Object)

	// Sync returns when Observe shows all that was written before the call.
	Sync(t *testing.T)
}

// Holder is a Harness that can keep Observe in the past. Without it, nothing shows that
// Live and Revision do not read from a cache.
type Holder interface {
	// Hold keeps Observe from showing anything new until the next Sync.
	Hold(t *testing.T)
}

// Recorder is a Harness that can tell which events arrived. Without it, RecordEvent is
// only checked not to block.
type Recorder interface {
	// Recorded returns the events that arrived so far, oldest first.
	Recorded(t *testing.T) []RecordedEvent
}

// TestClusterAPI checks an implementation of clusterapi.ClusterAPI sentence by sentence
// against what that interface promises. It calls newHarness for every part, which may run
// in any order but not in parallel. Parts for which a harness has not the means are
// skipped, and say so.
func TestClusterAPI(t *testing.T, newHarness func(t *testing.T) Harness) {
	t.Helper()
	for _, clause := range clauses() {
		t.Run(clause.name, func(t *testing.T) {
			h := newHarness(t)
			clause.check(&contract{Harness: h, t: t, api: h.API()})
		})
	}
}

type clause struct {
	name  string
	check func(c *contract)
}

func clauses() []clause {
	return slices.Concat(readClauses(), podClauses(), revisionClauses(), setClauses(), callClauses())
}

// contract is one part of the suite with its harness.
type contract struct {
	Harness

	t   *testing.T
	api clusterapi.ClusterAPI
}
