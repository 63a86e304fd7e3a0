package controllerruntime_test

import (
	"fmt"
	"testing"

	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemonplan/daemonplan/clusterapi/controllerruntime"
)

// BenchmarkObserve observes a set of 2,000 nodes beside as many pods of others.
func BenchmarkObserve(b *testing.B) {
	const nodes = 2000
	server := newAPIServer(b)
	set, err := fake.Create(server.Cluster, agent())
	require.NoError(b, err)
	for i := range nodes {
		name := fmt.Sprintf("node-%04d", i)
		_, err := fake.Create(server.Cluster, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
		require.NoError(b, err)
		for _, owner := range []string{"DaemonSet", "ReplicaSet"} {
			pod := podOf(set, "", func(p *corev1.Pod) {
				p.UID, p.Spec.NodeName, p.Spec.Containers = "", name, set.Spec.Template.Spec.Containers
				p.OwnerReferences[0].Kind = owner
			})
			pod.Name = map[string]string{"DaemonSet": "ours-", "ReplicaSet": "theirs-"}[owner] + name
			_, err := fake.Create(server.Cluster, pod)
			require.NoError(b, err)
		}
	}
	c := newCacheOn(b, server, cache.Options{ByObject: controllerruntime.Diet()})
	api := controllerruntime.New(server.plainClient(b), server.plainClient(b), nil)
	require.NoError(b, api.ReadFrom(b.Context(), c))
	startCache(b, c)
	cached, err := client.New(server.config(), client.Options{Mapper: mapper(), Cache: &client.CacheOptions{Reader: c}})
	require.NoError(b, err)
	for name, api := range map[string]*controllerruntime.API{
		"indexed": api, "cached": controllerruntime.New(cached, cached, nil),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				seen, err := api.Observe(b.Context(), client.ObjectKeyFromObject(set))
				require.NoError(b, err)
				require.Len(b, seen.Objects.Nodes, nodes)
			}
		})
	}
}
