package e2e_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/util/retry"

	"github.com/daemonplan/daemonplan/examples/e2e/controlplane"
	"github.com/daemonplan/daemonplan/examples/e2e/witness"
)

// TestPlacing runs the controller with --place-pods on a control plane that has no
// kube-scheduler: whatever runs was bound by it, or by the test itself.
func TestPlacing(t *testing.T) {
	own := subjects()[0]
	plane, err := controlplane.Start(t.Context(), controlplane.Options{Users: []controlplane.User{own.user}, NoScheduler: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, plane.Stop()) })
	require.NoError(t, grant(plane))
	own.args = func(l launch) []string { return append(daemonplanArgs(l), "--place-pods") }
	process := own.run(t, plane, launch{replica: "-places"})
	for _, sc := range placingScenarios() {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, plane, sc.name, 0)
			s.subject = process
			sc.run(s)
			s.boundFromTheStart()
		})
	}
}

func placingScenarios() []scenario {
	return []scenario{
		{name: "room", why: "a pod comes to each node that has room, and to the others when they have", run: placeInRoom},
		{name: "host-port", why: "the set waits for a host port", run: placeOnHostPort},
		{name: "rivals", why: "two sets with too little room for both share it and come to rest", run: placeRivals},
	}
}

func placeInRoom(s *scene) {
	s.addRoom(0, "1")
	s.addRoom(1, "200m")
	s.addRoom(2, "1")
	cpu := asking("800m", 0)
	fat := s.stranger(2, cpu)
	s.create(asks("500m", 0), rolling(intstr.FromInt(1), intstr.FromInt(0)))
	s.reaches(status{desired: 3, current: 1, ready: 1, updated: 1, available: 1, unavailable: 2})
	assert.Equal(s.t, "0=v1", s.images())
	s.suspendedOn(1, 2)

	s.remove(fat)
	s.reaches(status{desired: 3, current: 2, ready: 2, updated: 2, available: 2, unavailable: 1})
	assert.Equal(s.t, "0=v1 2=v1", s.images())
	s.resize(1, "1")
	s.reaches(settled(3))
	s.suspendedOn(1, 2)

	s.change(image("v2"))
	s.reaches(settled(3))
	assert.Equal(s.t, "0=v2 1=v2 2=v2", s.images())
	assert.Len(s.t, s.witness.History().Lives(s.get()), 6, "every pod was made once for each template")
}

func placeOnHostPort(s *scene) {
	s.addRoom(0, "1")
	s.addRoom(1, "1")
	holder := s.stranger(1, asking("0", 9100))
	s.create(asks("0", 9100))
	s.reaches(settled(1)) // a node whose port is taken does not count, as in Kubernetes v1.12
	assert.Equal(s.t, "0=v1", s.images())
	s.suspendedOn(1)
	s.remove(holder)
	s.reaches(settled(2))
	s.suspendedOn(1)
	assert.Len(s.t, s.witness.History().Lives(s.get()), 2)
}

func placeRivals(s *scene) {
	s.allowed = append(s.allowed, witness.Missing) // there is room for one of them
	const nodes = 10
	for i := range nodes {
		s.addRoom(i, "1")
	}
	rivals := []*appsv1.DaemonSet{
		s.createSet(s.newSet("red", asks("600m", 0))), s.createSet(s.newSet("blue", asks("600m", 0))),
	}
	made := func() (made int) {
		for _, set := range rivals {
			made += len(s.witness.History().Lives(set))
		}
		return made
	}
	s.onEachNode(nodes)
	s.quiet()
	assert.Equal(s.t, nodes, made(), "nothing was made in vain")

	// Room that is left is one of the two's again, whichever is faster.
	s.remove(&s.allPods()[0])
	s.onEachNode(nodes)
	s.quiet()
	assert.Equal(s.t, nodes+1, made())
}

// addRoom adds a node with so much cpu.
func (s *scene) addRoom(i int, cpu string) {
	s.t.Helper()
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: s.node(i), Labels: map[string]string{pool: s.ns}},
		Status:     corev1.NodeStatus{Capacity: room(cpu), Allocatable: room(cpu)},
	}
	_, err := s.client.CoreV1().Nodes().Create(s.ctx, node, metav1.CreateOptions{})
	require.NoError(s.t, err)
}

