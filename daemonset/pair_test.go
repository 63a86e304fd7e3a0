package daemonset_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemonplan/daemonplan/daemonset"
)

// TestPairCurrentByBoth: with surge, a pod that is current only by its legacy generation makes
// room for one with the current hash, as soon as that is available. It is open that the node
// has no reason while it waits for that.
func TestPairCurrentByBoth(t *testing.T) {
	c := fleetCase(1, rolling(intstr.FromInt32(0), intstr.FromInt32(1)), oldPods)
	c.Snapshot.Objects.DaemonSet.Annotations = map[string]string{appsv1.DeprecatedTemplateGeneration: "7"}
	legacy := c.Snapshot.Objects.Pods[0]
	legacy.Labels["pod-template-generation"] = "7"
	hashed := plainCase().Snapshot.Objects.Pods[0]
	hashed.Name, hashed.UID, hashed.Spec.NodeName = "b", "uid-b", legacy.Spec.NodeName
	legacy.Name = "a"
	ready := hashed.Status.Conditions
	hashed.Status.Conditions = nil
	c.Snapshot.Objects.Pods = append(c.Snapshot.Objects.Pods, hashed)

	plan, err := daemonset.Compute(c.Snapshot, c.Options)
	require.NoError(t, err)
	require.Empty(t, plan.Deletes)
	assert.Equal(t, daemonset.PodNotReady, plan.Nodes[0].Reason, "the pod with the hash is what the node waits for")

	hashed.Status.Conditions = ready
	plan, err = daemonset.Compute(c.Snapshot, c.Options)
	require.NoError(t, err)
	require.Len(t, plan.Deletes, 1)
	assert.Equal(t, "a", plan.Deletes[0].Pod.Name)
	assert.Equal(t, daemonset.SurgeComplete, plan.Deletes[0].Reason)
}

// TestLeaversAreCutLast: with surge, an available pod on a node that takes no new one is
// deleted by choice, so a burst leaves it for later rather than one that is down.
func TestLeaversAreCutLast(t *testing.T) {
	c := fleetCase(4, rolling(intstr.FromInt32(0), intstr.FromInt32(3)), func(i int) (string, bool) {
		if i%3 == 0 { // the first, which is available, and the last, which is not
			return oldHash, true
		}
		return newHash, true
	})
	for _, i := range []int{0, 3} {
		c.Snapshot.Objects.Nodes[i].Spec.Taints = []corev1.Taint{{Key: "full", Effect: corev1.TaintEffectNoSchedule}}
	}
	c.Snapshot.Objects.Pods[3].Status.Conditions = nil
	for burst, want := range [][]string{{"node-00", "node-03"}, {"node-03"}} {
		c.Options.Burst = burst // zero is the default
		plan, err := daemonset.Compute(c.Snapshot, c.Options)
		require.NoError(t, err)
		var nodes []string
		for _, d := range plan.Deletes {
			assert.Equal(t, daemonset.LeftIneligibleNode, d.Reason)
			nodes = append(nodes, d.Node)
		}
		assert.ElementsMatch(t, want, nodes, "burst %d", burst)
	}
}
