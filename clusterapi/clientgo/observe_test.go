package clientgo_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"

	"github.com/daemonplan/daemonplan/clusterapi/clientgo"
)

// caches are informers that a test fills by hand.
type caches struct {
	*clientgo.Informers
	*clientgo.API

	factory informers.SharedInformerFactory
}

func newCaches(t *testing.T, objects ...any) caches {
	t.Helper()
	return cachesOf(t, clientgo.NewFactory(newClient(), 0), clientgo.NewInformers, objects...)
}

// cachesOf fills the caches of a factory, and starts nothing.
func cachesOf(
	t *testing.T, factory informers.SharedInformerFactory,
	build func(informers.SharedInformerFactory) (*clientgo.Informers, error), objects ...any,
) caches {
	t.Helper()
	c := caches{factory: factory}
	var err error
	c.Informers, err = build(factory)
	require.NoError(t, err)
	c.API, err = clientgo.NewAPI(newClient(), c.Informers, nil)
	require.NoError(t, err)
	for _, object := range objects {
		c.put(t, object)
	}
	return c
}

func (c caches) put(t *testing.T, object any) {
	t.Helper()
	var err error
	switch object.(type) {
	case *corev1.Pod:
		err = c.factory.Core().V1().Pods().Informer().GetIndexer().Add(object)
	case *corev1.Node:
		err = c.factory.Core().V1().Nodes().Informer().GetIndexer().Add(object)
	case *appsv1.DaemonSet:
		err = c.factory.Apps().V1().DaemonSets().Informer().GetIndexer().Add(object)
	case *appsv1.ControllerRevision:
		err = c.factory.Apps().V1().ControllerRevisions().Informer().GetIndexer().Add(object)
	}
	require.NoError(t, err)
}

func names[T metav1.Object](objects []T) []string {
	var all []string
	for _, o := range objects {
		all = append(all, o.GetNamespace()+"/"+o.GetName())
	}
	return all
}

// pod is one of the namespace and with the controller that are given; none for an empty kind.
func pod(namespace, name, kind string, owner types.UID) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(name), Labels: map[string]string{"app": "agent"}}}
	if kind != "" {
		p.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: agent.Name, UID: owner, Controller: new(true)}}
	}
	return p
}

