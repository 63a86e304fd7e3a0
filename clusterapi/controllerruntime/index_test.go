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
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemonplan/daemonplan/clusterapi/controllerruntime"
)

// hooked is a cache that lets something happen before each look at pods, and counts what the
// looks return.
type hooked struct {
	cache.Cache

	several bool // hides that there is but one store
	before  func(look int)
	looks   int
	listed  int
	refuses error // what IndexField answers, if not nil
}

func (h *hooked) look() {
	h.looks++
	h.before(h.looks)
}

// List implements client.Reader.
func (h *hooked) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	pods, ok := list.(*corev1.PodList)
	if ok {
		h.look()
	}
	err := h.Cache.List(ctx, list, options...)
	if ok {
		h.listed += len(pods.Items)
	}
	return err
}

// GetInformer implements cache.Informers.
func (h *hooked) GetInformer(ctx context.Context, obj client.Object, options ...cache.InformerGetOption) (cache.Informer, error) {
	informer, err := h.Cache.GetInformer(ctx, obj, options...)
	if h.several {
		return struct{ cache.Informer }{informer}, err
	}
	single, ok := informer.(toolscache.SharedIndexInformer)
	if !ok {
		return informer, err
	}
	return &hookedInformer{single, h}, err
}

type hookedInformer struct {
	toolscache.SharedIndexInformer

	hook *hooked
}

// GetIndexer implements toolscache.SharedIndexInformer.
func (i *hookedInformer) GetIndexer() toolscache.Indexer {
	return &hookedStore{i.SharedIndexInformer.GetIndexer(), i.hook}
}

type hookedStore struct {
	toolscache.Indexer

	hook *hooked
}

// ByIndex implements toolscache.Indexer.
func (s *hookedStore) ByIndex(index, value string) ([]any, error) {
	ofPods := index != toolscache.NamespaceIndex
	if ofPods {
		s.hook.look()
	}
	objects, err := s.Indexer.ByIndex(index, value)
	if ofPods {
		s.hook.listed += len(objects)
	}
	return objects, err
}

// IndexField implements client.FieldIndexer.
func (h *hooked) IndexField(ctx context.Context, obj client.Object, field string, extract client.IndexerFunc) error {
	if h.refuses != nil {
		return h.refuses
	}
	return h.Cache.IndexField(ctx, obj, field, extract)
}

func newHooked(t *testing.T, several bool) (*cachedHarness, *hooked) {
	t.Helper()
	h := newCachedHarness(t, cache.Options{})
	c := &hooked{Cache: h.cache, several: several, before: func(int) {}}
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
	for _, several := range []bool{false, true} {
		for _, adopted := range []bool{true, false} {
			for look := 1; look <= 3; look++ {
				changeHands(t, several, adopted, look)
			}
		}
	}
}

func changeHands(t *testing.T, several, adopted bool, look int) {
	t.Helper()
	h, c := newHooked(t, several)
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
	require.Len(t, seen.Objects.Pods, 1, "several stores %t, adopted %t before look %d", several, adopted, look)
}

// TestObserveCost: an observation costs what the set has, not what the cluster has.
func TestObserveCost(t *testing.T) {
	for _, several := range []bool{false, true} {
		h, c := newHooked(t, several)
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
		found := names(seen.Objects.Pods)
		slices.Sort(found)
		require.Equal(t, []string{"pod-a", "pod-b"}, found)
		require.Equal(t, 3, c.listed, "one of ours, and the orphan twice")
	}
}

// TestObserveShares: nothing is copied on the way from the cache, with one store or several.
func TestObserveShares(t *testing.T) {
	for _, several := range []bool{false, true} {
		h, _ := newHooked(t, several)
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
		require.Equal(t, several, second.Objects.Pods[0] != first.Objects.Pods[0], "of one store, not even the object itself")
	}
}

func TestReadFrom(t *testing.T) {
	h := newCachedHarness(t, cache.Options{})
	refused := errors.New("no such cache")
	require.ErrorIs(t, h.api.ReadFrom(t.Context(), &hooked{Cache: h.cache, several: true, refuses: refused}), refused)
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
