package fake

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// checkScheduling says what is wrong with the parts of a pod spec that planning reads, and
// with the deadline. It follows ValidatePodSpec of Kubernetes v1.37.2 with the feature gates
// as they are by default.
func checkScheduling(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	errs := metav1validation.ValidateLabels(spec.NodeSelector, path.Child("nodeSelector"))
	for i := range spec.Tolerations {
		errs = append(errs, checkToleration(&spec.Tolerations[i], path.Child("tolerations").Index(i))...)
	}
	if deadline := spec.ActiveDeadlineSeconds; deadline != nil && (*deadline < 1 || *deadline > math.MaxInt32) {
		errs = append(errs, field.Invalid(path.Child("activeDeadlineSeconds"), *deadline, validation.InclusiveRangeError(1, math.MaxInt32)))
	}
	return errs
}

func checkToleration(t *corev1.Toleration, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if t.Key != "" {
		errs = append(errs, metav1validation.ValidateLabelName(t.Key, path.Child("key"))...)
	} else if t.Operator != corev1.TolerationOpExists {
		errs = append(errs, field.Invalid(path.Child("operator"), t.Operator, "a toleration without a key must have the operator Exists"))
	}
	if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
		errs = append(errs, field.Invalid(path.Child("effect"), t.Effect, "tolerationSeconds are for NoExecute only"))
	}
	switch t.Operator {
	case corev1.TolerationOpEqual, "":
		for _, problem := range validation.IsValidLabelValue(t.Value) {
			errs = append(errs, field.Invalid(path.Child("value"), t.Value, problem))
		}
	case corev1.TolerationOpExists:
		if t.Value != "" {
			errs = append(errs, field.Invalid(path.Child("value"), t.Value, "must be empty when the operator is Exists"))
		}
	case corev1.TolerationOpLt, corev1.TolerationOpGt: // behind a feature gate
		errs = append(errs, unknownOperator(t.Operator, path))
	default:
		errs = append(errs, unknownOperator(t.Operator, path))
	}
	if t.Effect != "" {
		errs = append(errs, checkEffect(t.Effect, path.Child("effect"))...)
	}
	return errs
}

func unknownOperator(operator corev1.TolerationOperator, path *field.Path) *field.Error {
	known := []corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists}
	return field.NotSupported(path.Child("operator"), operator, known)
}

func checkEffect(effect corev1.TaintEffect, path *field.Path) field.ErrorList {
	switch effect {
	case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
		return nil
	}
	return field.ErrorList{field.NotSupported(path, effect, []corev1.TaintEffect{
		corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute,
	})}
}
