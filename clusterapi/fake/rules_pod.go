package fake

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// defaultGrace is the terminationGracePeriodSeconds of a pod that names none.
const defaultGrace int64 = corev1.DefaultTerminationGracePeriodSeconds

func podRules() rules[*corev1.Pod] {
	r := rulesOf[*corev1.Pod](PodKind, schema.GroupResource{Resource: "pods"})
	r.defaults = func(pod *corev1.Pod) { defaultPodSpec(&pod.Spec) }
	r.created = func(pod *corev1.Pod) {
		pod.Generation = 1
		pod.Status = corev1.PodStatus{Phase: corev1.PodPending}
	}
	r.updated = func(pod, stored *corev1.Pod) {
		pod.Status = stored.Status
		if !same(pod.Spec, stored.Spec) {
			pod.Generation++
		}
	}
	r.statusOnly = func(pod, stored *corev1.Pod) {
		pod.Spec = stored.Spec
		pod.OwnerReferences = stored.OwnerReferences
	}
	r.validate = func(pod *corev1.Pod) field.ErrorList { return checkPodSpec(&pod.Spec, field.NewPath("spec")) }
	r.transition = checkPodChange
	r.grace = podGrace
	return r
}

func defaultPodSpec(spec *corev1.PodSpec) {
	if spec.RestartPolicy == "" {
		spec.RestartPolicy = corev1.RestartPolicyAlways
	}
	if spec.DNSPolicy == "" {
		spec.DNSPolicy = corev1.DNSClusterFirst
	}
	if spec.TerminationGracePeriodSeconds == nil {
		grace := defaultGrace
		spec.TerminationGracePeriodSeconds = &grace
	}
}

func checkPodSpec(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(spec.Containers) == 0 {
		errs = append(errs, field.Required(path.Child("containers"), ""))
	}
	seen := map[string]bool{}
	for i := range spec.InitContainers {
		errs = append(errs, checkContainer(&spec.InitContainers[i], seen, path.Child("initContainers").Index(i))...)
	}
	for i := range spec.Containers {
		errs = append(errs, checkContainer(&spec.Containers[i], seen, path.Child("containers").Index(i))...)
	}
	errs = append(errs, checkScheduling(spec, path)...)
	if grace := spec.TerminationGracePeriodSeconds; grace != nil && *grace < 0 {
		errs = append(errs, field.Invalid(path.Child("terminationGracePeriodSeconds"), *grace, "must not be negative"))
	}
	return errs
}

// checkContainer notes the container's name in seen.
func checkContainer(container *corev1.Container, seen map[string]bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, problem := range validation.IsDNS1123Label(container.Name) {
		errs = append(errs, field.Invalid(path.Child("name"), container.Name, problem))
	}
	if seen[container.Name] {
		errs = append(errs, field.Duplicate(path.Child("name"), container.Name))
	}
	seen[container.Name] = true
	if container.Image == "" {
		errs = append(errs, field.Required(path.Child("image"), ""))
	}
	return errs
}

// checkPodChange refuses what cannot change about a pod, as ValidatePodUpdate of Kubernetes
// v1.37.2 does. Its images can, tolerations can be added, and a deadline can come nearer.
func checkPodChange(pod, stored *corev1.Pod) field.ErrorList {
	allowed := pod.Spec.DeepCopy()
	allowed.Tolerations = stored.Spec.Tolerations
	allowed.ActiveDeadlineSeconds = stored.Spec.ActiveDeadlineSeconds
	keepImages(allowed.Containers, stored.Spec.Containers)
	keepImages(allowed.InitContainers, stored.Spec.InitContainers)
	var errs field.ErrorList
	if !same(*allowed, stored.Spec) {
		errs = append(errs, field.Forbidden(field.NewPath("spec"), "pod updates may not change fields other than images, tolerations and activeDeadlineSeconds"))
	}
	if before, now := stored.Spec.ActiveDeadlineSeconds, pod.Spec.ActiveDeadlineSeconds; before != nil && (now == nil || *now > *before) {
		errs = append(errs, field.Invalid(field.NewPath("spec", "activeDeadlineSeconds"), now, "may only become less"))
	}
	for i := range stored.Spec.Tolerations {
		if !tolerationKept(stored.Spec.Tolerations[i], pod.Spec.Tolerations) {
			errs = append(errs, field.Forbidden(field.NewPath("spec", "tolerations"), "existing toleration can not be modified except its tolerationSeconds"))
		}
	}
	return errs
}

func keepImages(containers, stored []corev1.Container) {
	for i := range min(len(containers), len(stored)) {
		containers[i].Image = stored[i].Image
	}
}

func tolerationKept(old corev1.Toleration, now []corev1.Toleration) bool {
	for _, t := range now {
		t.TolerationSeconds = old.TolerationSeconds
		if same(t, old) {
			return true
		}
	}
	return false
}

// podGrace follows podStrategy.CheckGracefulDelete of Kubernetes v1.37.2: what does not run
// needs no time to stop.
func podGrace(pod *corev1.Pod, wanted *int64) int64 {
	grace := int64(0)
	switch {
	case wanted != nil:
		grace = *wanted
	case pod.Spec.TerminationGracePeriodSeconds != nil:
		grace = *pod.Spec.TerminationGracePeriodSeconds
	}
	switch {
	case pod.Spec.NodeName == "" || finished(pod):
		grace = 0
	case grace < 0:
		grace = 1
	}
	return grace
}

func finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}
