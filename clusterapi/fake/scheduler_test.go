package fake_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/placement"
)

func requirement(key string, operator corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: operator, Values: values}
}

// expressions is a required affinity with one term for each requirement.
func expressions(requirements ...corev1.NodeSelectorRequirement) *corev1.Affinity {
	selector := &corev1.NodeSelector{}
	for _, r := range requirements {
		selector.NodeSelectorTerms = append(selector.NodeSelectorTerms, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{r}})
	}
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: selector}}
}

func TestScheduler(t *testing.T) {
	taint := func(key, value string, effect corev1.TaintEffect) func(node *corev1.Node) {
		return func(node *corev1.Node) {
			node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: effect})
		}
	}
	tolerate := func(tolerations ...corev1.Toleration) func(pod *corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Spec.Tolerations = tolerations }
	}
	affinity := func(a *corev1.Affinity) func(pod *corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Spec.Affinity = a }
	}
	plain := func(*corev1.Node) {}
	noSchedule := taint("k", "v", corev1.TaintEffectNoSchedule)
	const exists, equal = corev1.TolerationOpExists, corev1.TolerationOpEqual

	tests := []struct {
		name, why string
		node      func(node *corev1.Node)
		pod       func(pod *corev1.Pod)
		want      bool
	}{
		{"plain", "nothing is asked", plain, func(*corev1.Pod) {}, true},
		{"pinned", "this is the node", plain, affinity(placement.PinTo(nil, "a")), true},
		{"pinned elsewhere", "there is no such node", plain, affinity(placement.PinTo(nil, "b")), false},
		{"taint", "not tolerated", noSchedule, tolerate(), false},
		{"NoExecute taint", "not tolerated", taint("k", "v", corev1.TaintEffectNoExecute), tolerate(), false},
		{"PreferNoSchedule taint", "only a preference", taint("k", "v", corev1.TaintEffectPreferNoSchedule), tolerate(), true},
		{"equal", "key, value and effect", noSchedule, tolerate(corev1.Toleration{Key: "k", Operator: equal, Value: "v", Effect: corev1.TaintEffectNoSchedule}), true},
		{"default operator", "it is Equal", noSchedule, tolerate(corev1.Toleration{Key: "k", Value: "v"}), true},
		{"other value", "Equal compares it", noSchedule, tolerate(corev1.Toleration{Key: "k", Operator: equal, Value: "w"}), false},
		{"exists", "any value", noSchedule, tolerate(corev1.Toleration{Key: "k", Operator: exists}), true},
		{"other key", "of another taint", noSchedule, tolerate(corev1.Toleration{Key: "l", Operator: exists}), false},
		{"other effect", "of another taint", noSchedule, tolerate(corev1.Toleration{Key: "k", Operator: exists, Effect: corev1.TaintEffectNoExecute}), false},
		{"everything", "no key and Exists", noSchedule, tolerate(corev1.Toleration{Operator: exists}), true},
		{"no key and Equal", "that tolerates nothing", noSchedule, tolerate(corev1.Toleration{Value: "v"}), false},
		{"one of two", "all must be tolerated", func(node *corev1.Node) {
			noSchedule(node)
			taint("l", "", corev1.TaintEffectNoSchedule)(node)
		}, tolerate(corev1.Toleration{Key: "k", Operator: exists}), false},
		{"selector", "the node has the label", plain, func(pod *corev1.Pod) { pod.Spec.NodeSelector = map[string]string{"name": "a"} }, true},
		{"other selector", "the node has another", plain, func(pod *corev1.Pod) { pod.Spec.NodeSelector = map[string]string{"name": "b"} }, false},
		{"In", "one of the values", plain, affinity(expressions(requirement("name", corev1.NodeSelectorOpIn, "a", "b"))), true},
		{"not In", "none of the values", plain, affinity(expressions(requirement("name", corev1.NodeSelectorOpIn, "b"))), false},
		{"NotIn", "none of the values", plain, affinity(expressions(requirement("name", corev1.NodeSelectorOpNotIn, "b"))), true},
		{"not NotIn", "one of the values", plain, affinity(expressions(requirement("name", corev1.NodeSelectorOpNotIn, "a"))), false},
		{"NotIn without label", "a missing key matches", plain, affinity(expressions(requirement("none", corev1.NodeSelectorOpNotIn, "a"))), true},
		{"Exists", "it does", plain, affinity(expressions(requirement("name", corev1.NodeSelectorOpExists))), true},
		{"not Exists", "it does not", plain, affinity(expressions(requirement("none", corev1.NodeSelectorOpExists))), false},
		{"DoesNotExist", "it does not", plain, affinity(expressions(requirement("none", corev1.NodeSelectorOpDoesNotExist))), true},
		{"not DoesNotExist", "it does", plain, affinity(expressions(requirement("name", corev1.NodeSelectorOpDoesNotExist))), false},
		{"Gt", "strictly more", plain, affinity(expressions(requirement("cores", corev1.NodeSelectorOpGt, "7"))), true},
		{"not Gt", "as much is not more", plain, affinity(expressions(requirement("cores", corev1.NodeSelectorOpGt, "8"))), false},
		{"Lt", "strictly less", plain, affinity(expressions(requirement("cores", corev1.NodeSelectorOpLt, "9"))), true},
		{"not Lt", "as much is not less", plain, affinity(expressions(requirement("cores", corev1.NodeSelectorOpLt, "8"))), false},
		{"Gt of no number", "the label is no number", plain, affinity(expressions(requirement("name", corev1.NodeSelectorOpGt, "0"))), false},
		{"terms", "one is enough", plain, affinity(expressions(requirement("none", corev1.NodeSelectorOpExists), requirement("name", corev1.NodeSelectorOpExists))), true},
		{"no terms", "they match nothing", plain, affinity(expressions()), false},
		{"empty term", "it matches nothing", plain, affinity(&corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}},
		}}), false},
		{"expressions of one term", "all must hold", plain, affinity(&corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{
					requirement("name", corev1.NodeSelectorOpExists), requirement("none", corev1.NodeSelectorOpExists),
				},
			}}},
		}}), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := fake.New(1)
			node := newNode("a")
			node.Labels["cores"] = "8"
			tt.node(node)
			mustCreate(t, c, node)
			pod := newPod("pod")
			tt.pod(pod)
			pod.Status.Phase = corev1.PodPending
			_, err := fake.Put(c, pod) // some could not be created
			require.NoError(t, err)

			c.Run(fake.DefaultTiming().Bind * 2)

			got := mustGet[*corev1.Pod](t, c, key("pod"))
			assert.Equal(t, tt.want, got.Spec.NodeName == "a", tt.why)
			if !tt.want {
				require.NotEmpty(t, got.Status.Conditions)
				assert.Equal(t, corev1.PodReasonUnschedulable, got.Status.Conditions[0].Reason)
			}
		})
	}
}

func TestSchedulerTriesAgainWhenTheNodeChanges(t *testing.T) {
	c := steady()
	pod := newPodOn("pinned", "a")
	mustCreate(t, c, pod)
	mustCreate(t, c, newPod("anywhere"))
	c.Run(0)
	assert.Empty(t, mustGet[*corev1.Pod](t, c, key("pinned")).Spec.NodeName, "there is no node")

	node := newNode("a")
	node.Spec.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}
	mustCreate(t, c, node)
	c.Run(0)
	assert.Empty(t, mustGet[*corev1.Pod](t, c, key("pinned")).Spec.NodeName, "the node is tainted")

	_, err := fake.Edit(c, nodeKey("a"), func(node *corev1.Node) { node.Spec.Taints = nil })
	require.NoError(t, err)
	c.Run(0)
	assert.Equal(t, "a", mustGet[*corev1.Pod](t, c, key("pinned")).Spec.NodeName)
	assert.Equal(t, "a", mustGet[*corev1.Pod](t, c, key("anywhere")).Spec.NodeName)
}
