package clientgo_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi/clientgo"
)

// chance changes a cluster at random.
type chance struct {
	*rand.Rand
	cluster *fake.Cluster
	set     *appsv1.DaemonSet
}

func (c chance) name(kind string) types.NamespacedName {
	return types.NamespacedName{Namespace: agent.Namespace, Name: fmt.Sprintf("%s-%d", kind, c.IntN(6))}
}

func (c chance) owners() []metav1.OwnerReference {
	mine := *metav1.NewControllerRef(c.set, daemonSetKind)
	foreign := mine
	foreign.UID, foreign.Name = "another", "another"
	misnamed := mine
	misnamed.Name = "misnamed"
	return [][]metav1.OwnerReference{{mine}, {mine}, {foreign}, {misnamed}, nil}[c.IntN(5)]
}

// step changes one object; that it is not there, or there already, is no matter.
func (c chance) step() {
	node := types.NamespacedName{Name: c.name("node").Name}
	pod, revision := c.name("pod"), c.name("revision")
	labels := map[string]string{"x": fmt.Sprint(c.IntN(3))}
	switch c.IntN(11) {
	case 0, 1:
		_, _ = fake.Create(c.cluster, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node.Name, Labels: labels}})
	case 2:
		_ = fake.Delete[*corev1.Node](c.cluster, node, fake.DeleteOptions{})
	case 3:
		_, _ = fake.Edit(c.cluster, node, func(n *corev1.Node) { n.Labels = labels })
	case 4:
		_, _ = fake.Edit(c.cluster, node, func(n *corev1.Node) { n.Annotations = labels }) // matters to nobody
	case 5, 6:
		_, _ = fake.Put(c.cluster, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name, Labels: c.set.Spec.Template.Labels, OwnerReferences: c.owners(),
		}})
	case 7:
		grace := int64(0)
		_ = fake.Delete[*corev1.Pod](c.cluster, pod, fake.DeleteOptions{Grace: &grace})
	case 8:
		_, _ = fake.Edit(c.cluster, pod, func(p *corev1.Pod) { p.Labels = labels })
	case 9:
		_, _ = fake.Create(c.cluster, &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: revision.Namespace, Name: revision.Name}})
	case 10:
		_ = fake.Delete[*appsv1.ControllerRevision](c.cluster, revision, fake.DeleteOptions{})
	}
}

// TestFollowIsObserve: what is told adds up to what is shown, whatever happens, also when a
// watch breaks for so long that everything is listed anew.
func TestFollowIsObserve(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			h := newHarness(t)
			set, err := fake.Create(h.server.Cluster, agentSet())
			require.NoError(t, err)
			c := chance{Rand: rand.New(rand.NewPCG(seed, 0)), cluster: h.server.Cluster, set: set} //nolint:gosec // not for secrets
			h.Sync(t)
			followed := h.api.Follow(agent)
			defer followed.Stop()
			planner := daemonset.NewPlanner(daemonset.Options{})
			for range 25 {
				for range c.IntN(8) {
					c.step()
				}
				if c.IntN(10) == 0 {
					h.server.log.hold()
					for range 5 {
						c.step()
					}
					h.server.log.expire()
				}
				h.Sync(t)
				seen, err := h.api.Observe(t.Context(), agent)
				require.NoError(t, err)
				require.Eventually(t, func() bool { // what a list leaves out comes by an event
					changes, err := followed.Changes(t.Context())
					require.NoError(t, err)
					changes.Tell(planner)
					return listed(seen.Objects) == listed(planner.Objects())
				}, patience, tick)
			}
		})
	}
}

// listed is what there is to plan from, as text.
func listed(objects daemonset.Objects) string {
	lines := []string{"set " + objects.DaemonSet.ResourceVersion}
	for _, node := range objects.Nodes {
		lines = append(lines, fmt.Sprint("node ", node.Name, node.UID, node.Labels))
	}
	for _, pod := range objects.Pods {
		lines = append(lines, fmt.Sprint("pod ", pod.Name, pod.UID, pod.ResourceVersion))
	}
	for _, revision := range objects.Revisions {
		lines = append(lines, fmt.Sprint("revision ", revision.Name, revision.UID))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestControllerFollows: the whole controller by changes alone.
func TestControllerFollows(t *testing.T) {
	s := newServer(t)
	for i := range 8 {
		_, err := fake.Create(s.Cluster, node(i))
		require.NoError(t, err)
	}
	_, err := fake.Create(s.Cluster, agentSet())
	require.NoError(t, err)
	c := run(t, clientgo.Config{Client: s.clientset(t), Driver: clusterapi.Config{Follow: true}})
	reaches := func(nodes int32) {
		require.Eventually(t, func() bool {
			s.Run(time.Second)
			set, err := fake.Get[*appsv1.DaemonSet](s.Cluster, agent)
			return err == nil && set.Status.ObservedGeneration == set.Generation &&
				set.Status.NumberAvailable == nodes && set.Status.UpdatedNumberScheduled == nodes
		}, patience, tick)
	}
	reaches(8)
	_, err = fake.Edit(s.Cluster, agent, func(set *appsv1.DaemonSet) {
		set.Spec.Template.Spec.Containers[0].Image = "registry.example/agent:v2"
	})
	require.NoError(t, err)
	reaches(8)
	require.NoError(t, fake.Delete[*corev1.Node](s.Cluster, types.NamespacedName{Name: node(0).Name}, fake.DeleteOptions{}))
	_, err = fake.Create(s.Cluster, node(8))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return c.Counters().Write(clusterapi.CreatePod, clusterapi.Done) >= 17 }, patience, tick)
	reaches(8)
	assert.Equal(t, 17, c.Counters().Write(clusterapi.CreatePod, clusterapi.Done), "one a node and template, and no twins")

	// A successor of the same name begins anew.
	require.NoError(t, fake.Delete[*appsv1.DaemonSet](s.Cluster, agent, fake.DeleteOptions{}))
	require.Eventually(t, func() bool {
		s.Run(time.Second)
		_, err := fake.Create(s.Cluster, agentSet())
		return err == nil
	}, patience, tick)
	reaches(8)
}