func TestObserve(t *testing.T) {
	revision := func(namespace, name string) *appsv1.ControllerRevision {
		return &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	c := newCaches(
		t, agentSet(), node(2), node(0), node(1),
		pod("ops", "owned", "DaemonSet", "set-1"), pod("ops", "orphan", "", ""),
		pod("ops", "of another", "DaemonSet", "set-2"), pod("ops", "of a ReplicaSet", "ReplicaSet", "set-1"),
		pod("web", "orphan elsewhere", "", ""),
		revision("ops", "ours"), revision("ops", "another's"), revision("web", "elsewhere"),
	)
	seen, err := c.Observe(t.Context(), agent)
	require.NoError(t, err)
	assert.Equal(t, types.UID("set-1"), seen.Objects.DaemonSet.UID)
	assert.Equal(t, []string{"/node-0", "/node-1", "/node-2"}, names(seen.Objects.Nodes), "by name, so that plans need not sort")
	assert.ElementsMatch(t, []string{"ops/owned", "ops/orphan"}, names(seen.Objects.Pods))
	assert.ElementsMatch(t, []string{"ops/ours", "ops/another's"}, names(seen.Objects.Revisions))
}

// TestObserveNodes: the list is kept, and never too long.
func TestObserveNodes(t *testing.T) {
	c := newCaches(t, agentSet(), node(1), node(2))
	store := c.factory.Core().V1().Nodes().Informer().GetIndexer()
	list := func() []*corev1.Node {
		seen, err := c.Observe(t.Context(), agent)
		require.NoError(t, err)
		return seen.Objects.Nodes
	}
	first := list()
	require.Same(t, &first[0], &list()[0], "nothing has changed")
	c.put(t, pod("ops", "p", "", ""))
	require.Same(t, &first[0], &list()[0], "no node has changed")

	tainted := node(2)
	tainted.Spec.Taints = []corev1.Taint{{Key: "full"}}
	require.NoError(t, store.Update(tainted))
	require.Len(t, list()[1].Spec.Taints, 1)
	require.Empty(t, first[1].Spec.Taints, "a list that was handed out stays as it was")
	require.NoError(t, store.Delete(node(1)))
	require.Equal(t, []string{"/node-2"}, names(list()))
	require.NoError(t, store.Replace([]any{node(5), node(4)}, "7"))
	require.Equal(t, []string{"/node-4", "/node-5"}, names(list()))
	require.NoError(t, store.Replace(nil, "8"))
	require.Empty(t, list())
	c.put(t, node(0))
	require.Equal(t, []string{"/node-0"}, names(list()))
}

// TestInformersShareAFactory: two may be built on one, and both see all.
func TestInformersShareAFactory(t *testing.T) {
	c := newCaches(t, agentSet(), node(0))
	second, err := clientgo.NewInformers(c.factory)
	require.NoError(t, err)
	api, err := clientgo.NewAPI(newClient(), second, nil)
	require.NoError(t, err)
	for i := range 3 {
		c.put(t, node(i))
		for _, a := range []*clientgo.API{c.API, api} {
			seen, err := a.Observe(t.Context(), agent)
			require.NoError(t, err)
			require.Len(t, seen.Objects.Nodes, i+1)
		}
	}
}

// TestObserveSeesEveryPodOnce: a pod that changes hands while it is looked for is neither
// missed, which would make a twin, nor seen twice, of which no plan can be made.
func TestObserveSeesEveryPodOnce(t *testing.T) {
	c := newCaches(t, agentSet(), pod("ops", "other", "", ""))
	owned, orphan := pod("ops", "p", "DaemonSet", "set-1"), pod("ops", "p", "", "")
	c.put(t, owned)
	store := c.factory.Core().V1().Pods().Informer().GetIndexer()
	turns, orphanings, adoptions := make(chan *corev1.Pod), 0, 0
	var turning sync.WaitGroup
	turning.Go(func() {
		for p := range turns {
			_ = store.Update(p)
		}
	})
	defer turning.Wait()
	defer close(turns)
	for i := range 20_000 {
		next := owned
		if i%2 == 0 {
			next = orphan
		}
		turns <- next // one change of hands while Observe looks
		seen, err := c.Observe(t.Context(), agent)
		require.NoError(t, err)
		got := names(seen.Objects.Pods)
		slices.Sort(got)
		require.Equal(t, []string{"ops/other", "ops/p"}, got)
		at := slices.IndexFunc(seen.Objects.Pods, func(p *corev1.Pod) bool { return p.Name == "p" })
		switch seen.Objects.Pods[at] {
		case next: // seen after it
		case owned:
			orphanings++
		case orphan:
			adoptions++
		}
	}
	t.Logf("of 20,000 changes of hands %d orphanings and %d adoptions came while it looked", orphanings, adoptions)
}

func TestPodsOn(t *testing.T) {
	on := func(p *corev1.Pod, node string) *corev1.Pod {
		p.Spec.NodeName = node
		return p
	}
	pinned := trim(t, realisticPod(7, "DaemonSet"))
	pinned.Spec.NodeName = ""
	full := realisticPod(7, "DaemonSet")
	full.Name, full.Spec.NodeName = "pinned", ""
	c := newCaches(
		t, on(pod("ops", "a", "DaemonSet", "set-1"), "n"), on(pod("web", "b", "DaemonSet", "set-2"), "n"),
		on(pod("ops", "elsewhere", "DaemonSet", "set-1"), "m"), on(pod("ops", "orphan", "", ""), "n"),
		on(pod("ops", "web", "ReplicaSet", "set-1"), "n"), pod("ops", "nowhere", "DaemonSet", "set-1"), trim(t, full),
	)
	assert.ElementsMatch(t, []string{"ops/a", "web/b"}, names(c.PodsOn("n")))
	assert.Equal(t, []string{"kube-system/pinned"}, names(c.PodsOn("ip-10-0-7.compute.internal")))
	assert.Empty(t, c.PodsOn(""))
}
