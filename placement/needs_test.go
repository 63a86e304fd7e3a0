package placement_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/placement"
)

func TestNeeds(t *testing.T) {
	value := func(key, value string) placement.Need { return placement.Need{Key: key, Value: value} }
	requirement := func(key string, operator corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: operator, Values: values}
	}
	expressions := func(of ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: of}
	}
	required := func(terms ...corev1.NodeSelectorTerm) *corev1.PodSpec {
		return &corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
		}}}
	}
	tests := []struct {
		name string
		why  string
		give *corev1.PodSpec
		want [][]placement.Need
	}{
		{"nothing", "every node will do", &corev1.PodSpec{}, nil},
		{"tolerations", "they ask for nothing", &corev1.PodSpec{Tolerations: []corev1.Toleration{{Operator: "Exists"}}}, nil},
		{"node name", "one node", &corev1.PodSpec{NodeName: "n1"}, [][]placement.Need{{{Kind: placement.NeedsName, Value: "n1"}}}},
		{"selector", "all of it", &corev1.PodSpec{NodeSelector: set{"b": "2", "a": "1"}}, [][]placement.Need{{value("a", "1")}, {value("b", "2")}}},
		{"in", "one of the values", required(expressions(requirement("a", in, "2", "1"))), [][]placement.Need{{value("a", "1"), value("a", "2")}}},
		{
			"one term", "each requirement that asks for something",
			required(expressions(requirement("a", hasNot), requirement("b", has), requirement("c", gt, "3"), requirement("d", notIn, "x"))),
			[][]placement.Need{{{Kind: placement.NeedsKey, Key: "b"}}, {{Kind: placement.NeedsKey, Key: "c"}}},
		},
		{
			"two terms", "something of either",
			required(expressions(requirement("a", in, "1"), requirement("b", in, "2")), expressions(requirement("c", has))),
			[][]placement.Need{{value("a", "1"), {Kind: placement.NeedsKey, Key: "c"}}},
		},
		{"two terms, one without needs", "that one may match any node", required(expressions(requirement("a", in, "1")), expressions(requirement("c", hasNot))), nil},
		{"an empty term and another", "the empty one matches nothing", required(expressions(), expressions(requirement("a", in, "1"))), [][]placement.Need{{value("a", "1")}}},
		{"no terms", "nothing matches", required(), [][]placement.Need{{}}},
		{
			"match field", "a name",
			required(corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{requirement("metadata.name", in, "n1")}}),
			[][]placement.Need{{{Kind: placement.NeedsName, Value: "n1"}}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, placement.NewMatcher(tt.give, placement.Options{}).Needs(), tt.why)
		})
	}
}

func TestToleratedKeys(t *testing.T) {
	of := func(tolerations ...corev1.Toleration) ([]string, bool) {
		return placement.NewMatcher(&corev1.PodSpec{Tolerations: tolerations}, placement.Options{}).ToleratedKeys()
	}
	added, every := of()
	assert.False(t, every)
	assert.Contains(t, added, corev1.TaintNodeNotReady, "what all daemon pods tolerate")
	keys, every := of(corev1.Toleration{Key: "db", Value: "x"}, corev1.Toleration{Key: "db", Operator: "Exists", Effect: "NoExecute"}, corev1.Toleration{Key: "odd", Operator: "Like"})
	assert.False(t, every)
	assert.Equal(t, append([]string{"db"}, added...), keys)
	_, every = of(corev1.Toleration{Operator: "Exists"})
	assert.True(t, every)
}

// TestNeedsAreNeeded: a node that is judged Run has something of everything that is needed, and
// no taint of a key that is not tolerated.
func TestNeedsAreNeeded(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	ran, needy, refused, tolerant := 0, 0, 0, 0
	for range 20_000 {
		data := make([]byte, 80)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		d := &dice{data: data}
		spec, n, options := d.spec(), d.node(), d.options()
		if n == nil || n.Name == "" {
			continue
		}
		m := placement.NewMatcher(spec, options)
		misses := slices.ContainsFunc(m.Needs(), func(either []placement.Need) bool {
			return !slices.ContainsFunc(either, func(need placement.Need) bool { return hasNeed(n, need) })
		})
		if m.Decide(n) == placement.Run {
			require.False(t, misses, "%q", data)
			keys, every := m.ToleratedKeys()
			for _, taint := range n.Spec.Taints {
				if !every && (taint.Effect == corev1.TaintEffectNoSchedule || taint.Effect == corev1.TaintEffectNoExecute) {
					require.Contains(t, keys, taint.Key, "%q", data)
					tolerant++
				}
			}
			ran++
			if len(m.Needs()) > 0 {
				needy++
			}
		}
		if misses {
			refused++
		}
	}
	require.Positive(t, ran-needy)
	require.Positive(t, needy)
	require.Positive(t, refused)
	require.Positive(t, tolerant)
}

func hasNeed(n *corev1.Node, need placement.Need) bool {
	value, has := n.Labels[need.Key]
	switch need.Kind {
	case placement.NeedsLabel:
		return has && value == need.Value
	case placement.NeedsKey:
		return has
	case placement.NeedsName:
		return n.Name == need.Value
	}
	return false
}
