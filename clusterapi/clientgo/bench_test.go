package clientgo_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/daemonplan/daemonplan/clusterapi/clientgo"
)

// BenchmarkObserve reads what a pass for a set on 5,000 nodes reads, in a cluster with
// 100,000 pods of others.
func BenchmarkObserve(b *testing.B) {
	client := fake.NewClientset()
	factory := clientgo.NewFactory(client, 0)
	informers, err := clientgo.NewInformers(factory)
	require.NoError(b, err)
	api, err := clientgo.NewAPI(client, informers, nil)
	require.NoError(b, err)
	pods, nodes := factory.Core().V1().Pods().Informer().GetIndexer(), factory.Core().V1().Nodes().Informer().GetIndexer()
	require.NoError(b, factory.Apps().V1().DaemonSets().Informer().GetIndexer().Add(agentSet()))
	for i := range 5000 {
		require.NoError(b, nodes.Add(trim(b, realisticNode(i))))
		require.NoError(b, pods.Add(trim(b, ownedPod(i))))
	}
	for i := range 100_000 {
		pod := trim(b, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "web", Name: fmt.Sprintf("web-%d", i),
			OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web", UID: "web", Controller: new(true)}},
		}})
		require.NoError(b, pods.Add(pod))
	}
	observe := func(b *testing.B) daemonset.Objects {
		b.Helper()
		seen, err := api.Observe(b.Context(), agent)
		if err != nil || len(seen.Objects.Pods) != 5000 || len(seen.Objects.Nodes) != 5000 {
			b.Fatal(len(seen.Objects.Pods), len(seen.Objects.Nodes), err)
		}
		return seen.Objects
	}
	b.Run("observe", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			observe(b)
		}
	})
	seen := observe(b)
	compute := func(b *testing.B) {
		b.Helper()
		for b.Loop() {
			_, err := daemonset.Compute(daemonset.Snapshot{Objects: seen}, daemonset.Options{})
			require.NoError(b, err)
		}
	}
	b.Run("compute", compute)
	slices.SortFunc(seen.Nodes, func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	b.Run("compute, nodes sorted", compute)
	slices.SortFunc(seen.Pods, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	b.Run("compute, pods sorted too", compute)
}

// ownedPod is the agent's pod on the realistic node of that number.
func ownedPod(i int) *corev1.Pod {
	pod := realisticPod(i, "DaemonSet")
	pod.Namespace = agent.Namespace
	pod.UID = types.UID(fmt.Sprintf("pod-%d", i))
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(agentSet(), daemonSetKind)}
	return pod
}

// BenchmarkPlace observes and plans with Options.Fit on 5,000 nodes with 100,000 pods of
// others: while nothing changes, when a pod on each of a hundred nodes has changed, and as
// it would be if all were counted in every pass.
func BenchmarkPlace(b *testing.B) {
	c := caches{factory: clientgo.NewFactoryForFit(fake.NewClientset(), 0)}
	var err error
	c.Informers, err = clientgo.NewInformersForFit(c.factory)
	require.NoError(b, err)
	c.API, err = clientgo.NewAPI(fake.NewClientset(), c.Informers, nil)
	require.NoError(b, err)
	pods, nodes := c.factory.Core().V1().Pods().Informer().GetIndexer(), c.factory.Core().V1().Nodes().Informer().GetIndexer()
	require.NoError(b, c.factory.Apps().V1().DaemonSets().Informer().GetIndexer().Add(agentSet()))
	var others []*corev1.Pod
	for i := range 100_000 {
		pod := trimForFit(b, realisticPod(i%5000, "ReplicaSet"))
		pod.Name = fmt.Sprintf("web-%d", i)
		others = append(others, pod)
		require.NoError(b, pods.Add(pod))
	}
	for i := range 5000 {
		require.NoError(b, nodes.Add(trimForFit(b, realisticNode(i))))
		require.NoError(b, pods.Add(trimForFit(b, ownedPod(i))))
	}
	plan := func(b *testing.B, change func(*daemonset.Snapshot, *daemonset.Options)) {
		b.Helper()
		seen, err := c.Observe(b.Context(), agent)
		require.NoError(b, err)
		snapshot, options := daemonset.Snapshot{Objects: seen.Objects}, placing().Options
		options.Beside = seen.Beside
		change(&snapshot, &options)
		_, err = daemonset.Compute(snapshot, options)
		require.NoError(b, err)
	}
	asIs := func(*daemonset.Snapshot, *daemonset.Options) {}
	plan(b, asIs)
	b.Run("nothing has changed", func(b *testing.B) {
		for b.Loop() {
			plan(b, asIs)
		}
	})
	b.Run("100 nodes have changed", func(b *testing.B) {
		for b.Loop() {
			for i := range 100 {
				require.NoError(b, pods.Update(others[i]))
			}
			plan(b, asIs)
		}
	})
	b.Run("all counted anew", func(b *testing.B) {
		for b.Loop() {
			plan(b, func(s *daemonset.Snapshot, o *daemonset.Options) { s.Objects.Others, o.Beside = others, nil })
		}
	})
}
