package controllerruntime_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemonplan/daemonplan/clusterapi/controllerruntime"
)

// hooked is a cache that lets something happen before each list of pods, and counts what
// the lists return.
type hooked struct {
	cache.Cache

	before  func(look int)
	looks   int
	listed  int
	refuses error // what IndexField answers, if not nil
}

// List implements client.Reader.
func (h *hooked) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	pods, ok := list.(*corev1.PodList)
	if ok {
		h.looks++
		h.before(h.looks)
	}
	err := h.Cache.List(ctx, list, options...)
	if ok {
		h.listed += len(pods.Items)
	}
	return err
}

// IndexField implements client.FieldIndexer.
func (h *hooked) IndexField(ctx context.Context, obj client.Object, field string, extract client.IndexerFunc) error {
	if h.refuses != nil {
		return h.refuses
	}
	return h.Cache.IndexField(ctx, obj, field, extract)
}

func newHooked(t *testing.T) (*cachedHarness, *hooked) {
	t.Helper()
	h := newCachedHarness(t, cache.Options{})
	c := &hooked{Cache: h.cache, before: func(int) {}}
	require.NoError(t, h.api.ReadFrom(t.Context(), c))
	h.start(t)
	return h, c
}

func controlled(set *appsv1.DaemonSet) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))}
	}
}

func uncontrolled(p *corev1.Pod) { p.OwnerReferences = nil }

// TestObserveChangingHands: a pod that changes hands while Observe looks is never missed, at
// whichever moment, and never returned twice. A pod that is missed gets a twin.
func TestObserveChangingHands(t *testing.T) {
	for look := 1; look <= 3; look++ {
		for _, adopted := range []bool{true, false} {
			h, c := newHooked(t)
			set := h.Create(t, agent()).(*appsv1.DaemonSet)
			was, is := controlled(set), uncontrolled
			if adopted {
				was, is = uncontrolled, controlled(set)
			}
			pod := podOf(set, "")
			pod.UID, pod.Spec.Containers = "", set.Spec.Template.Spec.Containers
			was(pod)
			h.Create(t, pod)
			h.Sync(t)
			c.before = func(l int) {
				if l == look {
					_, err := fake.Edit(h.server.Cluster, client.ObjectKeyFromObject(pod), is)
					require.NoError(t, err)
					h.Sync(t)
				}
			}
			seen, err := h.api.Observe(t.Context(), client.ObjectKeyFromObject(set))
			require.NoError(t, err)
			require.GreaterOrEqual(t, c.looks, look, "the pod did not change hands in between")
			require.Len(t, seen.Objects.Pods, 1, "adopted %t before look %d", adopted, look)
		}
	}
}

// TestObserveCost: an observation costs what the set has, not what the cluster has.
func TestObserveCost(t *testing.T) {
	h, c := newHooked(t)
	set := h.Create(t, agent()).(*appsv1.DaemonSet)
	for i := range 20 {
		pod := podOf(set, "", func(p *corev1.Pod) { p.UID, p.Spec.Containers = "", set.Spec.Template.Spec.Containers })
		pod.Name = "pod-" + string(rune('a'+i))
		switch {
		case i == 0: // ours
		case i == 1:
			uncontrolled(pod)
		case i == 2:
			uncontrolled(pod)
			pod.Namespace = "other"
		case i < 10:
			pod.OwnerReferences[0].UID, pod.OwnerReferences[0].Name = "another", "another"
		default:
			pod.OwnerReferences[0].Kind = "ReplicaSet"
		}
		h.Create(t, pod)
	}
	h.Sync(t)
	seen, err := h.api.Observe(t.Context(), client.ObjectKeyFromObject(set))
	require.NoError(t, err)
	var names []string
	for _, pod := range seen.Objects.Pods {
		names = append(names, pod.Name)
	}
	slices.Sort(names)
	require.Equal(t, []string{"pod-a", "pod-b"}, names)
	require.Equal(t, 3, c.listed, "one of ours, and the orphan twice")
}

// TestObserveShares: nothing is copied on the way from the cache.
func TestObserveShares(t *testing.T) {
	h, _ := newHooked(t)
	set := h.Create(t, agent()).(*appsv1.DaemonSet)
	labels := map[string]string{"x": "y"}
	h.Create(t, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: labels}})
	h.Create(t, &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", Labels: labels},
		Data:       runtime.RawExtension{Raw: []byte(`{"spec":{}}`)},
	})
	h.Create(t, podOf(set, "", func(p *corev1.Pod) { p.UID, p.Labels, p.Spec = "", labels, set.Spec.Template.Spec }))
	h.Sync(t)
	first, err := h.api.Observe(t.Context(), client.ObjectKeyFromObject(set))
	require.NoError(t, err)
	second, err := h.api.Observe(t.Context(), client.ObjectKeyFromObject(set))
	require.NoError(t, err)
	// What Observe returns is not for writing; this shows whose it is.
	first.Objects.DaemonSet.Spec.Template.Labels["x"] = "z"
	first.Objects.Nodes[0].Labels["x"] = "z"
	first.Objects.Pods[0].Labels["x"] = "z"
	first.Objects.Revisions[0].Labels["x"] = "z"
	require.Equal(t, "z", second.Objects.DaemonSet.Spec.Template.Labels["x"])
	require.Equal(t, "z", second.Objects.Nodes[0].Labels["x"])
	require.Equal(t, "z", second.Objects.Pods[0].Labels["x"])
	require.Equal(t, "z", second.Objects.Revisions[0].Labels["x"])
}

func TestReadFrom(t *testing.T) {
	h := newCachedHarness(t, cache.Options{})
	refused := errors.New("no such cache")
	require.ErrorIs(t, h.api.ReadFrom(t.Context(), &hooked{Cache: h.cache, refuses: refused}), refused)
	require.NoError(t, h.api.ReadFrom(t.Context(), h.cache))
	another := controllerruntime.New(h.server.plainClient(t), h.server.plainClient(t), nil)
	require.NoError(t, another.ReadFrom(t.Context(), h.cache), "the indexes are there already")
	h.start(t)
	set := h.Create(t, agent()).(*appsv1.DaemonSet)
	h.Sync(t)
	_, err := another.Observe(t.Context(), client.ObjectKeyFromObject(set))
	require.NoError(t, err)
}

// TestObserveEnds: a cache that never fills does not hold a pass for longer than its context.
func TestObserveEnds(t *testing.T) {
	h := newCachedHarness(t, cache.Options{})
	require.NoError(t, h.api.ReadFrom(t.Context(), h.cache))
	_, err := h.api.Observe(t.Context(), types.NamespacedName{Namespace: "ns", Name: "agent"})
	require.Error(t, err, "the cache has not been started")
	h.server.http.Close() // so it cannot fill
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- h.cache.Start(ctx) }()
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.Eventually(t, func() bool {
		_, err = h.api.Observe(short, types.NamespacedName{Namespace: "ns", Name: "agent"})
		return short.Err() != nil
	}, eventually, time.Millisecond)
	require.Error(t, err)
	stop()
	require.NoError(t, <-ended)
}
