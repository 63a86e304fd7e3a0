package placement

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

const termsField = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"

// nodeAffinity is a required node affinity. Its terms are alternatives.
type nodeAffinity struct {
	required bool // false: there is no requirement, so every node matches
	terms    []term
}

// term is one alternative; all of its requirements must hold.
type term struct {
	field        string
	requirements []requirement
	broken       []Finding // what does not parse; one is enough for the term to match nothing
}

func compileAffinity(affinity *corev1.Affinity) nodeAffinity {
	if affinity == nil || affinity.NodeAffinity == nil {
		return nodeAffinity{}
	}
	required := affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil {
		return nodeAffinity{}
	}
	compiled := nodeAffinity{required: true, terms: make([]term, len(required.NodeSelectorTerms))}
	for i := range required.NodeSelectorTerms {
		compiled.terms[i] = compileTerm(&required.NodeSelectorTerms[i], element(termsField, i))
	}
	return compiled
}

func compileTerm(source *corev1.NodeSelectorTerm, field string) term {
	compiled := term{field: field}
	for i := range source.MatchExpressions {
		expression := &source.MatchExpressions[i]
		compiled.add(expression, element(field+".matchExpressions", i), checkExpression(expression))
	}
	onLabels := len(compiled.requirements)
	for i := range source.MatchFields {
		expression := &source.MatchFields[i]
		compiled.add(expression, element(field+".matchFields", i), checkField(expression))
	}
	for i := onLabels; i < len(compiled.requirements); i++ {
		compiled.requirements[i].onName = true
	}
	return compiled
}

// add takes over one requirement, or the reason why it does not parse.
func (t *term) add(source *corev1.NodeSelectorRequirement, field string, invalid error) {
	if invalid != nil {
		t.broken = append(t.broken, Finding{
			Code:   InvalidNodeAffinity,
			Field:  field,
			Detail: "does not parse: " + clip(invalid.Error()),
		})
		return
	}
	compiled := requirement{
		field:    field,
		want:     wantText(source),
		key:      source.Key,
		operator: source.Operator,
		values:   slices.Sorted(slices.Values(source.Values)),
	}
	if source.Operator == corev1.NodeSelectorOpGt || source.Operator == corev1.NodeSelectorOpLt {
		compiled.bound, _ = parseInt(source.Values[0]) // checked: exactly one, and an integer
	}
	t.requirements = append(t.requirements, compiled)
}

// checkExpression says why a match expression does not parse. Key, operator and values must
// be what a label can have, which rules out comparing with a negative number.
func checkExpression(source *corev1.NodeSelectorRequirement) error {
	operator, known := labelOperator(source.Operator)
	if !known {
		return errors.New("operator " + quote(string(source.Operator)) + " is not known")
	}
	_, err := labels.NewRequirement(source.Key, operator, source.Values)
	return err
}

func labelOperator(operator corev1.NodeSelectorOperator) (selection.Operator, bool) {
	switch operator {
	case corev1.NodeSelectorOpIn:
		return selection.In, true
	case corev1.NodeSelectorOpNotIn:
		return selection.NotIn, true
	case corev1.NodeSelectorOpExists:
		return selection.Exists, true
	case corev1.NodeSelectorOpDoesNotExist:
		return selection.DoesNotExist, true
	case corev1.NodeSelectorOpGt:
		return selection.GreaterThan, true
	case corev1.NodeSelectorOpLt:
		return selection.LessThan, true
	}
	return "", false
}

// checkField says why a match field does not parse. A node has one field to select by.
func checkField(source *corev1.NodeSelectorRequirement) error {
	if source.Key != metav1.ObjectNameField {
		return errors.New("field " + quote(source.Key) + " is not known, only metadata.name is")
	}
	if source.Operator != corev1.NodeSelectorOpIn && source.Operator != corev1.NodeSelectorOpNotIn {
		return errors.New("operator " + quote(string(source.Operator)) + " is not In or NotIn")
	}
	if len(source.Values) != 1 {
		return fmt.Errorf("exactly one value is needed, there are %d", len(source.Values))
	}
	return nil
}

// err joins what does not parse.
func (a nodeAffinity) err() error {
	var invalid []error
	for i := range a.terms {
		for _, f := range a.terms[i].broken {
			invalid = append(invalid, errors.New("placement: "+f.Field+" "+f.Detail))
		}
	}
	return errors.Join(invalid...)
}

func (a nodeAffinity) matches(node *corev1.Node) bool {
	for i := range a.terms {
		if a.terms[i].matches(node) {
			return true
		}
	}
	return !a.required
}

// matches is false for a term without requirements, as in Kubernetes.
func (t *term) matches(node *corev1.Node) bool {
	return len(t.broken) == 0 && len(t.requirements) > 0 && allMatch(t.requirements, node)
}

// explain adds why no term matches, or nothing if one does.
func (a nodeAffinity) explain(found []Finding, node *corev1.Node) []Finding {
	if a.matches(node) {
		return found
	}
	if len(a.terms) == 0 {
		return append(found, Finding{
			Code:   NodeAffinityMismatch,
			Field:  termsField,
			Detail: "there are no terms, which matches no node",
		})
	}
	for i := range a.terms {
		found = a.terms[i].explain(found, node)
	}
	return found
}

// explain adds why a term does not match: what of it does not parse, and of the rest what
// does not hold.
func (t *term) explain(found []Finding, node *corev1.Node) []Finding {
	if len(t.broken) == 0 && len(t.requirements) == 0 {
		return append(found, Finding{
			Code:   NodeAffinityMismatch,
			Field:  t.field,
			Detail: "the term is empty, which matches no node",
		})
	}
	found = append(found, t.broken...)
	return appendMismatches(found, t.requirements, NodeAffinityMismatch, node)
}

func element(field string, i int) string {
	return field + "[" + strconv.Itoa(i) + "]"
}
