package placement_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/placement"
)

// TestUnparsableRequirements: a term that cannot be parsed matches nothing, and the reason
// says so. In every row the requirement would hold if it were read leniently.
func TestUnparsableRequirements(t *testing.T) {
	n := node("n", set{"a": "1", "b": "-1"})
	tests := []struct {
		name string
		why  string
		give corev1.NodeSelectorTerm
		says string
	}{
		{"operator", "only six operators", expressions(req("a", "Equals", "1")), `operator "Equals" is not known`},
		{"no operator", "there is no default operator", expressions(req("a", "", "1")), `operator "" is not known`},
		{"lower case", "operators of label selectors are not those of node selectors", expressions(req("a", "in", "1")), `operator "in" is not known`},
		{"In without values", "In needs a value", expressions(req("a", in)), "values set can't be empty"},
		{"NotIn without values", "NotIn needs a value", expressions(req("a", notIn)), "values set can't be empty"},
		{"Exists with values", "Exists has no values", expressions(req("a", has, "1")), "values set must be empty"},
		{"DoesNotExist with values", "DoesNotExist has no values", expressions(req("none", hasNot, "1")), "values set must be empty"},
		{"Gt with two values", "Gt has one value", expressions(req("a", gt, "0", "0")), "exactly one value is required"},
		{"Lt without values", "Lt has one value", expressions(req("a", lt)), "exactly one value is required"},
		{"Gt with a word", "both sides are integers", expressions(req("a", gt, "x")), "the value must be an integer"},
		{"Lt beyond 64 bits", "both sides are 64 bit integers", expressions(req("a", lt, "9223372036854775808")), "the value must be an integer"},
		{"Gt with a negative number", "values must be label values, and those do not begin with a minus", expressions(req("a", gt, "-2")), "a valid label must"},
		{"NotIn with what is no label value", "values must be label values", expressions(req("b", notIn, "-2")), "a valid label must"},
		{"bad key", "the key must be a label key", expressions(req("a b", hasNot)), "Invalid value"},
		{"field Exists", "matchFields: only In and NotIn", fieldTerm(req("metadata.name", has)), `operator "Exists" is not In or NotIn`},
		{"field Gt", "matchFields: only In and NotIn", fieldTerm(req("metadata.name", gt, "0")), `operator "Gt" is not In or NotIn`},
		{"field In with two", "matchFields: exactly one value", fieldTerm(req("metadata.name", in, "n", "m")), "exactly one value is needed, there are 2"},
		{"field NotIn with none", "matchFields: exactly one value", fieldTerm(req("metadata.name", notIn)), "exactly one value is needed, there are 0"},
		{"another field", "matchFields: only metadata.name", fieldTerm(req("metadata.namespace", notIn, "x")), `field "metadata.namespace" is not known`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			spec := requiring(tt.give)
			m := placement.NewMatcher(&spec, placement.Options{})
			field := terms + "[0].matchExpressions[0]"
			if len(tt.give.MatchFields) > 0 {
				field = terms + "[0].matchFields[0]"
			}
			require.ErrorContains(t, m.Err(), "placement: "+field+" does not parse: ")
			require.ErrorContains(t, m.Err(), tt.says)

			got := m.Evaluate(n)
			assert.Equal(t, placement.Evict, got.Decision, tt.why)
			require.Len(t, got.Findings, 1)
			assert.Equal(t, placement.InvalidNodeAffinity, got.Findings[0].Code)
			assert.Equal(t, field, got.Findings[0].Field)
			assert.Contains(t, got.Findings[0].Detail, tt.says)
		})
	}
}

func TestUnparsableTermsAmongOthers(t *testing.T) {
	broken := expressions(req("a", "Equals", "1"), req("b", has), req("c", in))
	tests := []struct {
		name string
		why  string
		give corev1.PodSpec
		node *corev1.Node
		want placement.Decision
		says []placement.Code
	}{
		{
			name: "another term matches",
			why:  "it took no part in the decision; Err reports it all the same",
			give: requiring(broken, expressions(req("a", has))),
			node: node("n", set{"a": "1"}),
			want: placement.Run,
		},
		{
			name: "no other term matches",
			why:  "each requirement that does not parse, the good one beside them, which does not hold either, then the other term's",
			give: requiring(broken, expressions(req("a", has))),
			node: node("n", nil),
			want: placement.Evict,
			says: []placement.Code{
				placement.InvalidNodeAffinity, placement.InvalidNodeAffinity, placement.NodeAffinityMismatch, placement.NodeAffinityMismatch,
			},
		},
		{
			name: "another obstacle, and a term matches",
			why:  "the affinity is met, so nothing is said of it",
			give: requiring(broken, expressions(req("a", has))),
			node: node("n", set{"a": "1"}, "t:NoSchedule"),
			want: placement.Keep,
			says: []placement.Code{placement.UntoleratedNoScheduleTaint},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := placement.NewMatcher(&tt.give, placement.Options{})
			got := m.Evaluate(tt.node)
			assert.Equal(t, tt.want, got.Decision, tt.why)
			var codes []placement.Code
			for _, f := range got.Findings {
				codes = append(codes, f.Code)
			}
			assert.Equal(t, tt.says, codes, tt.why)
		})
	}
}

func TestErrJoinsInTemplateOrder(t *testing.T) {
	spec := requiring(
		expressions(req("a", in), req("a", has), req("a", "Like", "x")),
		corev1.NodeSelectorTerm{},
		fieldTerm(req("metadata.uid", in, "x")),
	)
	err := placement.NewMatcher(&spec, placement.Options{}).Err()
	require.Error(t, err)
	joined, ok := err.(interface{ Unwrap() []error })
	require.True(t, ok)
	require.Len(t, joined.Unwrap(), 3)
	for i, field := range []string{"[0].matchExpressions[0]", "[0].matchExpressions[2]", "[2].matchFields[0]"} {
		assert.ErrorContains(t, joined.Unwrap()[i], "placement: "+terms+field+" does not parse: ")
	}
}