func room(cpu string) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("1Gi"), corev1.ResourcePods: resource.MustParse("10"),
	}
}

// resize changes how much cpu a node has.
func (s *scene) resize(i int, cpu string) {
	s.t.Helper()
	require.NoError(s.t, retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		node, err := s.client.CoreV1().Nodes().Get(s.ctx, s.node(i), metav1.GetOptions{})
		if err != nil {
			return err
		}
		node.Status.Capacity, node.Status.Allocatable = room(cpu), room(cpu)
		_, err = s.client.CoreV1().Nodes().UpdateStatus(s.ctx, node, metav1.UpdateOptions{})
		return err
	}))
}

// asking is a container that asks for cpu, and for a host port if that is not zero.
func asking(cpu string, port int32) corev1.Container {
	c := corev1.Container{Name: "main", Image: "registry.example/agent:v1"}
	c.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	if port > 0 {
		c.Ports = []corev1.ContainerPort{{ContainerPort: port, HostPort: port}}
	}
	return c
}

func asks(cpu string, port int32) func(*appsv1.DaemonSet) {
	return func(set *appsv1.DaemonSet) {
		set.Spec.Template.Spec.Containers = []corev1.Container{asking(cpu, port)}
	}
}

// stranger binds a pod to a node that is nobody's.
func (s *scene) stranger(node int, container corev1.Container) *corev1.Pod {
	s.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "stranger"},
		Spec: corev1.PodSpec{
			NodeName: s.node(node), Containers: []corev1.Container{container}, TerminationGracePeriodSeconds: new(int64(1)),
		},
	}
	stored, err := s.client.CoreV1().Pods(s.ns).Create(s.ctx, pod, metav1.CreateOptions{})
	require.NoError(s.t, err)
	return stored
}

func (s *scene) remove(pod *corev1.Pod) {
	s.t.Helper()
	require.NoError(s.t, s.client.CoreV1().Pods(s.ns).Delete(s.ctx, pod.Name, metav1.DeleteOptions{}))
}

// suspendedOn returns when the users of the scene's set have been told, once, that it waits on
// each of these nodes, and on no other one.
func (s *scene) suspendedOn(nodes ...int) {
	s.t.Helper()
	want := map[string]int32{}
	for _, i := range nodes {
		want[s.node(i)] = 1
	}
	s.eventually("events FailedPlacement", func() (bool, string) { return len(s.failedPlacements()) >= len(want), "" })
	assert.Equal(s.t, want, s.failedPlacements())
}

// failedPlacements counts by node how often they were told.
func (s *scene) failedPlacements() map[string]int32 {
	s.t.Helper()
	list, err := s.client.CoreV1().Events(s.ns).List(s.ctx, metav1.ListOptions{})
	require.NoError(s.t, err)
	told := map[string]int32{}
	for _, event := range list.Items {
		if event.InvolvedObject.Name == setName && event.Reason == "FailedPlacement" {
			_, rest, _ := strings.Cut(event.Message, " on node ")
			node, _, _ := strings.Cut(rest, ":")
			told[node] += max(1, event.Count)
		}
	}
	return told
}

// onEachNode returns when as many nodes have one pod each, which is ready.
func (s *scene) onEachNode(want int) {
	s.t.Helper()
	s.eventually("a pod on each node", func() (bool, string) {
		var on []string
		for _, pod := range s.allPods() {
			if pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning {
				on = append(on, strings.TrimPrefix(pod.Spec.NodeName, s.ns+"-"))
			}
		}
		slices.Sort(on)
		return len(on) == want && len(slices.Compact(slices.Clone(on))) == want, strings.Join(on, " ")
	})
}

// boundFromTheStart sees that nobody bound a pod after it was created.
func (s *scene) boundFromTheStart() {
	s.t.Helper()
	seen := 0
	for _, change := range s.witness.History() {
		if pod, ok := change.Object.(*corev1.Pod); ok && change.Type == watch.Added {
			seen++
			assert.NotEmpty(s.t, pod.Spec.NodeName, pod.Name)
		}
	}
	assert.NotZero(s.t, seen)
}
