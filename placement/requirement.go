package placement

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// requirement is one condition on a node: an entry of the node selector, or a match
// expression or match field of an affinity term.
type requirement struct {
	field string // path in the pod template
	want  string // the condition in words
	key   string
	// onName is set for a match field: the subject is the node's name, not a label.
	onName   bool
	operator corev1.NodeSelectorOperator
	values   []string // sorted
	bound    int64    // for Gt and Lt
}

// compileSelector returns one requirement a label, sorted by key. A node selector is not
// validated: Kubernetes compares it as it is written.
func compileSelector(selector map[string]string) []requirement {
	compiled := make([]requirement, 0, len(selector))
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		value := selector[key]
		compiled = append(compiled, requirement{
			field:    "spec.nodeSelector[" + clip(key) + "]",
			want:     clip(key) + " must be " + quote(value),
			key:      key,
			operator: corev1.NodeSelectorOpIn,
			values:   []string{value},
		})
	}
	return compiled
}

// matches reports whether the condition holds. A label that is missing satisfies NotIn and
// DoesNotExist only.
//
// A match field is skipped on a node without a name, as in Kubernetes v1.37.2, where such a
// node has no fields to select by. An API server stores no such node, a simulation may.
func (r *requirement) matches(node *corev1.Node) bool {
	if r.onName && node.Name == "" {
		return true
	}
	value, found := r.subject(node)
	switch r.operator {
	case corev1.NodeSelectorOpIn:
		return found && r.lists(value)
	case corev1.NodeSelectorOpNotIn:
		return !found || !r.lists(value)
	case corev1.NodeSelectorOpExists:
		return found
	case corev1.NodeSelectorOpDoesNotExist:
		return !found
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		return r.compares(value)
	}
	return false
}

// subject returns what the condition is about: the node's name or a label of it.
func (r *requirement) subject(node *corev1.Node) (string, bool) {
	if r.onName {
		return node.Name, true
	}
	value, found := node.Labels[r.key]
	return value, found
}

func (r *requirement) lists(value string) bool {
	_, found := slices.BinarySearch(r.values, value)
	return found
}

// compares needs no check for a missing label: its value is empty, which is no integer.
func (r *requirement) compares(value string) bool {
	number, ok := parseInt(value)
	if !ok {
		return false
	}
	if r.operator == corev1.NodeSelectorOpGt {
		return number > r.bound
	}
	return number < r.bound
}

// allMatch is true for no requirements.
func allMatch(requirements []requirement, node *corev1.Node) bool {
	for i := range requirements {
		if !requirements[i].matches(node) {
			return false
		}
	}
	return true
}

// appendMismatches adds a finding for each requirement that does not hold.
func appendMismatches(found []Finding, requirements []requirement, code Code, node *corev1.Node) []Finding {
	for i := range requirements {
		r := &requirements[i]
		if r.matches(node) {
			continue
		}
		has := "no such label"
		if value, ok := r.subject(node); ok {
			has = quote(value)
		}
		found = append(found, Finding{Code: code, Field: r.field, Detail: r.want + ", the node has " + has})
	}
	return found
}
