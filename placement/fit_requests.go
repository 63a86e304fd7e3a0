package placement

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Requests returns what a pod of spec asks for before it runs, as [NewFitter] counts it, with
// one of "pods". A nil spec is the empty spec. The list belongs to the caller.
func Requests(spec *corev1.PodSpec) corev1.ResourceList {
	if spec == nil {
		spec = &corev1.PodSpec{}
	}
	list := corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(1, resource.DecimalSI)}
	for _, q := range specRequests(spec) {
		list[q.name] = q.value
	}
	return list
}
