package placement_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/placement"
)

// TestEvaluateOrder has the rules in the order in which they decide. Operators, tolerations
// and terms that do not parse have their own tables.
func TestEvaluateOrder(t *testing.T) {
	zoneA := requiring(expressions(req("zone", corev1.NodeSelectorOpIn, "a")))
	everything := corev1.PodSpec{
		NodeName:     "other",
		NodeSelector: set{"disk": "ssd", "arch": "arm64"},
		Affinity:     zoneA.Affinity,
	}
	tests := []struct {
		name string
		why  string
		spec corev1.PodSpec
		node *corev1.Node
		want placement.Decision
		says []string
	}{
		{
			name: "nothing asked, nothing in the way",
			why:  "rule 4: otherwise yes, yes",
			node: node("n", nil),
			want: placement.Run,
		},
		{
			name: "named node",
			why:  "rule 1: spec.nodeName that is this node decides nothing",
			spec: corev1.PodSpec{NodeName: "n"},
			node: node("n", nil),
			want: placement.Run,
		},
		{
			name: "another named node",
			why:  "rule 1: spec.nodeName that is not this node: no, no",
			spec: corev1.PodSpec{NodeName: "m"},
			node: node("n", nil),
			want: placement.Evict,
			says: []string{`NodeNameMismatch spec.nodeName: the template names node "m", this one is "n"`},
		},
		{
			name: "selector matches",
			why:  "rule 2: every label of the selector is on the node",
			spec: corev1.PodSpec{NodeSelector: set{"disk": "ssd", "arch": ""}},
			node: node("n", set{"disk": "ssd", "arch": "", "more": "x"}),
			want: placement.Run,
		},
		{
			name: "selector mismatches",
			why:  "rule 2: a label that differs or is missing: no, no; each is named, by key",
			spec: corev1.PodSpec{NodeSelector: set{"disk": "ssd", "arch": "", "os": "linux"}},
			node: node("n", set{"disk": "hdd", "os": "linux"}),
			want: placement.Evict,
			says: []string{
				`NodeSelectorMismatch spec.nodeSelector[arch]: arch must be "", the node has no such label`,
				`NodeSelectorMismatch spec.nodeSelector[disk]: disk must be "ssd", the node has "hdd"`,
			},
		},
		{
			name: "affinity matches",
			why:  "rule 2: required affinity that matches decides nothing",
			spec: zoneA,
			node: node("n", set{"zone": "a"}),
			want: placement.Run,
		},
		{
			name: "affinity mismatches",
			why:  "rule 2: required affinity that does not match: no, no",
			spec: zoneA,
			node: node("n", set{"zone": "b"}),
			want: placement.Evict,
			says: []string{`NodeAffinityMismatch terms[0].matchExpressions[0]: zone In ["a"], the node has "b"`},
		},
		{
			name: "selector and affinity",
			why:  "rule 2: both must match",
			spec: corev1.PodSpec{NodeSelector: set{"disk": "ssd"}, Affinity: zoneA.Affinity},
			node: node("n", set{"zone": "a"}),
			want: placement.Evict,
			says: []string{`NodeSelectorMismatch spec.nodeSelector[disk]: disk must be "ssd", the node has no such label`},
		},
		{
			name: "NoSchedule",
			why:  "rule 3: an untolerated NoSchedule taint: no new pod, an old one stays",
			node: node("n", nil, "dedicated=db:NoSchedule"),
			want: placement.Keep,
			says: []string{"UntoleratedNoScheduleTaint spec.tolerations: taint dedicated=db:NoSchedule is not tolerated"},
		},
		{
			name: "NoExecute",
			why:  "rule 3: an untolerated NoExecute taint: no pod stays",
			node: node("n", nil, "drain:NoExecute"),
			want: placement.Evict,
			says: []string{"UntoleratedNoExecuteTaint spec.tolerations: taint drain:NoExecute is not tolerated"},
		},
		{
			name: "NoSchedule then NoExecute",
			why:  "rule 3: keep unless any untolerated taint is NoExecute; each taint is named in the node's order",
			node: node("n", nil, "a:NoSchedule", "b:NoExecute", "c:NoSchedule"),
			want: placement.Evict,
			says: []string{
				"UntoleratedNoScheduleTaint spec.tolerations: taint a:NoSchedule is not tolerated",
				"UntoleratedNoExecuteTaint spec.tolerations: taint b:NoExecute is not tolerated",
				"UntoleratedNoScheduleTaint spec.tolerations: taint c:NoSchedule is not tolerated",
			},
		},
		{
			name: "tolerated NoExecute beside NoSchedule",
			why:  "rule 3: a tolerated NoExecute taint does not turn keep into evict",
			spec: tolerating(exists("b", corev1.TaintEffectNoExecute)),
			node: node("n", nil, "a:NoSchedule", "b:NoExecute"),
			want: placement.Keep,
			says: []string{"UntoleratedNoScheduleTaint spec.tolerations: taint a:NoSchedule is not tolerated"},
		},
		{
			name: "PreferNoSchedule and unknown effects",
			why:  "rule 3: PreferNoSchedule never matters, nor does an effect that Kubernetes has not got",
			node: node("n", nil, "a:PreferNoSchedule", "b:NoSuchEffect", "c:"),
			want: placement.Run,
		},
		{
			name: "everything at once",
			why:  "every obstacle is found, in template order, whichever decided",
			spec: everything,
			node: node("n", set{"disk": "hdd"}, "a=1:NoSchedule", "b:NoExecute"),
			want: placement.Evict,
			says: []string{
				`NodeNameMismatch spec.nodeName: the template names node "other", this one is "n"`,
				`NodeSelectorMismatch spec.nodeSelector[arch]: arch must be "arm64", the node has no such label`,
				`NodeSelectorMismatch spec.nodeSelector[disk]: disk must be "ssd", the node has "hdd"`,
				`NodeAffinityMismatch terms[0].matchExpressions[0]: zone In ["a"], the node has no such label`,
				"UntoleratedNoScheduleTaint spec.tolerations: taint a=1:NoSchedule is not tolerated",
				"UntoleratedNoExecuteTaint spec.tolerations: taint b:NoExecute is not tolerated",
			},
		},
		{
			name: "keep from a taint, evict from the name",
			why:  "the first rule that applies decides: a taint cannot soften the name",
			spec: corev1.PodSpec{NodeName: "other"},
			node: node("n", nil, "a:NoSchedule"),
			want: placement.Evict,
			says: []string{
				`NodeNameMismatch spec.nodeName: the template names node "other", this one is "n"`,
				"UntoleratedNoScheduleTaint spec.tolerations: taint a:NoSchedule is not tolerated",
			},
		},
		{
			name: "preferred affinity, pod affinity and spread",
			why:  "rule 2: they play no part",
			spec: corev1.PodSpec{
				Affinity: &corev1.Affinity{
					NodeAffinity: &corev1.NodeAffinity{
						PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
							{Weight: 1, Preference: expressions(req("zone", corev1.NodeSelectorOpIn, "a"))},
						},
					},
					PodAffinity: &corev1.PodAffinity{
						RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "zone"}},
					},
					PodAntiAffinity: &corev1.PodAntiAffinity{
						RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "zone"}},
					},
				},
				TopologySpreadConstraints: []corev1.TopologySpreadConstraint{
					{TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule},
				},
			},
			node: node("n", nil),
			want: placement.Run,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := placement.NewMatcher(&tt.spec, placement.Options{}).Evaluate(tt.node)
			assert.Equal(t, tt.want, got.Decision, tt.why)
			assert.Equal(t, tt.says, lines(got.Findings), tt.why)
		})
	}
}

