package fake

import (
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func setRules() rules[*appsv1.DaemonSet] {
	r := rulesOf[*appsv1.DaemonSet](DaemonSetKind, schema.GroupResource{Group: appsv1.GroupName, Resource: "daemonsets"})
	r.defaults = defaultSet
	r.created = func(set *appsv1.DaemonSet) {
		set.Generation = 1
		set.Status = appsv1.DaemonSetStatus{}
		setTemplateGeneration(set, max(1, templateGeneration(set)))
	}
	r.updated = func(set, stored *appsv1.DaemonSet) {
		set.Status = stored.Status
		number := templateGeneration(stored)
		if !same(set.Spec.Template, stored.Spec.Template) {
			number++
		}
		setTemplateGeneration(set, number)
		if !same(set.Spec, stored.Spec) {
			set.Generation++
		}
	}
	r.statusOnly = func(set, stored *appsv1.DaemonSet) {
		set.Spec = stored.Spec
		setTemplateGeneration(set, templateGeneration(stored)) // it is a part of the spec
	}
	r.validate = checkSet
	r.transition = checkSetChange
	return r
}

func defaultSet(set *appsv1.DaemonSet) {
	defaultPodSpec(&set.Spec.Template.Spec)
	if set.Spec.RevisionHistoryLimit == nil {
		limit := int32(10)
		set.Spec.RevisionHistoryLimit = &limit
	}
	strategy := &set.Spec.UpdateStrategy
	if strategy.Type == "" {
		strategy.Type = appsv1.RollingUpdateDaemonSetStrategyType
	}
	if strategy.Type != appsv1.RollingUpdateDaemonSetStrategyType {
		return
	}
	if strategy.RollingUpdate == nil {
		strategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{}
	}
	rolling := strategy.RollingUpdate
	if rolling.MaxUnavailable == nil {
		one := intstr.FromInt32(1)
		rolling.MaxUnavailable = &one
	}
	if rolling.MaxSurge == nil {
		zero := intstr.FromInt32(0)
		rolling.MaxSurge = &zero
	}
}

// templateGeneration is the number of the set's template, which apps/v1 shows as an
// annotation. It is the server's: it grows with every change of the template.
func templateGeneration(set *appsv1.DaemonSet) int64 {
	number, err := strconv.ParseInt(set.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
	if err != nil {
		return 0
	}
	return number
}

func setTemplateGeneration(set *appsv1.DaemonSet, number int64) {
	set.Annotations = maps.Clone(set.Annotations)
	if set.Annotations == nil {
		set.Annotations = map[string]string{}
	}
	set.Annotations[appsv1.DeprecatedTemplateGeneration] = strconv.FormatInt(number, 10)
}

func checkSet(set *appsv1.DaemonSet) field.ErrorList {
	path := field.NewPath("spec")
	errs := metav1validation.ValidateLabelSelector(set.Spec.Selector, metav1validation.LabelSelectorValidationOptions{}, path.Child("selector"))
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	if err == nil && !selector.Matches(labels.Set(set.Spec.Template.Labels)) {
		errs = append(errs, field.Invalid(path.Child("template", "metadata", "labels"), set.Spec.Template.Labels, "not matched by the selector"))
	}
	if set.Spec.Selector != nil && selector != nil && selector.Empty() {
		errs = append(errs, field.Invalid(path.Child("selector"), set.Spec.Selector, "must not be empty"))
	}
	errs = append(errs, metav1validation.ValidateLabels(set.Spec.Template.Labels, path.Child("template", "metadata", "labels"))...)
	errs = append(errs, checkPodSpec(&set.Spec.Template.Spec, path.Child("template", "spec"))...)
	if policy := set.Spec.Template.Spec.RestartPolicy; policy != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(path.Child("template", "spec", "restartPolicy"), policy, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	if set.Spec.Template.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(path.Child("template", "spec", "activeDeadlineSeconds"), "a DaemonSet cannot have it"))
	}
	errs = append(errs, validation.ValidateNonnegativeField(int64(set.Spec.MinReadySeconds), path.Child("minReadySeconds"))...)
	if limit := set.Spec.RevisionHistoryLimit; limit != nil {
		errs = append(errs, validation.ValidateNonnegativeField(int64(*limit), path.Child("revisionHistoryLimit"))...)
	}
	return append(errs, checkStrategy(set.Spec.UpdateStrategy, path.Child("updateStrategy"))...)
}

// checkStrategy wants exactly one of the two budgets, as Kubernetes v1.37.2 does.
func checkStrategy(s appsv1.DaemonSetUpdateStrategy, path *field.Path) field.ErrorList {
	switch s.Type {
	case appsv1.OnDeleteDaemonSetStrategyType:
		return nil
	case appsv1.RollingUpdateDaemonSetStrategyType:
	default:
		return field.ErrorList{field.NotSupported(path.Child("type"), s.Type, []appsv1.DaemonSetUpdateStrategyType{
			appsv1.OnDeleteDaemonSetStrategyType, appsv1.RollingUpdateDaemonSetStrategyType,
		})}
	}
	path = path.Child("rollingUpdate")
	unavailable, errs := checkBudget(s.RollingUpdate.MaxUnavailable, path.Child("maxUnavailable"))
	surge, more := checkBudget(s.RollingUpdate.MaxSurge, path.Child("maxSurge"))
	errs = append(errs, more...)
	switch {
	case unavailable > 0 && surge > 0:
		errs = append(errs, field.Invalid(path.Child("maxSurge"), surge, "may not be set when maxUnavailable is non-zero"))
	case unavailable == 0 && surge == 0 && len(errs) == 0:
		errs = append(errs, field.Required(path.Child("maxUnavailable"), "cannot be 0 when maxSurge is 0"))
	}
	return errs
}

func checkBudget(budget *intstr.IntOrString, path *field.Path) (int, field.ErrorList) {
	value, err := intstr.GetScaledValueFromIntOrPercent(budget, 100, true)
	switch {
	case err != nil:
		return 0, field.ErrorList{field.Invalid(path, budget, err.Error())}
	case value < 0:
		return 0, field.ErrorList{field.Invalid(path, value, "must not be negative")}
	case value > 100 && budget.Type == intstr.String:
		return value, field.ErrorList{field.Invalid(path, value, "must not be greater than 100%")}
	}
	return value, nil
}

func checkSetChange(set, stored *appsv1.DaemonSet) field.ErrorList {
	errs := validation.ValidateImmutableField(set.Spec.Selector, stored.Spec.Selector, field.NewPath("spec", "selector"))
	path := field.NewPath("status")
	counts := []struct {
		name  string
		value int32
	}{
		{"currentNumberScheduled", set.Status.CurrentNumberScheduled},
		{"numberMisscheduled", set.Status.NumberMisscheduled},
		{"desiredNumberScheduled", set.Status.DesiredNumberScheduled},
		{"numberReady", set.Status.NumberReady},
		{"updatedNumberScheduled", set.Status.UpdatedNumberScheduled},
		{"numberAvailable", set.Status.NumberAvailable},
		{"numberUnavailable", set.Status.NumberUnavailable},
	}
	for _, count := range counts {
		errs = append(errs, validation.ValidateNonnegativeField(int64(count.value), path.Child(count.name))...)
	}
	errs = append(errs, validation.ValidateNonnegativeField(set.Status.ObservedGeneration, path.Child("observedGeneration"))...)
	if before, after := collisions(stored), collisions(set); after < before {
		errs = append(errs, field.Invalid(path.Child("collisionCount"), after, "cannot be decremented"))
	}
	return errs
}

func collisions(set *appsv1.DaemonSet) int32 {
	if set.Status.CollisionCount == nil {
		return 0
	}
	return *set.Status.CollisionCount
}
