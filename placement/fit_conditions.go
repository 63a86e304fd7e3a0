package placement

import corev1 "k8s.io/api/core/v1"

// conditionRules say which of a node's conditions hold a pod back.
type conditionRules struct {
	bestEffort  bool // minds memory pressure
	all         bool
	hostNetwork bool // does not mind the network
}

func compileConditions(spec *corev1.PodSpec, opts FitOptions) conditionRules {
	return conditionRules{bestEffort: isBestEffort(spec), all: opts.NodeConditions, hostNetwork: spec.HostNetwork}
}

// fit allocates nothing, which is why it does not ask explain.
func (r conditionRules) fit(node *corev1.Node) bool {
	ready := !r.all
	for i := range node.Status.Conditions {
		c := &node.Status.Conditions[i]
		if r.obstacle(c) != "" {
			return false
		}
		ready = ready || c.Type == corev1.NodeReady
	}
	return ready
}

// obstacle returns the code of a condition that holds the pod back, else "". A pressure that
// is unknown is none.
func (r conditionRules) obstacle(c *corev1.NodeCondition) Code {
	is := c.Status == corev1.ConditionTrue
	switch c.Type {
	case corev1.NodeMemoryPressure:
		if is && r.bestEffort {
			return NodeMemoryPressure
		}
	case corev1.NodeDiskPressure:
		if is {
			return NodeDiskPressure
		}
	case corev1.NodePIDPressure:
		if is && r.all {
			return NodePIDPressure
		}
	case corev1.NodeReady:
		if !is && r.all {
			return NodeNotReady
		}
	case corev1.NodeNetworkUnavailable:
		if is && r.all && !r.hostNetwork {
			return NodeNetworkUnavailable
		}
	}
	return ""
}

// explain adds the conditions in the order of their types, each once.
func (r conditionRules) explain(found []Finding, node *corev1.Node) []Finding {
	for _, kind := range []corev1.NodeConditionType{
		corev1.NodeMemoryPressure, corev1.NodeDiskPressure,
		corev1.NodePIDPressure, corev1.NodeReady, corev1.NodeNetworkUnavailable,
	} {
		found = r.explainKind(found, node, kind)
	}
	return found
}

func (r conditionRules) explainKind(found []Finding, node *corev1.Node, kind corev1.NodeConditionType) []Finding {
	there := false
	for i := range node.Status.Conditions {
		c := &node.Status.Conditions[i]
		if c.Type != kind {
			continue
		}
		there = true
		if code := r.obstacle(c); code != "" {
			return append(found, Finding{Code: code, Detail: conditionText(c)})
		}
	}
	if kind == corev1.NodeReady && r.all && !there {
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
