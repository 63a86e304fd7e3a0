package clientgo_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi/clientgo"
)

// newFitCaches are caches that count what pods hold.
func newFitCaches(t *testing.T, objects ...any) caches {
	t.Helper()
	return cachesOf(t, clientgo.NewFactoryForFit(newClient(), 0), clientgo.NewInformersForFit, objects...)
}

// on puts a pod of a container on a node.
func on(node string, p *corev1.Pod) *corev1.Pod {
	p.Spec.NodeName = node
	p.Spec.Containers = []corev1.Container{{Name: "main", Image: "registry.example/web:v1"}}
	return p
}

// beside is what an observation says of the pods of others.
func (c caches) beside(t *testing.T) daemonset.Beside {
	t.Helper()
	seen, err := c.Observe(t.Context(), agent)
	require.NoError(t, err)
	require.NotNil(t, seen.Beside)
	return seen.Beside
}

func TestObserveBeside(t *testing.T) {
	pinned := on("", pod("web", "pinned", "ReplicaSet", "rs"))
	pinned.Spec.Affinity = placement.PinTo(nil, "a")
	c := newFitCaches(
		t, agentSet(), on("a", pod("ops", "own", "DaemonSet", "set-1")), on("a", pod("web", "of another", "ReplicaSet", "rs")), pinned,
		on("a", pod("kube-system", "static", "Node", "node-a")), on("b", pod("ops", "orphan", "", "")), on("", pod("web", "nowhere", "", "")),
	)
	store := c.factory.Core().V1().Pods().Informer().GetIndexer()
	first := c.beside(t)
	assert.Equal(t, 4, first("a").Len(), "pods of all namespaces and owners, pinned ones too")
	assert.Equal(t, 1, first("b").Len())
	assert.Zero(t, first("c").Len())
	assert.Same(t, first("a"), c.beside(t)("a"), "nothing has changed there")

	large := on("a", pod("web", "of another", "ReplicaSet", "rs"))
	large.Spec.HostNetwork = true
	large.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80}}
	require.NoError(t, store.Update(large))
	assert.NotEqual(t, first("a"), c.beside(t)("a"))
	assert.Same(t, first("b"), c.beside(t)("b"))

	require.NoError(t, store.Update(on("b", pod("web", "nowhere", "", ""))))
	require.NoError(t, store.Delete(pinned))
	second := c.beside(t)
	assert.Equal(t, 3, second("a").Len())
	assert.Equal(t, 2, second("b").Len())
	assert.Equal(t, 4, first("a").Len(), "an observation stays as it was")
	assert.Equal(t, 1, first("b").Len())
}

// TestObserveBesideWhilePodsCome: no count is older than the cache was when it was asked.
func TestObserveBesideWhilePodsCome(t *testing.T) {
	c := newFitCaches(t, agentSet())
	store := c.factory.Core().V1().Pods().Informer().GetIndexer()
	var others sync.WaitGroup
	done := make(chan struct{})
	others.Go(func() { // asks all the time, and keeps what it gets
		for {
			select {
			case <-done:
				return
			default:
				c.beside(t)("a")
			}
		}
	})
	for i := range 500 {
		require.NoError(t, store.Add(on("a", pod("web", fmt.Sprint("p", i), "", ""))))
		require.Equal(t, i+1, c.beside(t)("a").Len())
	}
	close(done)
	others.Wait()
}

// TestObserveWithoutRoom: a cache that drops what has to be counted must not be taken for a
// cluster of pods that hold nothing.
func TestObserveWithoutRoom(t *testing.T) {
	factory := clientgo.NewFactory(newClient(), 0)
	informers, err := clientgo.NewInformersForFit(factory)
	require.NoError(t, err)
	api, err := clientgo.NewAPI(newClient(), informers, nil)
	require.NoError(t, err)
	c := caches{informers, api, factory}
	c.put(t, agentSet())
	c.beside(t)
	c.put(t, trim(t, realisticPod(1, "ReplicaSet")))
	_, err = api.Observe(t.Context(), agent)
	require.ErrorIs(t, err, clusterapi.ErrAdapter)
	require.ErrorContains(t, err, "pod kube-system/agent-1 has no containers")

	controller, err := clientgo.New(clientgo.Config{
		Client: newClient(realisticPod(1, "ReplicaSet")), Driver: placing(), Factory: clientgo.NewFactory(newClient(realisticPod(1, "ReplicaSet")), 0),
	})
	require.NoError(t, err)
	require.ErrorContains(t, controller.Run(t.Context()), "NewFactoryForFit")
}

func placing() clusterapi.Config {
	return clusterapi.Config{Options: daemonset.Options{Fit: &placement.FitOptions{}}}
}

// TestBesideAfterANewList: pods that are not in a new list leave no trace in an index, so it
// is their events that make room.
func TestBesideAfterANewList(t *testing.T) {
	h := newHarness(t)
	factory := clientgo.NewFactoryForFit(h.server.clientset(t), 0)
	informers, err := clientgo.NewInformersForFit(factory)
	require.NoError(t, err)
	api, err := clientgo.NewAPI(h.server.clientset(t), informers, nil)
	require.NoError(t, err)
	driver, err := clusterapi.NewDriver(clusterapi.Config{API: api, Options: placing().Options})
	require.NoError(t, err)
	gone := created(t, h, on("node-0", pod("web", "last", "", "")))
	created(t, h, agentSet())
	sink := &wakes{}
	_, err = informers.Handle(driver.NewFeed(informers.PodsOn), sink)
	require.NoError(t, err)
	factory.StartWithContext(t.Context())
	require.NoError(t, informers.WaitForSync(t.Context()))
	woken := func(w daemonset.Wakes) bool { return len(w.Sets) == 1 && w.Sets[0] == agent }
	sink.await(t, "the set", woken)
	created(t, h, node(0)) // which holds no pod at all
	sink.await(t, "the node", woken)
	sink.none(t)
	result, err := driver.Plan(t.Context(), agent)
	require.NoError(t, err)
	require.Len(t, result.Plan.Suspended, 1)

	held := func() int {
		seen, err := api.Observe(t.Context(), agent)
		require.NoError(t, err)
		return seen.Beside("node-0").Len()
	}
	require.Equal(t, 1, held())
	h.server.log.hold()
	removed(t, h, gone)
	h.server.log.expire() // the informers have to list again
	// The new list of DaemonSets may wake the set before that of pods does.
	sink.await(t, "a wake with which the room shows", func(w daemonset.Wakes) bool { return woken(w) && held() == 0 })
	_, err = fake.Get[*corev1.Pod](h.server.Cluster, types.NamespacedName{Namespace: "web", Name: "last"})
	require.Error(t, err)
}
