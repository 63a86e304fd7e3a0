package explain_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/daemonset/explain"
	"github.com/daemonplan/daemonplan/placement"
)

// required is a pod with one or more required terms, each of one requirement.
func required(requirements ...corev1.NodeSelectorRequirement) *corev1.PodSpec {
	selector := &corev1.NodeSelector{}
	for _, r := range requirements {
		selector.NodeSelectorTerms = append(selector.NodeSelectorTerms, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{r}})
	}
	return &corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: selector}}}
}

func TestObstacles(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"cores": "4", "empty": ""}}}
	tainted := node.DeepCopy()
	tainted.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
	asks := func(key string, operator corev1.NodeSelectorOperator, values ...string) *corev1.PodSpec {
		return required(corev1.NodeSelectorRequirement{Key: key, Operator: operator, Values: values})
	}
	tests := []struct {
		name  string
		spec  *corev1.PodSpec
		node  *corev1.Node
		text  string
		lift  string
		label *explain.Label
	}{
		{"In", asks("cores", corev1.NodeSelectorOpIn, "8", "16", "32"), node, "the template's node affinity wants a node whose label cores is 8, 16 or 32; the node has 4 (NodeAffinityMismatch)", "The label cores=8, 16 or 32 on the node would lift this.", &explain.Label{Key: "cores", Values: []string{"8", "16", "32"}}},
		{"In, no such label", asks("gpu", corev1.NodeSelectorOpIn, "yes"), node, "the template's node affinity wants a node whose label gpu is yes; the node has no such label (NodeAffinityMismatch)", "The label gpu=yes on the node would lift this.", &explain.Label{Key: "gpu", Values: []string{"yes"}}},
		{"In, many", asks("cores", corev1.NodeSelectorOpIn, strings.Split("0123456789", "")[5:]...), node, "the template's node affinity wants a node whose label cores is 5, 6, 7, 8 or 9; the node has 4 (NodeAffinityMismatch)", "The label cores=5, 6, 7, 8 or 9 on the node would lift this.", &explain.Label{Key: "cores", Values: []string{"5", "6", "7", "8", "9"}}},
		{"NotIn", asks("cores", corev1.NodeSelectorOpNotIn, "4"), node, "the template's node affinity wants a node whose label cores is not 4; the node has 4 (NodeAffinityMismatch)", "No label cores on the node, or one with a value other than 4, would lift this.", &explain.Label{Key: "cores", Absent: true}},
		{"Exists", asks("gpu", corev1.NodeSelectorOpExists), node, "the template's node affinity wants a node whose label gpu is there; the node has no such label (NodeAffinityMismatch)", "A label gpu on the node, with any value, would lift this.", &explain.Label{Key: "gpu"}},
		{"DoesNotExist", asks("empty", corev1.NodeSelectorOpDoesNotExist), node, `the template's node affinity wants a node whose label empty is not there; the node has "" (NodeAffinityMismatch)`, "No label empty on the node would lift this.", &explain.Label{Key: "empty", Absent: true}},
		{"Gt", asks("cores", corev1.NodeSelectorOpGt, "7"), node, "the template's node affinity wants a node whose label cores is above 7; the node has 4 (NodeAffinityMismatch)", "A label cores on the node with a whole number above 7 would lift this.", nil},
		{"Lt", asks("cores", corev1.NodeSelectorOpLt, "2"), node, "the template's node affinity wants a node whose label cores is below 2; the node has 4 (NodeAffinityMismatch)", "A label cores on the node with a whole number below 2 would lift this.", nil},
		{"selector", &corev1.PodSpec{NodeSelector: map[string]string{"cores": "8"}}, node, "the template's node selector wants a node whose label cores is 8; the node has 4 (NodeSelectorMismatch)", "The label cores=8 on the node would lift this.", &explain.Label{Key: "cores", Values: []string{"8"}}},
		{"name", &corev1.PodSpec{NodeName: "b"}, node, "spec.nodeName of the template names node b only (NodeNameMismatch)", "Without spec.nodeName, or with this node's name there, it would not be in the way.", nil},
		{"cordoned, and the daemon tolerates it", &corev1.PodSpec{}, tainted, "", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			verdict := placement.NewMatcher(tt.spec, placement.Options{}).Evaluate(tt.node)
			if tt.text == "" {
				require.Empty(t, verdict.Findings)
				return
			}
			require.Len(t, verdict.Findings, 1)
			got := explain.OfFinding(verdict.Findings[0], tt.spec, tt.node)
			assert.Equal(t, tt.text, got.Text())
			assert.Equal(t, tt.lift, got.Lift)
			assert.Equal(t, tt.label, got.Label)

			blind := explain.OfFinding(verdict.Findings[0], nil, nil)
			assert.Equal(t, got.Code, blind.Code)
			assert.NotEmpty(t, blind.Problem, "without the template there is still a text")
			assert.NotEmpty(t, blind.Lift)
		})
	}
}

func TestTermsAreAlternatives(t *testing.T) {
	spec := required(
		corev1.NodeSelectorRequirement{Key: "a", Operator: corev1.NodeSelectorOpExists},
		corev1.NodeSelectorRequirement{Key: "b", Operator: corev1.NodeSelectorOpExists},
	)
	verdict := placement.NewMatcher(spec, placement.Options{}).Evaluate(&corev1.Node{})
	require.Len(t, verdict.Findings, 2)
	for _, f := range verdict.Findings {
		assert.Contains(t, explain.OfFinding(f, spec, nil).Lift, "one of 2 terms, of which one has to hold in full")
	}
}

func TestWhoTakesATaintOff(t *testing.T) {
	for key, want := range map[string]string{
		corev1.TaintNodeNotReady:           "when the node is ready",
		corev1.TaintNodeUnreachable:        "when the node reports again",
		corev1.TaintNodeUnschedulable:      "kubectl uncordon",
		corev1.TaintNodeDiskPressure:       "when the pressure is gone",
		corev1.TaintNodeNetworkUnavailable: "when the node's network is set up",
		corev1.TaintNodeOutOfService:       "back in service",
	} {
		o := explain.OfFinding(placement.Finding{Code: placement.UntoleratedNoExecuteTaint, Taint: corev1.Taint{Key: key, Effect: corev1.TaintEffectNoExecute}}, nil, nil)
		assert.Contains(t, o.Lift, want)
		assert.Equal(t, &corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}, o.Toleration)
	}
	_, ok := explain.OfReason("")
	assert.False(t, ok, "the empty reason says nothing")
}
