package e2e_test

import (
	"context"
	"fmt"
	"strconv"
	"syscall"
	"testing"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemonplan/daemonplan/examples/e2e/controlplane"
)

// contractHarness runs the contract of ClusterAPI on a real API server.
type contractHarness struct {
	plane *controlplane.Plane
	// direct is for writes, and for what users do.
	direct client.Client
	// cached is the configuration of what fills the caches, through a connection that can be
	// held.
	cached *rest.Config
	proxy  *controlplane.Proxy
	held   bool
	ns     string

	api    clusterapi.ClusterAPI
	stores func(t *testing.T) map[string]cache.Store // by kind
}

// bare is a control plane of an API server alone, where nothing happens by itself: a
// contract is about what the test does.
func bare(t *testing.T) *controlplane.Plane {
	t.Helper()
	plane, err := controlplane.Start(t.Context(), controlplane.Options{Bare: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, plane.Stop()) })
	return plane
}

func newContractHarness(t *testing.T, plane *controlplane.Plane) *contractHarness {
	t.Helper()
	h := &contractHarness{plane: plane}
	var err error
	h.direct, err = client.New(plane.Config, client.Options{Scheme: scheme.Scheme})
	require.NoError(t, err)
	h.proxy, err = plane.Proxy()
	require.NoError(t, err)
	kubeconfig, err := plane.Kubeconfig(controlplane.Admin(), "https://"+h.proxy.Address())
	require.NoError(t, err)
	h.cached, err = clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(t, err)
	h.cached.QPS = -1
	t.Cleanup(h.release)
	h.makeNamespace(t)
	return h
}

func (h *contractHarness) makeNamespace(t *testing.T) {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "contract-"}}
	require.NoError(t, h.direct.Create(t.Context(), ns))
	h.ns = ns.Name
	// Without it no pod is admitted, and its controller does not run here.
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: h.ns, Name: "default"}}
	require.NoError(t, h.direct.Create(t.Context(), account))
}

func (h *contractHarness) API() clusterapi.ClusterAPI { return h.api }
func (h *contractHarness) Namespace() string          { return h.ns }

func (h *contractHarness) Create(t *testing.T, obj runtime.Object) runtime.Object {
	t.Helper()
	stored := obj.DeepCopyObject().(client.Object)
	require.NoError(t, h.direct.Create(t.Context(), stored))
	return stored
}

func (h *contractHarness) Remove(t *testing.T, obj runtime.Object) {
	t.Helper()
	// The clean-up of a part is after the end of its context.
	ctx := context.Background()
	object := obj.(client.Object)
	require.NoError(t, client.IgnoreNotFound(h.direct.Delete(ctx, object, client.GracePeriodSeconds(0))))
	require.Eventually(t, func() bool {
		err := h.direct.Get(ctx, client.ObjectKeyFromObject(object), object.DeepCopyObject().(client.Object))
		return apierrors.IsNotFound(err)
	}, patience, step)
}

// WriteStatus does what kubelets do.
func (h *contractHarness) WriteStatus(t *testing.T, obj runtime.Object) runtime.Object {
	t.Helper()
	stored := obj.DeepCopyObject().(client.Object)
	require.NoError(t, h.direct.Status().Update(t.Context(), stored))
	return stored
}

// Hold keeps the caches from hearing anything.
func (h *contractHarness) Hold(*testing.T) {
	h.proxy.Hold()
	h.held = true
}

func (h *contractHarness) release() {
	if h.held {
		h.held = false
		h.proxy.Release()
	}
}

// Stall stops the API server in its tracks.
func (h *contractHarness) Stall(t *testing.T) (resume func()) {
	t.Helper()
	require.NoError(t, h.plane.APIServer.Signal(syscall.SIGSTOP))
	return func() { require.NoError(t, h.plane.APIServer.Signal(syscall.SIGCONT)) }
}

// Sync compares what the server has with what is in the stores.
func (h *contractHarness) Sync(t *testing.T) {
	t.Helper()
	h.release()
	if h.stores == nil {
		return // nothing is cached
	}
	stores := h.stores(t)
	for kind, list := range map[string]client.ObjectList{
		"nodes": &corev1.NodeList{}, "pods": &corev1.PodList{},
		"daemonsets": &appsv1.DaemonSetList{}, "revisions": &appsv1.ControllerRevisionList{},
	} {
		require.NoError(t, h.direct.List(t.Context(), list))
		var now string
		require.Eventually(t, func() bool {
			now = behind(list, stores[kind])
			return now == ""
		}, patience, step, "%s: %s", kind, now)
	}
}

// behind says what a store does not show of a list; empty if it shows all of it.
func behind(list client.ObjectList, store cache.Store) string {
	items, err := meta.ExtractList(list)
	if err != nil {
		return err.Error()
	}
	there := map[string]bool{}
	for _, item := range items {
		object := item.(client.Object)
		key, _ := cache.MetaNamespaceKeyFunc(object)
		there[key] = true
		cached, ok, _ := store.GetByKey(key)
		if !ok || number(cached.(client.Object).GetResourceVersion()) < number(object.GetResourceVersion()) {
			return key + " is missing or old"
		}
	}
	for _, key := range store.ListKeys() {
		if !there[key] {
			return key + " is still there"
		}
	}
	return ""
}

func number(version string) uint64 {
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("resource version %q", version))
	}
	return n
}

// Recorded waits for what is on its way.
func (h *contractHarness) Recorded(t *testing.T) []fake.RecordedEvent {
	t.Helper()
	var recorded []fake.RecordedEvent
	api := kubernetes.NewForConfigOrDie(h.plane.Config).CoreV1().Events(h.ns)
	require.Eventually(t, func() bool {
		list, err := api.List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		recorded = nil
		for _, event := range list.Items {
			about := event.InvolvedObject
			recorded = append(recorded, fake.RecordedEvent{
				About: daemonset.Ref{Namespace: about.Namespace, Name: about.Name, UID: about.UID},
				Event: daemonset.Event{Type: event.Type, Reason: event.Reason, Note: event.Message},
			})
		}
		return len(recorded) > 0
	}, patience, step)
	return recorded
}
