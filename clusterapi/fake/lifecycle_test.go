package fake_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/clusterapi/fake"
)

// taintsOf is the taints of node a.
func taintsOf(t *testing.T, c *fake.Cluster) []string {
	t.Helper()
	list := []string{}
	for _, taint := range mustGet[*corev1.Node](t, c, nodeKey("a")).Spec.Taints {
		list = append(list, taint.Key+":"+string(taint.Effect))
	}
	return list
}

// readyStatus is that of node a.
func readyStatus(t *testing.T, c *fake.Cluster) corev1.ConditionStatus {
	t.Helper()
	for _, condition := range mustGet[*corev1.Node](t, c, nodeKey("a")).Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status
		}
	}
	return ""
}

// newDaemon is pinned to node a and tolerates what daemon pods do.
func newDaemon(name string) *corev1.Pod {
	pod := newPodOn(name, "a")
	pod.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	return pod
}

func TestNodeHealth(t *testing.T) {
	c := steady()
	mustCreate(t, c, newNode("a"))
	mustCreate(t, c, newDaemon("daemon"))
	mustCreate(t, c, newPodOn("plain", "a"))
	c.Run(10 * time.Second)
	assert.Equal(t, corev1.ConditionTrue, readyStatus(t, c), "a new node is ready")

	c.SetNodeHealth("a", fake.NotReady)
	c.Run(0)
	assert.Equal(t, corev1.ConditionFalse, readyStatus(t, c))
	assert.Equal(t, []string{"node.kubernetes.io/not-ready:NoSchedule", "node.kubernetes.io/not-ready:NoExecute"}, taintsOf(t, c))
	assert.Equal(t, c.Now(), mustGet[*corev1.Node](t, c, nodeKey("a")).Spec.Taints[1].TimeAdded.UTC(), "from which evictions count")
	assert.Equal(t, "Running", stateOf(c, "daemon"), "no pod on it is ready")
	c.Run(10 * time.Second)
	assert.Equal(t, "Running", stateOf(c, "daemon"), "nor does it become so")
	assert.Empty(t, stateOf(c, "plain"), "what does not tolerate the taint is evicted")

	c.SetNodeHealth("a", fake.Healthy)
	c.Run(10 * time.Second)
	assert.Equal(t, corev1.ConditionTrue, readyStatus(t, c))
	assert.Empty(t, taintsOf(t, c))
	assert.Equal(t, "Running ready", stateOf(c, "daemon"))
}

func TestUnreachableNode(t *testing.T) {
	c := steady()
	mustCreate(t, c, newNode("a"))
	mustCreate(t, c, newDaemon("kept"))
	mustCreate(t, c, newDaemon("deleted"))
	c.Run(10 * time.Second)

	c.SetNodeHealth("a", fake.Unreachable)
	require.NoError(t, fake.Delete[*corev1.Pod](c, key("deleted"), fake.DeleteOptions{}))
	c.Run(49 * time.Second)
	assert.Equal(t, corev1.ConditionTrue, readyStatus(t, c), "nobody has noticed")
	assert.Equal(t, "Running ready", stateOf(c, "kept"))
	c.Run(time.Second)
	assert.Equal(t, corev1.ConditionUnknown, readyStatus(t, c))
	assert.Equal(t, []string{"node.kubernetes.io/unreachable:NoSchedule", "node.kubernetes.io/unreachable:NoExecute"}, taintsOf(t, c))
	assert.Equal(t, "Running", stateOf(c, "kept"))
	c.Run(time.Hour)
	assert.Equal(t, "Running deleted", stateOf(c, "deleted"), "nobody is there to stop it")

	c.SetNodeHealth("a", fake.Healthy)
	c.Run(10 * time.Second)
	assert.Empty(t, stateOf(c, "deleted"))
	assert.Equal(t, "Running ready", stateOf(c, "kept"))
	assert.Empty(t, taintsOf(t, c))
}

func TestNodeThatIsBackBeforeAnybodyNoticed(t *testing.T) {
	c := steady()
	mustCreate(t, c, newNode("a"))
	mustCreate(t, c, newDaemon("pod"))
	c.Run(10 * time.Second)
	c.SetNodeHealth("a", fake.Unreachable)
	remove(t, c, "pod")
	c.Run(20 * time.Second)
	assert.Equal(t, "Running ready deleted", stateOf(c, "pod"))
	c.SetNodeHealth("a", fake.Healthy)
	c.Run(time.Hour)
	assert.Empty(t, stateOf(c, "pod"), "its kubelet goes on")
	assert.Equal(t, "2", mustGet[*corev1.Node](t, c, nodeKey("a")).ResourceVersion, "nothing was written")
}

