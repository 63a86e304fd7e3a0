package daemonset_test

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// slowPlacement answers whether a pod should run on node and whether one that is there may
// stay, the slow and obvious way. It is written from the rules, not from the code it checks.
func slowPlacement(spec *corev1.PodSpec, node *corev1.Node, comparisons bool) (run, stay bool) {
	if spec.NodeName != "" && spec.NodeName != node.Name {
		return false, false
	}
	for key, value := range spec.NodeSelector {
		if got, ok := node.Labels[key]; !ok || got != value {
			return false, false
		}
	}
	if !slowAffinity(spec.Affinity, node) {
		return false, false
	}
	run, stay = true, true
	for _, taint := range node.Spec.Taints {
		if taint.Effect == corev1.TaintEffectPreferNoSchedule || slowTolerated(spec, taint, comparisons) {
			continue
		}
		run = false
		if taint.Effect == corev1.TaintEffectNoExecute {
			stay = false
		}
	}
	return run, stay
}

func slowAffinity(affinity *corev1.Affinity, node *corev1.Node) bool {
	if affinity == nil || affinity.NodeAffinity == nil ||
		affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return true
	}
	for _, term := range affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		matches := len(term.MatchExpressions)+len(term.MatchFields) > 0
		for _, e := range term.MatchExpressions {
			value, ok := node.Labels[e.Key]
			matches = matches && slowExpression(e, value, ok)
		}
		for _, f := range term.MatchFields {
			known := f.Key == "metadata.name" && len(f.Values) == 1 &&
				(f.Operator == corev1.NodeSelectorOpIn || f.Operator == corev1.NodeSelectorOpNotIn)
			matches = matches && known && slowExpression(f, node.Name, true)
		}
		if matches {
			return true
		}
	}
	return false
}

func slowExpression(e corev1.NodeSelectorRequirement, value string, ok bool) bool {
	switch e.Operator {
	case corev1.NodeSelectorOpIn:
		return ok && slices.Contains(e.Values, value)
	case corev1.NodeSelectorOpNotIn:
		return !ok || !slices.Contains(e.Values, value)
	case corev1.NodeSelectorOpExists:
		return ok
	case corev1.NodeSelectorOpDoesNotExist:
		return !ok
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		bound, err := strconv.Atoi(e.Values[0])
		number, labelErr := strconv.Atoi(value)
		if err != nil || labelErr != nil || !ok {
			return false
		}
		if e.Operator == corev1.NodeSelectorOpGt {
			return number > bound
		}
		return number < bound
	}
	return false
}

func slowTolerated(spec *corev1.PodSpec, taint corev1.Taint, comparisons bool) bool {
	all := slices.Clone(spec.Tolerations)
	for _, key := range []string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"} {
		all = append(all, corev1.Toleration{Key: key, Operator: "Exists", Effect: "NoExecute"})
	}
	for _, key := range []string{
		"node.kubernetes.io/disk-pressure", "node.kubernetes.io/memory-pressure",
		"node.kubernetes.io/pid-pressure", "node.kubernetes.io/unschedulable",
	} {
		all = append(all, corev1.Toleration{Key: key, Operator: "Exists", Effect: "NoSchedule"})
	}
	if spec.HostNetwork {
		all = append(all, corev1.Toleration{Key: "node.kubernetes.io/network-unavailable", Operator: "Exists", Effect: "NoSchedule"})
	}
	for _, t := range all {
		if (t.Effect == "" || t.Effect == taint.Effect) && (t.Key == "" || t.Key == taint.Key) && slowAccepts(t, taint.Value, comparisons) {
			return true
		}
	}
	return false
}

func slowAccepts(t corev1.Toleration, value string, comparisons bool) bool {
	switch t.Operator {
	case corev1.TolerationOpExists:
		return true
	case corev1.TolerationOpEqual, "":
		return t.Value == value
	case corev1.TolerationOpGt, corev1.TolerationOpLt:
		bound, err := strconv.Atoi(t.Value)
		number, valueErr := strconv.Atoi(value)
		if err != nil || valueErr != nil || !comparisons {
			return false
		}
		return t.Operator == corev1.TolerationOpGt && number > bound || t.Operator == corev1.TolerationOpLt && number < bound
	}
	return false
}

// slowSelects knows the operators that the generator uses.
func slowSelects(selector *metav1.LabelSelector, labels map[string]string) bool {
	for key, value := range selector.MatchLabels {
		if got, ok := labels[key]; !ok || got != value {
			return false
		}
	}
	for _, e := range selector.MatchExpressions {
		value, ok := labels[e.Key]
		switch e.Operator {
		case metav1.LabelSelectorOpIn:
			if !ok || !slices.Contains(e.Values, value) {
				return false
			}
		case metav1.LabelSelectorOpNotIn:
			if ok && slices.Contains(e.Values, value) {
				return false
			}
		case metav1.LabelSelectorOpExists:
			if !ok {
				return false
			}
		case metav1.LabelSelectorOpDoesNotExist:
			if ok {
				return false
			}
		}
	}
	return true
}
