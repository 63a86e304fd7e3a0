package controllerruntime_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemonplan/daemonplan/clusterapi/controllerruntime"
)

// eventually is how long a test waits for what takes no time on an idle machine.
const eventually = 2 * time.Minute

// recorder keeps events.
type recorder struct {
	mu       sync.Mutex
	recorded []fake.RecordedEvent
}

// Eventf implements events.EventRecorder.
func (r *recorder) Eventf(regarding, _ runtime.Object, kind, reason, action, note string, args ...any) { //nolint:revive // as the interface has it
	set := regarding.(*appsv1.DaemonSet)
	if set.Kind != "DaemonSet" || set.APIVersion != "apps/v1" || action == "" {
		return // an API server would refuse it
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.recorded = append(r.recorded, fake.RecordedEvent{
		About: daemonset.Ref{Namespace: set.Namespace, Name: set.Name, UID: set.UID},
		Event: daemonset.Event{Type: kind, Reason: reason, Note: fmt.Sprintf(note, args...)},
	})
}

// harness runs the contract without a cache.
type harness struct {
	server   *apiServer
	api      *controllerruntime.API
	recorder *recorder
}

func newHarness(t *testing.T) *harness {
	t.Helper()
	h := &harness{server: newAPIServer(t), recorder: &recorder{}}
	c := h.server.plainClient(t)
	h.api = controllerruntime.New(c, c, h.recorder)
	return h
}

func (h *harness) API() clusterapi.ClusterAPI { return h.api }
func (h *harness) Namespace() string          { return "ns" }
func (h *harness) Sync(*testing.T)            {}

func (h *harness) Create(t *testing.T, obj runtime.Object) runtime.Object {
	t.Helper()
	var stored runtime.Object
	var err error
	switch obj := obj.(type) {
	case *corev1.Node:
		stored, err = fake.Create(h.server.Cluster, obj)
	case *corev1.Pod:
		stored, err = fake.Create(h.server.Cluster, obj)
	case *appsv1.DaemonSet:
		stored, err = fake.Create(h.server.Cluster, obj)
	case *appsv1.ControllerRevision:
		stored, err = fake.Create(h.server.Cluster, obj)
	}
	require.NoError(t, err)
	return stored
}

func (h *harness) Remove(t *testing.T, obj runtime.Object) {
	t.Helper()
	var err error
	switch obj := obj.(type) {
	case *corev1.Node:
		err = fake.Delete[*corev1.Node](h.server.Cluster, client.ObjectKeyFromObject(obj), fake.DeleteOptions{})
	case *corev1.Pod:
		err = fake.Delete[*corev1.Pod](h.server.Cluster, client.ObjectKeyFromObject(obj), fake.DeleteOptions{})
	case *appsv1.DaemonSet:
		err = fake.Delete[*appsv1.DaemonSet](h.server.Cluster, client.ObjectKeyFromObject(obj), fake.DeleteOptions{})
	case *appsv1.ControllerRevision:
		err = fake.Delete[*appsv1.ControllerRevision](h.server.Cluster, client.ObjectKeyFromObject(obj), fake.DeleteOptions{})
	}
	require.NoError(t, err)
}

func (h *harness) Recorded(*testing.T) []fake.RecordedEvent {
	h.recorder.mu.Lock()
	defer h.recorder.mu.Unlock()
	return h.recorder.recorded
}

// cachedHarness runs the contract on a cache, with or without its indexes.
type cachedHarness struct {
	*harness

	cache cache.Cache
}

func newCachedHarness(t *testing.T, options cache.Options) *cachedHarness {
	t.Helper()
	h := &cachedHarness{harness: newHarness(t)}
	h.cache = newCacheOn(t, h.server, options)
	return h
}

func newCacheOn(tb testing.TB, s *apiServer, options cache.Options) cache.Cache {
	tb.Helper()
	options.Scheme, options.Mapper = scheme.Scheme, mapper()
	c, err := cache.New(s.config(), options)
	require.NoError(tb, err)
	return c
}

// start starts the cache, in the way in which a manager has it started.
func (h *cachedHarness) start(t *testing.T) {
	t.Helper()
	startCache(t, h.cache)
}

func startCache(tb testing.TB, c cache.Cache) {
	tb.Helper()
	ctx, stop := context.WithCancel(tb.Context())
	ended := make(chan error)
	go func() { ended <- c.Start(ctx) }()
	tb.Cleanup(func() {
		stop()
		require.NoError(tb, <-ended)
	})
	require.True(tb, c.WaitForCacheSync(ctx))
}

// Sync waits for the stores; Hold and the end of it are of all kinds at once.
func (h *cachedHarness) Sync(t *testing.T) {
	t.Helper()
	h.server.log.release()
	for kind, obj := range map[fake.Kind]client.Object{
		fake.NodeKind: &corev1.Node{}, fake.PodKind: &corev1.Pod{},
		fake.DaemonSetKind: &appsv1.DaemonSet{}, fake.RevisionKind: &appsv1.ControllerRevision{},
	} {
		wanted := h.server.log.latest(kind)
		informer, err := h.cache.GetInformer(t.Context(), obj)
		require.NoError(t, err)
		store := informer.(toolscache.SharedIndexInformer).GetIndexer()
		require.Eventually(t, func() bool {
			return number(store.LastStoreSyncResourceVersion()) >= wanted
		}, eventually, time.Millisecond, kind)
	}
}

func (h *cachedHarness) Hold(*testing.T) { h.server.log.hold() }

func TestContractWithoutCache(t *testing.T) {
	fake.TestClusterAPI(t, func(t *testing.T) fake.Harness { t.Helper(); return newHarness(t) })
}

func TestContractOnIndexedCache(t *testing.T) {
	fake.TestClusterAPI(t, func(t *testing.T) fake.Harness {
		t.Helper()
		h := newCachedHarness(t, cache.Options{ByObject: controllerruntime.Diet()})
		require.NoError(t, h.api.ReadFrom(t.Context(), h.cache))
		h.start(t)
		return h
	})
}

// TestContractOnCachedClient is about a client that reads from a cache by itself, as that of
// a manager does.
func TestContractOnCachedClient(t *testing.T) {
	fake.TestClusterAPI(t, func(t *testing.T) fake.Harness {
		t.Helper()
		h := newCachedHarness(t, cache.Options{})
		cached, err := client.New(h.server.config(), client.Options{
			Scheme: scheme.Scheme, Mapper: mapper(), Cache: &client.CacheOptions{Reader: h.cache},
		})
		require.NoError(t, err)
		h.api = controllerruntime.New(cached, h.server.plainClient(t), h.recorder)
		h.start(t)
		return h
	})
}

// TestAsOf: what an observation says of its age is never empty where the cache can tell,
// or nothing would protect from stale reads.
func TestAsOf(t *testing.T) {
	indexed := func(t *testing.T, options cache.Options) *cachedHarness {
		t.Helper()
		h := newCachedHarness(t, options)
		require.NoError(t, h.api.ReadFrom(t.Context(), h.cache))
		h.start(t)
		return h
	}
	tests := []struct {
		name  string
		why   string
		api   func(t *testing.T) *harness
		known bool
	}{
		{"no cache", "the server says of each list how old it is", newHarness, true},
		{"one cache", "its store knows", func(t *testing.T) *harness { t.Helper(); return indexed(t, cache.Options{}).harness }, true},
		{"a cache for each namespace", "several stores have no common age", func(t *testing.T) *harness {
			t.Helper()
			return indexed(t, cache.Options{DefaultNamespaces: map[string]cache.Config{"ns": {}, "other": {}}}).harness
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := tt.api(t)
			set := h.Create(t, agent()).(*appsv1.DaemonSet)
			var seen clusterapi.Observation
			require.Eventually(t, func() bool {
				var err error
				seen, err = h.api.Observe(t.Context(), client.ObjectKeyFromObject(set))
				return err == nil
			}, eventually, time.Millisecond)
			require.Equal(t, set.ResourceVersion, seen.AsOf.DaemonSets)
			require.Equal(t, tt.known, seen.AsOf.Pods != "", tt.why)
			require.Equal(t, tt.known, seen.AsOf.Revisions != "", tt.why)
		})
	}
}

// agent is a DaemonSet, ready to be created.
func agent() *appsv1.DaemonSet {
	labels := map[string]string{"app": "agent"}
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "agent"},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Image: "registry.example/agent:v1"}}},
			},
		},
	}
}