func TestCordon(t *testing.T) {
	c := steady()
	node := newNode("a")
	node.Spec.Taints = []corev1.Taint{{Key: "own", Effect: corev1.TaintEffectPreferNoSchedule}}
	mustCreate(t, c, node)
	mustCreate(t, c, newPodOn("before", "a"))
	c.Run(time.Minute)
	cordon := func(unschedulable bool) {
		_, err := fake.Edit(c, nodeKey("a"), func(node *corev1.Node) { node.Spec.Unschedulable = unschedulable })
		require.NoError(t, err)
		c.Step()
	}
	cordon(true)
	assert.Equal(t, []string{"own:PreferNoSchedule", "node.kubernetes.io/unschedulable:NoSchedule"}, taintsOf(t, c))
	assert.Equal(t, "Running ready", stateOf(c, "before"), "what is there stays")
	mustCreate(t, c, newPodOn("pod", "a"))
	c.Run(time.Minute)
	assert.Empty(t, mustGet[*corev1.Pod](t, c, key("pod")).Spec.NodeName)
	cordon(false)
	assert.Equal(t, []string{"own:PreferNoSchedule"}, taintsOf(t, c))
	c.Run(time.Minute)
	assert.Equal(t, "Running ready", stateOf(c, "pod"))
}

func TestEviction(t *testing.T) {
	five := int64(5)
	c := steady()
	mustCreate(t, c, newNode("a"))
	tolerant := newPodOn("tolerant", "a")
	all := corev1.Toleration{Key: "all", Operator: corev1.TolerationOpExists}
	tolerant.Spec.Tolerations = []corev1.Toleration{all, {Key: "k", Operator: corev1.TolerationOpExists}}
	patient := newPodOn("patient", "a")
	patient.Spec.Tolerations = []corev1.Toleration{all, {
		Key: "k", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &five,
	}}
	mustCreate(t, c, tolerant)
	mustCreate(t, c, patient)
	plain := newPodOn("plain", "a")
	plain.Spec.Tolerations = []corev1.Toleration{all}
	mustCreate(t, c, plain)
	c.Run(10 * time.Second)

	now := mustGet[*corev1.Pod](t, c, key("plain")).CreationTimestamp
	now.Time = c.Now()
	_, err := fake.Edit(c, nodeKey("a"), func(node *corev1.Node) {
		node.Spec.Taints = []corev1.Taint{
			{Key: "all", Effect: corev1.TaintEffectNoExecute, TimeAdded: &now},
			{Key: "soft", Effect: corev1.TaintEffectPreferNoSchedule},
			{Key: "k", Effect: corev1.TaintEffectNoExecute, TimeAdded: &now},
		}
	})
	require.NoError(t, err)
	c.Run(0)
	assert.Equal(t, "Running ready deleted", stateOf(c, "plain"), "at once, and gracefully")
	c.Run(4 * time.Second)
	assert.Equal(t, "Running ready", stateOf(c, "patient"))
	c.Run(time.Second)
	assert.Equal(t, "Running ready deleted", stateOf(c, "patient"), "when its time is up")
	c.Run(time.Hour)
	assert.Equal(t, "Running ready", stateOf(c, "tolerant"))
}

func TestNodeThatGoesAway(t *testing.T) {
	c := steady()
	node := mustCreate(t, c, newNode("a"))
	mustCreate(t, c, newDaemon("bound"))
	c.Run(10 * time.Second)
	c.SetNodeHealth("a", fake.Unreachable)
	require.NoError(t, fake.Delete[*corev1.Node](c, nodeKey("a"), fake.DeleteOptions{}))
	mustCreate(t, c, newDaemon("unbound"))
	c.Run(39 * time.Second)
	assert.Equal(t, "Running ready", stateOf(c, "bound"))
	c.Run(time.Second)
	assert.Empty(t, stateOf(c, "bound"), "its pods are collected after a while")
	assert.Equal(t, "Pending", stateOf(c, "unbound"), "but not those that were never bound")

	again := mustCreate(t, c, newNode("a"))
	assert.NotEqual(t, node.UID, again.UID)
	c.Run(10 * time.Second)
	assert.Equal(t, "Running ready", stateOf(c, "unbound"), "the new machine is healthy and takes over")
}

func TestNodeThatComesBackInTimeKeepsItsPods(t *testing.T) {
	c := steady()
	mustCreate(t, c, newNode("a"))
	mustCreate(t, c, newDaemon("pod"))
	c.Run(10 * time.Second)
	require.NoError(t, fake.Delete[*corev1.Node](c, nodeKey("a"), fake.DeleteOptions{}))
	c.Run(20 * time.Second)
	mustCreate(t, c, newNode("a"))
	c.Run(time.Hour)
	assert.Equal(t, "Running ready", stateOf(c, "pod"))
}

func TestPodsOfALostNodeEnd(t *testing.T) {
	c := steady()
	mustCreate(t, c, newNode("a"))
	mustCreate(t, c, newDaemon("running"))
	mustCreate(t, c, newDaemon("succeeded"))
	c.SetFate(func(pod *corev1.Pod) fake.Fate {
		if pod.Name == "succeeded" {
			return fake.Fate{Outcome: fake.Succeeds}
		}
		return fake.Fate{}
	})
	c.Run(10 * time.Second)
	cl := c.NewClient()
	defer cl.Close()
	w := cl.Watch()
	w.Drain()
	require.NoError(t, fake.Delete[*corev1.Node](c, nodeKey("a"), fake.DeleteOptions{}))
	c.Run(time.Minute)
	assert.Equal(t, []string{
		"node a>", "pod running(Running)>running(Failed)", "pod running(Failed)>", "pod succeeded(Succeeded)>",
	}, told(w.Drain()), "what had not ended is Failed before it goes")
}
