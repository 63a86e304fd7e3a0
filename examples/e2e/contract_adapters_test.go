package e2e_test

import (
	"context"
	"testing"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi/clientgo"
	"github.com/daemonplan/daemonplan/clusterapi/controllerruntime"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/record"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemonplan/daemonplan/examples/e2e/controlplane"
)

// step is how often something is looked at that is waited for.
const step = 10 * time.Millisecond

func TestContract(t *testing.T) {
	plane := bare(t)
	tests := []struct {
		name string
		make func(t *testing.T, plane *controlplane.Plane) *contractHarness
	}{
		{"client-go", newClientGoHarness},
		{"controller-runtime", newRuntimeHarness},
		{"controller-runtime-without-cache", newPlainRuntimeHarness},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fake.TestClusterAPI(t, func(t *testing.T) fake.Harness {
				t.Helper()
				return tt.make(t, plane)
			})
		})
	}
}

func newClientGoHarness(t *testing.T, plane *controlplane.Plane) *contractHarness {
	t.Helper()
	h := newContractHarness(t, plane)
	factory := clientgo.NewFactory(kubernetes.NewForConfigOrDie(h.cached), 0)
	sources, err := clientgo.NewInformers(factory)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: plane.Client.CoreV1().Events("")})
	recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "e2e"})
	h.api, err = clientgo.NewAPI(plane.Client, sources, recorder)
	require.NoError(t, err)
	h.stores = func(*testing.T) map[string]cache.Store { return storesOf(factory) }
	factory.StartWithContext(ctx)
	t.Cleanup(func() {
		h.release()
		broadcaster.Shutdown()
		stop()
		factory.Shutdown()
	})
	require.NoError(t, sources.WaitForSync(ctx))
	return h
}

func storesOf(factory informers.SharedInformerFactory) map[string]cache.Store {
	return map[string]cache.Store{
		"nodes":      factory.Core().V1().Nodes().Informer().GetStore(),
		"pods":       factory.Core().V1().Pods().Informer().GetStore(),
		"daemonsets": factory.Apps().V1().DaemonSets().Informer().GetStore(),
		"revisions":  factory.Apps().V1().ControllerRevisions().Informer().GetStore(),
	}
}

// newPlainRuntimeHarness has a client that reads from the server.
func newPlainRuntimeHarness(t *testing.T, plane *controlplane.Plane) *contractHarness {
	t.Helper()
	h := newContractHarness(t, plane)
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: plane.Client.EventsV1()})
	require.NoError(t, broadcaster.StartRecordingToSinkWithContext(t.Context()))
	t.Cleanup(broadcaster.Shutdown)
	h.api = controllerruntime.New(h.direct, h.direct, broadcaster.NewRecorder(scheme.Scheme, "e2e"))
	return h
}

// newRuntimeHarness reads from an indexed cache, as a manager's reconciler does.
func newRuntimeHarness(t *testing.T, plane *controlplane.Plane) *contractHarness {
	t.Helper()
	h := newPlainRuntimeHarness(t, plane)
	c, err := ctrlcache.New(h.cached, ctrlcache.Options{Scheme: scheme.Scheme, ByObject: controllerruntime.Diet()})
	require.NoError(t, err)
	require.NoError(t, h.api.(*controllerruntime.API).ReadFrom(t.Context(), c))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Start(ctx) }()
	t.Cleanup(func() {
		h.release()
		stop()
		require.NoError(t, <-ended)
	})
	require.True(t, c.WaitForCacheSync(ctx))
	h.stores = func(t *testing.T) map[string]cache.Store {
		t.Helper()
		stores := map[string]cache.Store{}
		for kind, object := range map[string]client.Object{
			"nodes": &corev1.Node{}, "pods": &corev1.Pod{}, "daemonsets": &appsv1.DaemonSet{}, "revisions": &appsv1.ControllerRevision{},
		} {
			informer, err := c.GetInformer(t.Context(), object)
			require.NoError(t, err)
			stores[kind] = informer.(cache.SharedIndexInformer).GetStore()
		}
		return stores
	}
	return h
}
