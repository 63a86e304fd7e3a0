package fake

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func nodeRules() rules[*corev1.Node] {
	r := rulesOf[*corev1.Node](NodeKind, schema.GroupResource{Resource: "nodes"})
	r.created = func(node *corev1.Node) {
		// A kubelet that registers its node says at once how it is.
		if readyOf(node) == nil {
			node.Status.Conditions = append(node.Status.Conditions,
				corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"})
		}
	}
	r.updated = func(node, stored *corev1.Node) { node.Status = stored.Status }
	r.statusOnly = func(node, stored *corev1.Node) { node.Spec = stored.Spec }
	r.validate = func(node *corev1.Node) field.ErrorList {
		var errs field.ErrorList
		seen := map[corev1.Taint]bool{}
		for i, taint := range node.Spec.Taints {
			path := field.NewPath("spec", "taints").Index(i)
			errs = append(errs, checkEffect(taint.Effect, path.Child("effect"))...)
			if taint.Key == "" {
				errs = append(errs, field.Required(path.Child("key"), ""))
			}
			id := corev1.Taint{Key: taint.Key, Effect: taint.Effect}
			if seen[id] {
				errs = append(errs, field.Duplicate(path, taint.Key))
			}
			seen[id] = true
		}
		return errs
	}
	return r
}

// readyOf finds the node's Ready condition; nil if there is none.
func readyOf(node *corev1.Node) *corev1.NodeCondition {
	for i := range node.Status.Conditions {
		if node.Status.Conditions[i].Type == corev1.NodeReady {
			return &node.Status.Conditions[i]
		}
	}
	return nil
}
