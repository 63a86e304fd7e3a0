package fake

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/daemonplan/daemonplan/clusterapi"
)

// Harness is what TestClusterAPI needs around an implementation: a server on which it can
// do what users do. The server may be a real one, which others use at the same time: the
// suite names its nodes after its namespace, removes them in the end, and minds no others.
// Only nobody may act on its objects: no DaemonSet controller on its sets, no kubelet on its
// nodes.
//
// A harness that is also a Holder, a Recorder, a Staller or a StatusWriter lets the suite
// find more. The example of TestClusterAPI has a whole one; the test is then
//
//	func TestAdapter(t *testing.T) {
//		fake.TestClusterAPI(t, func(t *testing.T) fake.Harness { return newHarness(t) })
//	}
type Harness interface {
	// API returns the implementation under test, always the same one.
	API() clusterapi.ClusterAPI

	// Namespace names a namespace that exists and holds nothing. It is another one for each
	// harness on the same server. Removing it is up to the harness.
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
// Live and Revision do not read from a cache, and that AsOf does not run ahead.
type Holder interface {
	// Hold keeps Observe from showing anything new until the next Sync.
	Hold(t *testing.T)
}

// Recorder is a Harness that can tell which events arrived. Without it, RecordEvent is
// only checked not to block.
type Recorder interface {
	// Recorded returns the events that arrived so far, oldest first. It may wait for those on
	// their way, and hold events about other objects than the test's.
	Recorded(t *testing.T) []RecordedEvent
}

// Staller is a Harness that can keep the server from answering. Without it, nothing shows
// that a call ends with its context once it is under way.
type Staller interface {
	// Stall keeps the server from answering any request from now on. It lasts until resume is
	// called, once; calls that are under way then may end in any way.
	Stall(t *testing.T) (resume func())
}

// StatusWriter is a Harness that can do what kubelets do. Without it, nothing shows that
// Observe holds pods that have finished and nodes that are not ready.
type StatusWriter interface {
	// WriteStatus replaces the status of a *corev1.Pod or *corev1.Node, as it is in obj, and
	// returns the object as stored.
	WriteStatus(t *testing.T, obj runtime.Object) runtime.Object
}

// TestClusterAPI checks an implementation of clusterapi.ClusterAPI sentence by sentence
// against what that interface promises. It calls newHarness for every part, which may run
// in any order but not in parallel. Parts for which a harness has not the means are
// skipped, and say so. A call that has not returned after 30 s fails its part.
func TestClusterAPI(t *testing.T, newHarness func(t *testing.T) Harness) {
	t.Helper()
	testClusterAPI(t, newHarness, limits{deadline: 30 * time.Second, patience: 10 * time.Second})
}

func testClusterAPI(t *testing.T, newHarness func(t *testing.T) Harness, limits limits) {
	t.Helper()
	for _, clause := range clauses() {
		t.Run(clause.name, func(t *testing.T) {
			h := newHarness(t)
			api := h.API()
			c := &contract{Harness: h, t: t, api: &watched{t: t, api: api, limits: limits}, nodes: map[string]*corev1.Node{}}
			t.Cleanup(func() { c.clean(t) })
			clause.check(c)
		})
	}
}

type clause struct {
	name  string
	check func(c *contract)
}

func clauses() []clause {
	return slices.Concat(readClauses(), cacheClauses(), podClauses(), revisionClauses(), setClauses(), callClauses(), ownerClauses(), followClauses())
}

// contract is one part of the suite with its harness.
type contract struct {
	Harness

	t   *testing.T
	api *watched

	nodes map[string]*corev1.Node // that this part made
}
