package placement_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/placement"
)

const (
	in     = corev1.NodeSelectorOpIn
	notIn  = corev1.NodeSelectorOpNotIn
	has    = corev1.NodeSelectorOpExists
	hasNot = corev1.NodeSelectorOpDoesNotExist
	gt     = corev1.NodeSelectorOpGt
	lt     = corev1.NodeSelectorOpLt
)

func TestOperators(t *testing.T) {
	n := node("n", set{"a": "1", "b": "5", "empty": "", "word": "x", "plus": "+5", "zeros": "005", "colon": "9:", "slash": "9/", "huge": "9223372036854775808"})
	tests := []struct {
		name string
		why  string
		give corev1.NodeSelectorRequirement
		want bool
	}{
		{"In, listed", "In: the value is one of the list", req("a", in, "0", "1"), true},
		{"In, not listed", "In: another value does not match", req("a", in, "0", "2"), false},
		{"In, unsorted list", "In: the order of the list does not matter", req("a", in, "9", "1", "5", "0"), true},
		{"In, missing", "In: a missing key does not match, not even the empty value", req("none", in, ""), false},
		{"In, empty label", "In: a label with the empty value is there", req("empty", in, ""), true},
		{"NotIn, listed", "NotIn: a listed value does not match", req("a", notIn, "0", "1"), false},
		{"NotIn, not listed", "NotIn: another value matches", req("a", notIn, "0", "2"), true},
		{"NotIn, missing", "NotIn: a missing key matches", req("none", notIn, ""), true},
		{"NotIn, empty label", "NotIn: a label with the empty value is there", req("empty", notIn, ""), false},
		{"Exists", "Exists: the key is there", req("a", has), true},
		{"Exists, empty label", "Exists: whatever its value", req("empty", has), true},
		{"Exists, missing", "Exists: the key is missing", req("none", has), false},
		{"DoesNotExist", "DoesNotExist: the key is there", req("a", hasNot), false},
		{"DoesNotExist, empty label", "DoesNotExist: the key is there, with no value", req("empty", hasNot), false},
		{"DoesNotExist, missing", "DoesNotExist: the key is missing", req("none", hasNot), true},
		{"Gt, above", "Gt: the label is greater", req("b", gt, "4"), true},
		{"Gt, equal", "Gt is strict", req("b", gt, "5"), false},
		{"Gt, below", "Gt: the label is less", req("b", gt, "10"), false},
		{"Gt, missing", "Gt: a missing label does not match", req("none", gt, "0"), false},
		{"Gt, word", "Gt: a non-numeric label does not match", req("word", gt, "0"), false},
		{"Gt, empty label", "Gt: the empty value is no integer", req("empty", gt, "0"), false},
		{"Gt, too large", "Gt: 64 bits, beyond them is no integer", req("huge", gt, "0"), false},
		{"Gt, colon", "Gt: the character after 9 is no digit", req("colon", gt, "0"), false},
		{"Gt, slash", "Gt: the character before 0 is no digit", req("slash", gt, "0"), false},
		{"Gt, plus sign", "Gt: labels are read leniently, as strconv does", req("plus", gt, "4"), true},
		{"Lt, below", "Lt: the label is less; as integers, not as text", req("b", lt, "10"), true},
		{"Lt, equal", "Lt is strict", req("b", lt, "5"), false},
		{"Lt, above", "Lt: the label is greater", req("b", lt, "4"), false},
		{"Lt, missing", "Lt: a missing label does not match, it is not 0", req("none", lt, "1"), false},
		{"Lt, word", "Lt: a non-numeric label does not match", req("word", lt, "1"), false},
		{"Lt, leading zeros", "Lt: labels are read leniently, as strconv does", req("zeros", lt, "006"), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			spec := requiring(expressions(tt.give))
			m := placement.NewMatcher(&spec, placement.Options{})
			require.NoError(t, m.Err())
			assert.Equal(t, tt.want, m.Evaluate(n).Decision == placement.Run, tt.why)
		})
	}
}

