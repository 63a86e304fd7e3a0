package daemonset_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
)

// waitingPlan is that of a set which is suspended on a, and cannot surge on b.
func waitingPlan(name string) daemonset.Plan {
	return daemonset.Plan{
		For:       daemonset.Ref{Namespace: "ops", Name: name},
		Suspended: []daemonset.Suspension{{Node: "a", Codes: []placement.Code{placement.HostPortTaken}}},
		Nodes: []daemonset.NodeReport{
			{Name: "a", Reason: daemonset.Suspended}, {Name: "b", Reason: daemonset.SurgeBlocked}, {Name: "c", Reason: daemonset.PodNotReady},
		},
	}
}

func opsKey(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "ops", Name: name}
}

func woken(names ...string) daemonset.Wakes {
	var w daemonset.Wakes
	for _, name := range names {
		w.Sets = append(w.Sets, opsKey(name))
	}
	return w
}

func TestSuspensionsPodChanged(t *testing.T) {
	var waiting daemonset.Suspensions
	assert.Equal(t, woken(), waiting.PodChanged(podNamed("p", "a"), nil), "nobody waits")
	assert.False(t, waiting.Planned(waitingPlan("y")))
	assert.False(t, waiting.Planned(waitingPlan("x")))
	assert.Equal(t, waitingPlan("x").Suspended, waiting.Of(opsKey("x")), "for the next plan, without the surge")

	there, ended, successor := podNamed("p", "a"), podNamed("p", "a"), podNamed("p", "a")
	ended.Status.Phase = corev1.PodSucceeded
	successor.UID = "another"
	tests := []struct {
		name, why string
		prev, cur *corev1.Pod
		want      daemonset.Wakes
	}{
		{"deleted", "its room is free, in the order of names", there, nil, woken("x", "y")},
		{"ended", "it holds nothing any more", there, ended, woken("x", "y")},
		{"replaced", "the one before it is gone", there, successor, woken("x", "y")},
		{"moved", "which Kubernetes does not, but a simulation may", there, podNamed("p", "c"), woken("x", "y")},
		{"changed", "it is still there", there, podNamed("p", "a"), woken()},
		{"added", "that makes no room", nil, there, woken()},
		{"deleted after its end", "it held nothing", ended, nil, woken()},
		{"deleted where a surge waits", "there may be room for it", podNamed("p", "b"), nil, woken("x", "y")},
		{"deleted elsewhere", "nobody waits there", podNamed("p", "c"), nil, woken()},
		{"never on a node", "it held nothing", podNamed("p", ""), nil, woken()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, waiting.PodChanged(tt.prev, tt.cur), tt.why) })
	}

	waiting.Forget(opsKey("x"))
	assert.Equal(t, woken("y"), waiting.PodChanged(there, nil))
	waiting.Planned(daemonset.Plan{For: daemonset.Ref{Namespace: "ops", Name: "y"}})
	assert.Equal(t, woken(), waiting.PodChanged(there, nil), "the last plan waits for nothing")
}

func TestSuspensionsNodeChanged(t *testing.T) {
	var waiting daemonset.Suspensions
	waiting.Planned(waitingPlan("x"))
	node := func(change func(*corev1.Node)) *corev1.Node {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
		n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1000m")}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue}}
		change(n)
		return n
	}
	same := node(func(*corev1.Node) {})
	assert.Equal(t, woken("x"), waiting.NodeChanged(same, node(func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse })))
	assert.Equal(t, woken("x"), waiting.NodeChanged(same, node(func(n *corev1.Node) {
		n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
	})))
	assert.Equal(t, woken(), waiting.NodeChanged(same, node(func(n *corev1.Node) {
		n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
		n.Status.Conditions[0].LastHeartbeatTime = metav1.Now()
	})), "the same quantity, and a heartbeat")
	assert.Equal(t, woken(), waiting.NodeChanged(nil, same), "SetIndex has it")
	assert.Equal(t, woken(), waiting.NodeChanged(same, nil))
}

// TestSuspensionsObserving: room that is left while a plan is made wakes nobody who is not
// known to wait, so the plan that waits for it is told.
func TestSuspensionsObserving(t *testing.T) {
	var waiting daemonset.Suspensions
	leaves := func(node string) { waiting.PodChanged(podNamed("p", node), nil) }

	waiting.Observing(opsKey("x"))
	leaves("a")
	assert.True(t, waiting.Planned(waitingPlan("x")))
	assert.False(t, waiting.Planned(waitingPlan("x")), "it was told")

	waiting.Observing(opsKey("x"))
	leaves("b")
	assert.True(t, waiting.Planned(waitingPlan("x")), "a surge waits there")

	waiting.Observing(opsKey("x"))
	leaves("c")
	assert.False(t, waiting.Planned(waitingPlan("x")), "it does not wait there")

	leaves("a")
	waiting.Observing(opsKey("x"))
	assert.False(t, waiting.Planned(waitingPlan("x")), "what was before is in what is read")

	waiting.Observing(opsKey("x"))
	waiting.Observing(opsKey("y"))
	leaves("a")
	assert.True(t, waiting.Planned(waitingPlan("y")), "each for itself")
	assert.True(t, waiting.Planned(waitingPlan("x")))

	waiting.Observing(opsKey("x"))
	leaves("a")
	waiting.Forget(opsKey("x"))
	assert.False(t, waiting.Planned(waitingPlan("x")))
}
