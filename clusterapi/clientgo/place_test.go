package clientgo_test

import (
	"testing"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemonplan/daemonplan/clusterapi/clientgo"
)

// rooms makes nodes with one cpu each.
func rooms(t *testing.T, s *server, nodeCount int) {
	t.Helper()
	for i := range nodeCount {
		n := node(i)
		n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourcePods: resource.MustParse("10")}
		_, err := fake.Create(s.Cluster, n)
		require.NoError(t, err)
	}
}

// asking is a set whose pods ask for cpu, or for a host port.
func asking(name, cpu string, port int32) *appsv1.DaemonSet {
	set := agentSet()
	set.Name, set.UID = name, ""
	set.Spec.Selector.MatchLabels = map[string]string{"app": name}
	set.Spec.Template.Labels = set.Spec.Selector.MatchLabels
	c := &set.Spec.Template.Spec.Containers[0]
	c.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	if port > 0 {
		c.Ports = []corev1.ContainerPort{{ContainerPort: port, HostPort: port}}
	}
	return set
}

// stranger is somebody's pod that holds all of node-1.
func stranger(t *testing.T, s *server) *corev1.Pod {
	t.Helper()
	p := on("node-1", pod("web", "stranger", "", ""))
	p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 9100}}
	stored, err := fake.Create(s.Cluster, p)
	require.NoError(t, err)
	return stored
}

// placed says where the pods of a set are.
func (s *server) placed(app string) []string {
	var nodes []string
	for _, p := range fake.List[*corev1.Pod](s.Cluster, agent.Namespace) {
		if p.Labels["app"] == app && p.DeletionTimestamp == nil {
			nodes = append(nodes, p.Spec.NodeName)
		}
	}
	return nodes
}

// told counts the events of a reason about a set.
func (s *server) told(set, reason string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := 0
	for _, e := range s.events {
		if e.About.Name == set && e.Event.Reason == reason {
			count++
		}
	}
	return count
}

// TestControllerPlaces: bound pods where there is room, one event where there is none, and a
// pod there when there is.
func TestControllerPlaces(t *testing.T) {
	s := newServer(t)
	rooms(t, s, 2)
	gone := stranger(t, s)
	for _, set := range []*appsv1.DaemonSet{asking("large", "500m", 0), asking("port", "0", 9100)} {
		_, err := fake.Create(s.Cluster, set)
		require.NoError(t, err)
	}
	run(t, clientgo.Config{Client: s.clientset(t), Driver: placing(), Workers: 4})
	for _, set := range []string{"large", "port"} {
		require.Eventually(t, func() bool { return len(s.placed(set)) == 1 && s.told(set, daemonset.EventFailedPlacement) == 1 }, patience, tick, set)
		assert.Equal(t, []string{"node-0"}, s.placed(set), "bound when it is created: the cluster's scheduler binds no pod of them")
	}
	s.Run(time.Second)
	pause(100 * time.Millisecond)

	require.NoError(t, fake.Delete[*corev1.Pod](s.Cluster, types.NamespacedName{Namespace: gone.Namespace, Name: gone.Name}, fake.DeleteOptions{Grace: new(int64)}))
	for _, set := range []string{"large", "port"} {
		require.Eventually(t, func() bool { return len(s.placed(set)) == 2 }, patience, tick, set)
		assert.Equal(t, 1, s.told(set, daemonset.EventFailedPlacement), "told once: %s", set)
	}
	assert.Equal(t, 4, s.count("POST pods"))
	assert.Zero(t, s.count("DELETE pods"))
}

// TestControllerSharesRoom: of sets that compete, one gets the room, whatever the workers do
// at once, and the others do not try.
func TestControllerSharesRoom(t *testing.T) {
	s := newServer(t)
	rooms(t, s, 8)
	sets := []string{"a", "b", "c", "d"}
	for _, name := range sets {
		_, err := fake.Create(s.Cluster, asking(name, "400m", 0))
		require.NoError(t, err)
	}
	run(t, clientgo.Config{Client: s.clientset(t), Driver: placing(), Workers: 4})
	pods := func() int {
		s.Run(time.Second)
		return len(fake.List[*corev1.Pod](s.Cluster, agent.Namespace))
	}
	told := func() (n int) {
		for _, name := range sets {
			n += s.told(name, daemonset.EventFailedPlacement)
		}
		return n
	}
	require.Eventually(t, func() bool { return pods() == 16 && told() > 0 }, patience, tick, "two on each of eight nodes")
	pause(300 * time.Millisecond)
	require.Equal(t, 16, pods())
	on := map[string]int{}
	for _, p := range fake.List[*corev1.Pod](s.Cluster, agent.Namespace) {
		on[p.Spec.NodeName]++
	}
	for node, count := range on {
		assert.Equal(t, 2, count, "%s has one cpu, and each pod asks for 400m", node)
	}
	assert.Equal(t, 16, s.count("POST pods"))
	assert.Zero(t, s.count("DELETE pods"))
}

// TestControllerSurgesWithRoom: who leaves scheduling to others may look at the room too.
func TestControllerSurgesWithRoom(t *testing.T) {
	s := newServer(t)
	rooms(t, s, 2)
	set := asking("agent", "600m", 0)
	one, none := intstr.FromInt32(1), intstr.FromInt32(0)
	set.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &none, MaxSurge: &one}
	_, err := fake.Create(s.Cluster, set)
	require.NoError(t, err)
	blocked := make(chan struct{}, 100)
	run(t, clientgo.Config{
		Client: s.clientset(t), Driver: clusterapi.Config{Options: daemonset.Options{Surge: daemonset.SurgeWithRoom}},
		OnPass: func(p clusterapi.Pass) {
			if report, ok := p.Result.Plan.Node("node-0"); ok && report.Reason == daemonset.SurgeBlocked {
				blocked <- struct{}{}
			}
		},
	})
	available := func() bool {
		s.Run(time.Second)
		set, err := fake.Get[*appsv1.DaemonSet](s.Cluster, agent)
		require.NoError(t, err)
		return set.Status.NumberAvailable == 2
	}
	require.Eventually(t, available, patience, tick)
	_, err = fake.Edit(s.Cluster, agent, func(set *appsv1.DaemonSet) { set.Spec.Template.Spec.Containers[0].Image = "registry.example/agent:v2" })
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(blocked) > 0 }, patience, tick)
	require.Len(t, s.placed("agent"), 2, "no pod beside one that leaves it no room")
}