func TestTerms(t *testing.T) {
	n := node("n", set{"a": "1", "b": "2"})
	yes, no := req("a", in, "1"), req("b", in, "1")
	noLine := `: b In ["1"], the node has "2"`
	tests := []struct {
		name string
		why  string
		give corev1.PodSpec
		node *corev1.Node
		says []string // nil: the node matches
	}{
		{
			name: "one of two terms",
			why:  "terms are OR-ed; a term that fails leaves no finding when another matches",
			give: requiring(expressions(no), expressions(yes)),
		},
		{
			name: "the first of two terms",
			why:  "terms are OR-ed, whichever comes first",
			give: requiring(expressions(yes), expressions(no)),
		},
		{
			name: "one of two expressions",
			why:  "expressions in a term are AND-ed; only the failing one is named",
			give: requiring(expressions(yes, no)),
			says: []string{"NodeAffinityMismatch terms[0].matchExpressions[1]" + noLine},
		},
		{
			name: "expression and field",
			why:  "expressions and fields in a term are AND-ed",
			give: requiring(corev1.NodeSelectorTerm{
				MatchExpressions: []corev1.NodeSelectorRequirement{yes},
				MatchFields:      []corev1.NodeSelectorRequirement{req("metadata.name", in, "m")},
			}),
			says: []string{`NodeAffinityMismatch terms[0].matchFields[0]: metadata.name In ["m"], the node has "n"`},
		},
		{
			name: "every failing requirement of every term",
			why:  "all obstacles are collected, terms and requirements as written",
			give: requiring(expressions(no, yes, req("c", has)), expressions(req("a", hasNot))),
			says: []string{
				"NodeAffinityMismatch terms[0].matchExpressions[0]" + noLine,
				"NodeAffinityMismatch terms[0].matchExpressions[2]: c Exists, the node has no such label",
				`NodeAffinityMismatch terms[1].matchExpressions[0]: a DoesNotExist, the node has "1"`,
			},
		},
		{
			name: "empty term",
			why:  "a term without expressions and fields matches nothing",
			give: requiring(corev1.NodeSelectorTerm{}),
			says: []string{"NodeAffinityMismatch terms[0]: the term is empty, which matches no node"},
		},
		{
			name: "empty term beside one that matches",
			why:  "an empty term is one alternative among others",
			give: requiring(corev1.NodeSelectorTerm{}, expressions(yes)),
		},
		{
			name: "no terms",
			why:  "no terms at all matches nothing",
			give: requiring([]corev1.NodeSelectorTerm{}...),
			says: []string{"NodeAffinityMismatch terms: there are no terms, which matches no node"},
		},
		{
			name: "absent requirement",
			why:  "an absent requirement matches everything",
			give: corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}},
		},
		{
			name: "absent node affinity",
			why:  "an absent requirement matches everything",
			give: corev1.PodSpec{Affinity: &corev1.Affinity{}},
		},
		{
			name: "field In",
			why:  "matchFields: metadata.name In this node",
			give: requiring(fieldTerm(req("metadata.name", in, "n"))),
		},
		{
			name: "field NotIn another",
			why:  "matchFields: metadata.name NotIn another node",
			give: requiring(fieldTerm(req("metadata.name", notIn, "m"))),
		},
		{
			name: "field NotIn this",
			why:  "matchFields: metadata.name NotIn this node",
			give: requiring(fieldTerm(req("metadata.name", notIn, "n"))),
			says: []string{`NodeAffinityMismatch terms[0].matchFields[0]: metadata.name NotIn ["n"], the node has "n"`},
		},
		{
			name: "field is no label",
			why:  "a match field looks at the name, a match expression at labels",
			give: requiring(fieldTerm(req("metadata.name", in, "n")), expressions(req("metadata.name", has))),
			node: node("m", set{"metadata.name": "m"}),
		},
		{
			name: "node without a name",
			why:  "such a node has no fields, and Kubernetes then skips match fields",
			give: requiring(fieldTerm(req("metadata.name", in, "n"))),
			node: node("", nil),
		},
		{
			name: "long list",
			why:  "evidence is bounded, and in the order of the template",
			give: requiring(expressions(req("a", in, "k", "j", "i", "h", "g", "f", "e", "d", "c", "b"))),
			says: []string{
				`NodeAffinityMismatch terms[0].matchExpressions[0]: a In ["k", "j", "i", "h", "g", "f", "e", "d", and 2 more], the node has "1"`,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := placement.NewMatcher(&tt.give, placement.Options{})
			require.NoError(t, m.Err())
			if tt.node == nil {
				tt.node = n
			}
			got := m.Evaluate(tt.node)
			assert.Equal(t, tt.says, lines(got.Findings), tt.why)
			assert.Equal(t, tt.says == nil, got.Decision == placement.Run, tt.why)
		})
	}
}
