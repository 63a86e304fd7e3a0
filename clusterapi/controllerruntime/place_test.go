package controllerruntime_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/daemonplan/daemonplan/clusterapi/controllerruntime"
)

func placing() clusterapi.Config {
	return clusterapi.Config{Options: daemonset.Options{Fit: &placement.FitOptions{}}}
}

// addRoom adds a node for so many pods.
func (s *apiServer) addRoom(t *testing.T, name, pods string) {
	t.Helper()
	_, err := fake.Create(s.Cluster, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status:     corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourcePods: quantity.MustParse(pods)}},
	})
	require.NoError(t, err)
}

// stranger puts a pod on a node that another controller has made.
func (s *apiServer) stranger(t *testing.T, node string) *corev1.Pod {
	t.Helper()
	stored, err := fake.Create(s.Cluster, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "stranger", OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "batch/v1", Kind: "Job", Name: "job", UID: "job", Controller: new(true),
		}}},
		Spec: corev1.PodSpec{NodeName: node, RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "registry.example/web:v1"}}},
	})
	require.NoError(t, err)
	return stored
}

// TestPlaces: a pod is bound where there is room, and on the other node when a job there ends.
func TestPlaces(t *testing.T) {
	s := newAPIServer(t)
	s.addRoom(t, "a", "5")
	s.addRoom(t, "b", "1")
	job := s.stranger(t, "b")
	_, err := fake.Create(s.Cluster, agent())
	require.NoError(t, err)
	var suspended atomic.Int64
	r := &running{apiServer: s}
	r.start(t, newManagerWith(t, s, cache.Options{}), controllerruntime.Options{
		Driver: placing(),
		Reconciler: controllerruntime.ReconcilerOptions{OnPass: func(p clusterapi.Pass) {
			suspended.Store(int64(len(p.Result.Plan.Suspended)))
		}},
	})
	placed := func() (nodes []string) {
		for _, p := range fake.List[*corev1.Pod](s.Cluster, "ns") {
			nodes = append(nodes, p.Spec.NodeName)
		}
		return nodes
	}
	require.Eventually(t, func() bool { return len(placed()) == 1 && suspended.Load() == 1 }, eventually, 5*time.Millisecond)
	require.Equal(t, []string{"a"}, placed(), "bound when it was created")

	stored, err := fake.Get[*corev1.Pod](s.Cluster, types.NamespacedName{Namespace: job.Namespace, Name: job.Name})
	require.NoError(t, err)
	ended := stored.DeepCopy()
	ended.Status.Phase = corev1.PodSucceeded
	_, err = fake.UpdateStatus(s.Cluster, ended)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(placed()) == 2 && suspended.Load() == 0 }, eventually, 5*time.Millisecond, "the job has ended")
}

// TestPlacesOnWholeObjectsOnly: on a diet pods would be taken for such that hold nothing.
func TestPlacesOnWholeObjectsOnly(t *testing.T) {
	s := newAPIServer(t)
	s.addRoom(t, "a", "5")
	s.stranger(t, "a")
	_, err := fake.Create(s.Cluster, agent())
	require.NoError(t, err)
	errs := make(chan error, 100)
	r := &running{apiServer: s}
	r.start(t, newManager(t, s), controllerruntime.Options{
		Driver:     placing(),
		Reconciler: controllerruntime.ReconcilerOptions{OnPass: func(p clusterapi.Pass) { errs <- p.Err }},
	})
	err = <-errs
	require.ErrorIs(t, err, clusterapi.ErrAdapter)
	require.ErrorContains(t, err, "leave out the Diet")
	require.Empty(t, fake.List[*corev1.Pod](s.Cluster, "ns"))
}

// TestObserveOthers: whatever the reader, the pods of all namespaces, or an error.
func TestObserveOthers(t *testing.T) {
	s := newAPIServer(t)
	s.addRoom(t, "a", "5")
	s.stranger(t, "a")
	_, err := fake.Create(s.Cluster, agent())
	require.NoError(t, err)

	plain := controllerruntime.New(s.plainClient(t), s.plainClient(t), nil)
	seen, err := plain.Observe(t.Context(), agentKey)
	require.NoError(t, err)
	require.Empty(t, seen.Objects.Others, "nobody asked")
	plain.ObserveOthers()
	seen, err = plain.Observe(t.Context(), agentKey)
	require.NoError(t, err)
	require.Len(t, seen.Objects.Others, 1)

	for name, options := range map[string]cache.Options{
		"all":     {},
		"several": {DefaultNamespaces: map[string]cache.Config{"ns": {}, "web": {}}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCacheOn(t, s, options)
			api := controllerruntime.New(s.plainClient(t), s.plainClient(t), nil)
			require.NoError(t, api.ReadFrom(t.Context(), c))
			api.ObserveOthers()
			startCache(t, c)
			seen, err := api.Observe(t.Context(), agentKey)
			if name == "several" {
				require.ErrorIs(t, err, clusterapi.ErrAdapter)
				require.ErrorContains(t, err, "all namespaces")
				return
			}
			require.NoError(t, err)
			require.Len(t, seen.Objects.Others, 1)
		})
	}
}
