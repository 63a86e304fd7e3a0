package clientgo_test

import (
	"context"
	"testing"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/daemonplan/daemonplan/clusterapi/clientgo"
)

// harness runs the contract of ClusterAPI over HTTP.
type harness struct {
	server    *server
	factory   informers.SharedInformerFactory
	informers *clientgo.Informers
	api       *clientgo.API
	remove    func() error // of handlers, if there are some
}

func newHarness(t *testing.T) *harness {
	t.Helper()
	h := &harness{server: newServer(t)}
	client := h.server.clientset(t)
	h.factory = clientgo.NewFactory(client, 0)
	var err error
	h.informers, err = clientgo.NewInformers(h.factory)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	h.api, err = clientgo.NewAPI(client, h.informers, broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "test"}))
	require.NoError(t, err)
	h.factory.StartWithContext(ctx)
	t.Cleanup(func() {
		broadcaster.Shutdown()
		stop()
		h.factory.Shutdown()
	})
	require.NoError(t, h.informers.WaitForSync(ctx))
	return h
}

func (h *harness) API() clusterapi.ClusterAPI { return h.api }
func (h *harness) Namespace() string          { return "ns" }
func (h *harness) Hold(*testing.T)            { h.server.log.hold() }

func (h *harness) Sync(t *testing.T) {
	t.Helper()
	h.server.log.release()
	for kind, informer := range map[string]interface{ LastStoreSyncResourceVersion() string }{
		"Node":               h.factory.Core().V1().Nodes().Informer().GetIndexer(),
		"Pod":                h.factory.Core().V1().Pods().Informer().GetIndexer(),
		"DaemonSet":          h.factory.Apps().V1().DaemonSets().Informer().GetIndexer(),
		"ControllerRevision": h.factory.Apps().V1().ControllerRevisions().Informer().GetIndexer(),
	} {
		wanted := h.server.log.latest(kind)
		require.Eventually(t, func() bool { return number(informer.LastStoreSyncResourceVersion()) >= wanted },
			patience, time.Millisecond, kind)
	}
}

func (h *harness) Create(t *testing.T, obj runtime.Object) runtime.Object {
	t.Helper()
	switch obj := obj.(type) {
	case *corev1.Node:
		return created(t, h, obj)
	case *corev1.Pod:
		return created(t, h, obj)
	case *appsv1.DaemonSet:
		return created(t, h, obj)
	case *appsv1.ControllerRevision:
		return created(t, h, obj)
	}
	t.Fatalf("a %T", obj)
	return nil
}

func created[T fake.Object](t *testing.T, h *harness, obj T) T {
	t.Helper()
	stored, err := fake.Create(h.server.Cluster, obj)
	require.NoError(t, err)
	return stored
}

func (h *harness) Remove(t *testing.T, obj runtime.Object) {
	t.Helper()
	switch obj := obj.(type) {
	case *corev1.Node:
		removed(t, h, obj)
	case *corev1.Pod:
		removed(t, h, obj)
	case *appsv1.DaemonSet:
		removed(t, h, obj)
	case *appsv1.ControllerRevision:
		removed(t, h, obj)
	}
}

func removed[T fake.Object](t *testing.T, h *harness, obj T) {
	t.Helper()
	key := types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}
	require.NoError(t, fake.Delete[T](h.server.Cluster, key, fake.DeleteOptions{Grace: new(int64)}))
}

// WriteStatus does what kubelets do.
func (h *harness) WriteStatus(t *testing.T, obj runtime.Object) runtime.Object {
	t.Helper()
	switch obj := obj.(type) {
	case *corev1.Node:
		return statusOf(t, h, obj)
	case *corev1.Pod:
		return statusOf(t, h, obj)
	}
	t.Fatalf("the status of a %T", obj)
	return nil
}

func statusOf[T fake.Object](t *testing.T, h *harness, obj T) T {
	t.Helper()
	stored, err := fake.UpdateStatus(h.server.Cluster, obj)
	require.NoError(t, err)
	return stored
}

// Recorded waits for what is on its way.
func (h *harness) Recorded(t *testing.T) []fake.RecordedEvent {
	t.Helper()
	recorded := func() []fake.RecordedEvent {
		h.server.mu.Lock()
		defer h.server.mu.Unlock()
		return append([]fake.RecordedEvent(nil), h.server.events...)
	}
	require.Eventually(t, func() bool { return len(recorded()) > 0 }, patience, time.Millisecond)
	return recorded()
}

func TestContract(t *testing.T) {
	fake.TestClusterAPI(t, func(t *testing.T) fake.Harness { t.Helper(); return newHarness(t) })
}
