package placement_test

import (
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/placement"
)

// demanding is a spec that uses every rule, and eligible a node that meets it.
func demanding() *corev1.PodSpec {
	spec := requiring(
		expressions(req("cores", gt, "64"), req("zone", in, "a")),
		expressions(req("zone", in, "c", "a", "b"), req("arch", notIn, "arm64"), req("disk", has), req("old", hasNot), req("cores", lt, "64")),
	)
	spec.NodeSelector = set{"os": "linux", "disk": "ssd"}
	spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[1].MatchFields = []corev1.NodeSelectorRequirement{
		req("metadata.name", notIn, "m"),
	}
	spec.Tolerations = []corev1.Toleration{
		{Key: "dedicated", Value: "db", Effect: noSchedule},
		{Key: "cost", Operator: corev1.TolerationOpLt, Value: "10"},
	}
	return &spec
}

func eligible() *corev1.Node {
	return node("n", set{"os": "linux", "disk": "ssd", "zone": "b", "cores": "8", "arch": "amd64"},
		"dedicated=db:NoSchedule", "cost=5:NoExecute", "node.kubernetes.io/not-ready:NoExecute")
}

func TestEvaluateAllocatesNothingForEligibleNodes(t *testing.T) {
	odd := eligible()
	odd.Labels["cores"] = "eight" // is refused by two comparisons
	spec := demanding()
	term := &spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[1]
	withoutLt := spec.DeepCopy()
	withoutLt.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[1].MatchExpressions = term.MatchExpressions[:4]
	tests := []struct {
		name string
		why  string
		spec *corev1.PodSpec
		node *corev1.Node
	}{
		{"plain", "nothing asked", nil, node("n", nil)},
		{"demanding", "every rule is in play", spec, eligible()},
		{"word for a number", "a label that is no integer costs nothing either", withoutLt, odd},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := placement.NewMatcher(tt.spec, placement.Options{ComparisonTolerations: true})
			require.Equal(t, placement.Run, m.Evaluate(tt.node).Decision)
			assert.Zero(t, testing.AllocsPerRun(100, func() { m.Evaluate(tt.node) }), tt.why)
		})
	}
}

func TestDecideAllocatesNothing(t *testing.T) {
	m := placement.NewMatcher(demanding(), placement.Options{ComparisonTolerations: true})
	tests := []struct {
		node *corev1.Node
		want placement.Decision
	}{
		{nil, placement.Undecided},
		{eligible(), placement.Run},
		{node("n", nil, "a:NoExecute"), placement.Evict},
		{node("n", eligible().Labels, "a:NoSchedule"), placement.Keep},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, m.Decide(tt.node))
		assert.Zero(t, testing.AllocsPerRun(100, func() { m.Decide(tt.node) }), tt.want)
	}
}

// TestMatcherKeepsNothingOfTheSpec scribbles over the spec after it was compiled.
func TestMatcherKeepsNothingOfTheSpec(t *testing.T) {
	spec := demanding()
	m := placement.NewMatcher(spec, placement.Options{ComparisonTolerations: true})
	missing := m.Evaluate(node("m", nil))

	spec.NodeName = "scribbled"
	spec.NodeSelector["os"] = "scribbled"
	spec.Tolerations[0].Key = "scribbled"
	for _, term := range spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for i := range term.MatchExpressions {
			term.MatchExpressions[i].Key = "scribbled"
			for j := range term.MatchExpressions[i].Values {
				term.MatchExpressions[i].Values[j] = "scribbled"
			}
		}
	}
	assert.Equal(t, placement.Run, m.Evaluate(eligible()).Decision)
	assert.Equal(t, missing, m.Evaluate(node("m", nil)))
}

func TestVerdictSharesNothing(t *testing.T) {
	when := metav1.Unix(1, 0)
	n := node("n", nil, "a:NoSchedule")
	n.Spec.Taints[0].TimeAdded = &when
	spec := requiring(expressions(req("a", "Odd")))
	m := placement.NewMatcher(&spec, placement.Options{})

	got := m.Evaluate(n)
	require.Len(t, got.Findings, 2)
	got.Findings[0].Detail = "scribbled"
	got.Findings[1].Taint.TimeAdded.Time = time.Unix(2, 0)
	assert.Equal(t, metav1.Unix(1, 0), *n.Spec.Taints[0].TimeAdded, "not with the node")
	assert.NotEqual(t, "scribbled", m.Evaluate(n).Findings[0].Detail, "nor with another verdict")
}

// TestMatcherIsShared is for the race detector.
func TestMatcherIsShared(t *testing.T) {
	m := placement.NewMatcher(demanding(), placement.Options{})
	n := node("n", set{"os": "linux"}, "a:NoSchedule")
	want := m.Evaluate(n)
	got := make([]placement.Verdict, 8)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() { got[i] = m.Evaluate(n) })
	}
	wg.Wait()
	for i := range got {
		assert.Equal(t, want, got[i])
	}
}

// TestHugeValues: 1 MB everywhere is judged like anything else, and does not end up in the
// findings, which are made once a node.
func TestHugeValues(t *testing.T) {
	huge := strings.Repeat("ä", 1<<19)
	spec := requiring(
		expressions(req(huge, in, huge)),
		expressions(req("a", in, huge)),
		expressions(req("a", corev1.NodeSelectorOperator(huge))),
		expressions(req("a", gt, "1")),
		fieldTerm(req(huge, in, huge)),
		fieldTerm(req("metadata.name", in, huge)),
	)
	spec.NodeName = huge
	spec.NodeSelector = set{huge: huge, "a": "b"}
	spec.Tolerations = []corev1.Toleration{{Key: huge, Operator: corev1.TolerationOperator(huge), Value: huge}}
	other := huge[:len(huge)-2]
	n := node(other, set{huge: other, "a": other}, other+"="+other+":NoSchedule")

	m := placement.NewMatcher(&spec, placement.Options{})
	got := m.Evaluate(n)
	assert.Equal(t, placement.Evict, got.Decision)
	assert.Len(t, got.Findings, 10)
	for _, f := range got.Findings {
		assert.Less(t, len(f.Field)+len(f.Detail), 4096, f.Code)
		assert.Contains(t, f.Field+f.Detail, "...", f.Code)
		assert.True(t, utf8.ValidString(f.Field+f.Detail), "cut between characters")
	}
	require.Error(t, m.Err())
	assert.Less(t, len(m.Err().Error()), 16384)

	same := corev1.PodSpec{NodeSelector: set{huge: huge}}
	assert.Equal(t, placement.Run, placement.NewMatcher(&same, placement.Options{}).Evaluate(node("n", set{huge: huge})).Decision)
}
