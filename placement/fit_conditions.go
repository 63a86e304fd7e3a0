package placement

import corev1 "k8s.io/api/core/v1"

// conditionRules say which of a node's conditions hold a pod back.
type conditionRules struct {
	minded []mindedCondition
	ready  bool // the node has to be ready
}

// mindedCondition is one that must not be True. A pressure that is unknown is none.
type mindedCondition struct {
	kind corev1.NodeConditionType
	code Code
}

func compileConditions(spec *corev1.PodSpec, opts FitOptions) conditionRules {
	rules := conditionRules{ready: opts.NodeConditions}
	mind := func(kind corev1.NodeConditionType, code Code) {
		rules.minded = append(rules.minded, mindedCondition{kind: kind, code: code})
	}
	if isBestEffort(spec) {
		mind(corev1.NodeMemoryPressure, NodeMemoryPressure)
	}
	mind(corev1.NodeDiskPressure, NodeDiskPressure)
	if !opts.NodeConditions {
		return rules
	}
	mind(corev1.NodePIDPressure, NodePIDPressure)
	if !spec.HostNetwork {
		mind(corev1.NodeNetworkUnavailable, NodeNetworkUnavailable)
	}
	return rules
}

func (r *conditionRules) fit(node *corev1.Node) bool {
	for i := range r.minded {
		if has(node, r.minded[i].kind) != nil {
			return false
		}
	}
	return !r.ready || notReady(node) == nil && hasReady(node)
}

// has returns the first condition of a kind that is True, or nil.
func has(node *corev1.Node, kind corev1.NodeConditionType) *corev1.NodeCondition {
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == kind && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

// notReady returns a condition that says so, or nil.
func notReady(node *corev1.Node) *corev1.NodeCondition {
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

func hasReady(node *corev1.Node) bool { return has(node, corev1.NodeReady) != nil }

// explain adds what fit minds, a condition each once.
func (r *conditionRules) explain(found []Finding, node *corev1.Node) []Finding {
	for i := range r.minded {
		if c := has(node, r.minded[i].kind); c != nil {
			found = append(found, Finding{Code: r.minded[i].code, Detail: conditionText(c)})
		}
	}
	if !r.ready {
		return found
	}
	if c := notReady(node); c != nil {
		return append(found, Finding{Code: NodeNotReady, Detail: conditionText(c)})
	}
	if !hasReady(node) {
		found = append(found, Finding{Code: NodeNotReady, Detail: "the node has no condition Ready"})
	}
	return found
}

func conditionText(c *corev1.NodeCondition) string {
	text := "the node's condition " + string(c.Type) + " is " + quote(string(c.Status))
	if c.Reason != "" {
		text += ", " + clip(c.Reason)
	}
	return text
}