// TestEvaluateReadsNoConditions: spec.unschedulable, Ready and pressure are never read, only
// taints speak.
func TestEvaluateReadsNoConditions(t *testing.T) {
	n := node("n", nil)
	n.Spec.Unschedulable = true
	n.Status.Conditions = []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: corev1.ConditionFalse},
		{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue},
		{Type: corev1.NodeNetworkUnavailable, Status: corev1.ConditionTrue},
	}
	assert.Equal(t, placement.Verdict{Decision: placement.Run}, placement.NewMatcher(nil, placement.Options{}).Evaluate(n))
}

func TestEvaluateFullPaths(t *testing.T) {
	spec := requiring(
		expressions(req("os", corev1.NodeSelectorOpExists)),
		expressions(req("zone", corev1.NodeSelectorOpExists), req("disk", corev1.NodeSelectorOpIn, "ssd")),
	)
	found := placement.NewMatcher(&spec, placement.Options{}).Evaluate(node("n", set{"zone": "a"})).Findings
	require.Len(t, found, 2)
	assert.Equal(t, terms+"[0].matchExpressions[0]", found[0].Field)
	assert.Equal(t, terms+"[1].matchExpressions[1]", found[1].Field)
}

func TestEvaluateNil(t *testing.T) {
	m := placement.NewMatcher(nil, placement.Options{})
	assert.Equal(t, placement.Verdict{}, m.Evaluate(nil), "no node: undecided, no findings")
	assert.Equal(t, placement.Run, m.Evaluate(&corev1.Node{}).Decision, "a nil spec is the empty spec")
	assert.NoError(t, m.Err())
	tainted := node("n", nil, corev1.TaintNodeUnreachable+":NoExecute")
	assert.Equal(t, placement.Run, m.Evaluate(tainted).Decision, "and gets the default tolerations too")
}
