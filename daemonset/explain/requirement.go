package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/placement"
)

// isAboutName reports whether the obstacle is about the node's name and not about a label.
func (o *Obstacle) isAboutName() bool { return strings.Contains(o.Field, ".matchFields[") }

// explainRequirement names the label that is missing and the values that are accepted. Of
// several terms of an affinity one is enough.
func (o *Obstacle) explainRequirement(r corev1.NodeSelectorRequirement, terms int) {
	if o.isAboutName() {
		o.Problem = "the template's node affinity wants a node whose name is " + wanted(r)
		o.Lift = "No label lifts this: only the template can."
		return
	}
	asker := "node affinity"
	if o.Code == placement.NodeSelectorMismatch {
		asker = "node selector"
	}
	o.Problem = "the template's " + asker + " wants a node whose label " + r.Key + " is " + wanted(r)
	o.Label, o.Lift = wishOf(r)
	if o.Code == placement.NodeAffinityMismatch && terms > 1 {
		o.Lift += fmt.Sprintf(" This is about one of %d terms, of which one has to hold in full.", terms)
	}
}

// wanted is the condition on a value in words.
func wanted(r corev1.NodeSelectorRequirement) string {
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		return oneOf(r.Values)
	case corev1.NodeSelectorOpNotIn:
		return "not " + oneOf(r.Values)
	case corev1.NodeSelectorOpExists:
		return "there"
	case corev1.NodeSelectorOpDoesNotExist:
		return "not there"
	case corev1.NodeSelectorOpGt:
		return "above " + oneOf(r.Values)
	case corev1.NodeSelectorOpLt:
		return "below " + oneOf(r.Values)
	}
	return string(r.Operator) + " " + oneOf(r.Values)
}

// hasText says what the node has where a requirement looks.
func hasText(r corev1.NodeSelectorRequirement, aboutName bool, node *corev1.Node) string {
	switch {
	case node == nil:
		return ""
	case aboutName:
		return "the node's name is " + node.Name
	}
	value, ok := node.Labels[r.Key]
	if !ok {
		return "the node has no such label"
	}
	return "the node has " + oneOf([]string{value})
}

// wishOf says which label would satisfy a requirement.
func wishOf(r corev1.NodeSelectorRequirement) (*Label, string) {
	label := Label{Key: r.Key}
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		label.Values = slices.Clone(r.Values)
		return &label, fmt.Sprintf("The label %s=%s on the node would lift this.", r.Key, oneOf(r.Values))
	case corev1.NodeSelectorOpExists:
		return &label, fmt.Sprintf("A label %s on the node, with any value, would lift this.", r.Key)
	case corev1.NodeSelectorOpNotIn:
		label.Absent = true
		return &label, fmt.Sprintf("No label %s on the node, or one with a value other than %s, would lift this.", r.Key, oneOf(r.Values))
	case corev1.NodeSelectorOpDoesNotExist:
		label.Absent = true
		return &label, fmt.Sprintf("No label %s on the node would lift this.", r.Key)
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		return nil, fmt.Sprintf("A label %s on the node with a whole number %s would lift this.", r.Key, wanted(r))
	}
	return nil, "The requirement has to be corrected in the template."
}

// maxNamed bounds how many values or names a sentence lists.
const maxNamed = 8

// oneOf lists alternatives: "a", "a or b", "a, b or c", and of many how many more there are.
func oneOf(values []string) string {
	shown := slices.Clone(values[:min(len(values), maxNamed)])
	for i, value := range shown {
		if value == "" {
			shown[i] = `""`
		}
	}
	if more := len(values) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("%d more", more))
	}
	if len(shown) < 2 {
		return strings.Join(shown, "")
	}
	last := len(shown) - 1
	return strings.Join(shown[:last], ", ") + " or " + shown[last]
}

func terms(spec *corev1.PodSpec) []corev1.NodeSelectorTerm {
	affinity := spec.Affinity
	if affinity == nil || affinity.NodeAffinity == nil || affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	return affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
}

// requirementAt finds what a path of a finding leads to. Ok is false if it leads nowhere, as
// when it is of another template, or cut because it is very long.
func requirementAt(field string, spec *corev1.PodSpec) (r corev1.NodeSelectorRequirement, ok bool) {
	if key, found := strings.CutPrefix(field, "spec.nodeSelector["); found {
		key = strings.TrimSuffix(key, "]")
		value, ok := spec.NodeSelector[key]
		return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}, ok
	}
	_, path, _ := strings.Cut(field, ".nodeSelectorTerms[")
	number, path, _ := strings.Cut(path, "]")
	term, ok := at(terms(spec), number)
	if !ok {
		return r, false
	}
	list := term.MatchExpressions
	path, found := strings.CutPrefix(path, ".matchExpressions[")
	if !found {
		list = term.MatchFields
		path = strings.TrimPrefix(path, ".matchFields[")
	}
	return at(list, strings.TrimSuffix(path, "]"))
}

// at is the element of list with the number that text holds.
func at[T any](list []T, text string) (element T, ok bool) {
	i, err := strconv.Atoi(text)
	if err != nil || i < 0 || i >= len(list) {
		return element, false
	}
	return list[i], true
}
