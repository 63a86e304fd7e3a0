package fake

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// placeOf files a pod under the node that it is bound to, else the one that its required
// affinity pins it to, else under no node.
func placeOf(pod *corev1.Pod) []string {
	if pod.Spec.NodeName != "" {
		return []string{pod.Spec.NodeName}
	}
	if required := requiredAffinity(pod); required != nil && len(required.NodeSelectorTerms) == 1 {
		for _, field := range required.NodeSelectorTerms[0].MatchFields {
			if field.Key == metav1.ObjectNameField && field.Operator == corev1.NodeSelectorOpIn && len(field.Values) == 1 {
				return []string{field.Values[0]}
			}
		}
	}
	return []string{""}
}

func requiredAffinity(pod *corev1.Pod) *corev1.NodeSelector {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil {
		return nil
	}
	return pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// choose finds a node for a pod: the one it is pinned to, or by chance one of those that
// will do; nil if there is none.
func (c *Cluster) choose(pod *corev1.Pod) *corev1.Node {
	if place := placeOf(pod)[0]; place != "" {
		if node := c.nodes.objects[keyIn("", place)]; node != nil && fits(pod, node) {
			return node
		}
		return nil
	}
	nodes := slices.DeleteFunc(c.nodes.in(""), func(node *corev1.Node) bool { return !fits(pod, node) })
	if len(nodes) == 0 {
		return nil
	}
	return nodes[c.chance.source("place", string(pod.UID)).IntN(len(nodes))]
}

// fits tells whether the scheduler would bind the pod to the node.
func fits(pod *corev1.Pod, node *corev1.Node) bool {
	for i := range node.Spec.Taints {
		taint := &node.Spec.Taints[i]
		if taint.Effect != corev1.TaintEffectPreferNoSchedule && tolerationOf(pod, taint) == nil {
			return false
		}
	}
	if !labels.SelectorFromSet(pod.Spec.NodeSelector).Matches(labels.Set(node.Labels)) {
		return false
	}
	required := requiredAffinity(pod)
	return required == nil || slices.ContainsFunc(required.NodeSelectorTerms, func(term corev1.NodeSelectorTerm) bool {
		return matches(term, node)
	})
}

// tolerationOf finds the toleration of the pod that covers a taint; nil if none does.
func tolerationOf(pod *corev1.Pod, taint *corev1.Taint) *corev1.Toleration {
	for i := range pod.Spec.Tolerations {
		t := &pod.Spec.Tolerations[i]
		covered := (t.Effect == "" || t.Effect == taint.Effect) && (t.Key == "" || t.Key == taint.Key)
		if covered && (t.Operator == corev1.TolerationOpExists || t.Key != "" && equals(t, taint)) {
			return t
		}
	}
	return nil
}

func equals(t *corev1.Toleration, taint *corev1.Taint) bool {
	return (t.Operator == corev1.TolerationOpEqual || t.Operator == "") && t.Value == taint.Value
}

// matches judges one term of a node selector. An empty one, and one that does not parse,
// matches nothing.
func matches(term corev1.NodeSelectorTerm, node *corev1.Node) bool {
	if len(term.MatchExpressions)+len(term.MatchFields) == 0 {
		return false
	}
	fields := labels.Set{metav1.ObjectNameField: node.Name}
	return !slices.ContainsFunc(term.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool { return !holds(r, labels.Set(node.Labels)) }) &&
		!slices.ContainsFunc(term.MatchFields, func(r corev1.NodeSelectorRequirement) bool { return !holds(r, fields) })
}

func holds(r corev1.NodeSelectorRequirement, set labels.Set) bool {
	value, there := set[r.Key]
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		return there && slices.Contains(r.Values, value)
	case corev1.NodeSelectorOpNotIn:
		return !there || !slices.Contains(r.Values, value)
	case corev1.NodeSelectorOpExists:
		return there
	case corev1.NodeSelectorOpDoesNotExist:
		return !there
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		return there && compared(r, value)
	}
	return false
}

func compared(r corev1.NodeSelectorRequirement, value string) bool {
	if len(r.Values) != 1 {
		return false
	}
	has, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return false
	}
	limit, err := strconv.ParseInt(r.Values[0], 10, 64)
	if err != nil {
		return false
	}
	return r.Operator == corev1.NodeSelectorOpGt && has > limit || r.Operator == corev1.NodeSelectorOpLt && has < limit
}
