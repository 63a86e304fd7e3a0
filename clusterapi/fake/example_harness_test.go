package fake_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
)

// harness is a whole harness. Its server is a cluster in memory and its adapter that
// cluster's own client; one for a real server calls that in Create, Remove and WriteStatus,
// and waits for its informers in Sync.
type harness struct {
	server    *fake.Cluster
	adapter   *fake.Client
	namespace string
	lag       fake.Lag
}

// newHarness starts an adapter on a server that others may use too.
func newHarness(t *testing.T, server *fake.Cluster, namespace string) *harness {
	t.Helper()
	h := &harness{server: server, adapter: server.NewClient(), namespace: namespace}
	t.Cleanup(h.adapter.Close)
	return h
}

func (h *harness) API() clusterapi.ClusterAPI { return h.adapter }

func (h *harness) Namespace() string { return h.namespace }

func (h *harness) Create(t *testing.T, obj runtime.Object) runtime.Object {
	t.Helper()
	var stored runtime.Object
	var err error
	switch obj := obj.(type) {
	case *corev1.Node:
		stored, err = fake.Create(h.server, obj)
	case *corev1.Pod:
		stored, err = fake.Create(h.server, obj)
	case *appsv1.DaemonSet:
		stored, err = fake.Create(h.server, obj)
	case *appsv1.ControllerRevision:
		stored, err = fake.Create(h.server, obj)
	}
	require.NoError(t, err)
	return stored
}

func (h *harness) Remove(t *testing.T, obj runtime.Object) {
	t.Helper()
	var err error
	switch obj := obj.(type) {
	case *corev1.Node:
		err = fake.Delete[*corev1.Node](h.server, nameOf(obj), fake.DeleteOptions{})
	case *corev1.Pod:
		err = fake.Delete[*corev1.Pod](h.server, nameOf(obj), fake.DeleteOptions{})
	case *appsv1.DaemonSet:
		err = fake.Delete[*appsv1.DaemonSet](h.server, nameOf(obj), fake.DeleteOptions{})
	case *appsv1.ControllerRevision:
		err = fake.Delete[*appsv1.ControllerRevision](h.server, nameOf(obj), fake.DeleteOptions{})
	}
	require.NoError(t, err)
}

func (h *harness) Sync(*testing.T) {
	h.adapter.SetLag(h.lag)
	h.adapter.Sync()
}

// Hold makes the harness a fake.Holder.
func (h *harness) Hold(*testing.T) { h.adapter.SetLag(fake.Lag{Hold: true}) }

// Recorded makes it a fake.Recorder.
func (h *harness) Recorded(*testing.T) []fake.RecordedEvent { return h.server.Recorded() }

// Stall makes it a fake.Staller.
func (h *harness) Stall(*testing.T) func() {
	for _, call := range []fake.Call{fake.Live, fake.Revision, fake.AnyWrite} {
		h.adapter.Inject(fake.Fault{Call: call, Times: -1, Wait: time.Hour})
	}
	return h.adapter.ClearFaults
}

// WriteStatus makes it a fake.StatusWriter.
func (h *harness) WriteStatus(t *testing.T, obj runtime.Object) runtime.Object {
	t.Helper()
	var stored runtime.Object
	var err error
	switch obj := obj.(type) {
	case *corev1.Node:
		stored, err = fake.UpdateStatus(h.server, obj)
	case *corev1.Pod:
		stored, err = fake.UpdateStatus(h.server, obj)
	}
	require.NoError(t, err)
	return stored
}

func nameOf(obj metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

// The contract is run by a test of the adapter. It asks for a harness for every part.
func ExampleTestClusterAPI() {
	testAdapter := func(t *testing.T) { // in a test file: func TestAdapter(t *testing.T)
		t.Helper()
		fake.TestClusterAPI(t, func(t *testing.T) fake.Harness {
			t.Helper()
			return newHarness(t, fake.New(1), "contract")
		})
	}
	_ = testAdapter
	// Output:
}
