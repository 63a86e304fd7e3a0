package clusterapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
)

// fed collects what a feed asks for.
type fed struct {
	fake.Handlers
	got []daemonset.Wakes
}

func newFed(t *testing.T, config clusterapi.Config, podsOn func(string) []*corev1.Pod) *fed {
	t.Helper()
	config.API = fake.New(1).NewClient()
	driver, err := clusterapi.NewDriver(config)
	require.NoError(t, err)
	f := &fed{}
	f.Handlers = handlers(driver.NewFeed(podsOn), func(w daemonset.Wakes) { f.got = append(f.got, w) })
	return f
}

// keys are the sets woken since the last call.
func (f *fed) keys() []string {
	var keys []string
	for _, w := range f.got {
		for _, key := range w.Sets {
			keys = append(keys, key.String())
		}
	}
	f.got = nil
	return keys
}

func storedSet(class string) *appsv1.DaemonSet {
	set := agentSet()
	set.UID, set.Labels = "set", map[string]string{"class": class}
	return set
}

func ownedPod(name, node string, set *appsv1.DaemonSet) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: set.Namespace, Name: name, UID: types.UID("pod-" + name), Labels: set.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))},
		},
		Spec: corev1.PodSpec{NodeName: node},
	}
}

func freshNode() *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "a"}}
}

func TestFeedWakesByNode(t *testing.T) {
	f := newFed(t, clusterapi.Config{}, nil)
	set := storedSet("")
	f.DaemonSet(nil, set)
	assert.Equal(t, []string{"ops/agent"}, f.keys())
	f.Node(nil, freshNode())
	assert.Equal(t, []string{"ops/agent"}, f.keys(), "it has no pod there")

	pod := ownedPod("p", "a", set)
	f.Pod(nil, pod)
	require.Len(t, f.got, 1)
	assert.Equal(t, []daemonset.Sighting{{Owner: "set", Pod: "pod-p", What: daemonset.SawCreate}}, f.got[0].Seen)
	assert.Equal(t, []string{"ops/agent"}, f.keys())
	f.Node(nil, freshNode())
	assert.Empty(t, f.keys(), "its pod is there")

	f.Pod(pod, nil)
	f.keys()
	f.Node(nil, freshNode())
	assert.Equal(t, []string{"ops/agent"}, f.keys(), "the pod has gone")
	labelled := freshNode()
	labelled.Annotations = map[string]string{"a": "b"}
	f.Node(freshNode(), labelled)
	f.Node(labelled, nil)
	assert.Equal(t, []daemonset.Wakes{{}, {}}, f.got, "nothing that matters")
	f.got = nil

	f.DaemonSet(set, nil)
	require.Len(t, f.got, 1)
	assert.Equal(t, []types.UID{"set"}, f.got[0].Forget)
	f.keys()
	f.Node(nil, freshNode())
	f.Revision(nil, &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "r", Labels: set.Spec.Template.Labels}})
	assert.Empty(t, f.keys(), "no set is left")
}

func TestFeedAsksForPodsOfANode(t *testing.T) {
	set := storedSet("")
	asked := []string{}
	f := newFed(t, clusterapi.Config{}, func(node string) []*corev1.Pod {
		asked = append(asked, node)
		return []*corev1.Pod{ownedPod("p", node, set)}
	})
	f.DaemonSet(nil, set)
	f.keys()
	f.Node(nil, freshNode())
	f.Node(freshNode(), freshNode())
	assert.Empty(t, f.keys())
	assert.Equal(t, []string{"a"}, asked, "only of a node that matters")
}

// TestFeedSelects: a set that is not selected is as one that is not there.
func TestFeedSelects(t *testing.T) {
	f := newFed(t, clusterapi.Config{Select: func(set *appsv1.DaemonSet) bool { return set.Labels["class"] == "ours" }}, nil)
	theirs, ours := storedSet("theirs"), storedSet("ours")

	f.DaemonSet(nil, theirs)
	f.Node(nil, freshNode())
	assert.Empty(t, f.keys())
	f.DaemonSet(theirs, ours)
	f.Node(nil, freshNode())
	assert.Equal(t, []string{"ops/agent", "ops/agent"}, f.keys(), "by its own event, and by the node's")
	f.DaemonSet(ours, theirs)
	require.Len(t, f.got, 1)
	assert.Equal(t, []types.UID{"set"}, f.got[0].Forget)
	f.keys()
	f.Node(nil, freshNode())
	assert.Empty(t, f.keys())
	f.DaemonSet(theirs, nil)
	assert.Empty(t, f.keys())
}

// TestSelect: a driver leaves alone what is not selected, also when that changes on the way.
func TestSelect(t *testing.T) {
	selected := false
	w := newWorld(t, 2, func(c *clusterapi.Config) { c.Select = func(*appsv1.DaemonSet) bool { return selected } })
	result, err := w.sync()
	require.NoError(t, err)
	require.True(t, result.Gone)
	require.Empty(t, w.pods())

	selected = true
	_, err = w.sync()
	require.NoError(t, err)
	require.Len(t, w.pods(), 2)
	require.Equal(t, 1, w.driver.Expectations().Owners())

	selected = false
	result, err = w.sync()
	require.NoError(t, err)
	require.True(t, result.Gone)
	require.Zero(t, w.driver.Expectations().Owners(), "nobody waits for its pods any more")
}

// TestSelectBeforeAdoption: the set as the server has it decides, not as the cache does.
func TestSelectBeforeAdoption(t *testing.T) {
	ours := func(set *appsv1.DaemonSet) bool { return set.Annotations["class"] != "theirs" }
	w := newWorld(t, 1, func(c *clusterapi.Config) { c.Select = ours })
	w.settle(20)
	for _, pod := range w.pods() {
		_, err := w.client.PatchPod(t.Context(), daemonset.Ref{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}, []byte(`{"metadata":{"ownerReferences":null}}`))
		require.NoError(t, err)
	}
	w.client.SetLag(fake.Lag{Hold: true}, fake.DaemonSetKind)
	w.edit(func(set *appsv1.DaemonSet) { set.Annotations = map[string]string{"class": "theirs"} })
	result, err := w.sync()
	require.ErrorContains(t, err, "not ours")
	require.Equal(t, []clusterapi.Outcome{clusterapi.Skipped}, outcomes(result, clusterapi.AdoptPod))
	require.Nil(t, metav1.GetControllerOf(w.pods()[0]))
}

// TestPlan: a pass that only plans says the same and writes nothing.
func TestPlan(t *testing.T) {
	w := newWorld(t, 3)
	planned, err := w.driver.Plan(t.Context(), agent)
	require.NoError(t, err)
	require.Len(t, planned.Plan.Creates, 3)
	require.Empty(t, planned.Writes)
	require.Empty(t, w.pods())
	require.Zero(t, w.client.Writes())

	made, err := w.sync()
	require.NoError(t, err)
	require.Equal(t, planned.Plan, made.Plan)
	require.Len(t, w.pods(), 3)

	gone, err := w.driver.Plan(t.Context(), types.NamespacedName{Namespace: "ops", Name: "none"})
	require.NoError(t, err)
	require.True(t, gone.Gone)
}
