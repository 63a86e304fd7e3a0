package placement

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PinTo returns a copy of affinity that admits only the named node: the required node
// affinity is replaced by the single term metadata.name In [node], everything else is kept.
// So the Kubernetes v1.37.2 DaemonSet controller hands a pod to the scheduler; the node was
// found to match the replaced terms before. A nil affinity gives a new one with that term
// alone. The result is the caller's. node is not checked.
func PinTo(affinity *corev1.Affinity, node string) *corev1.Affinity {
	pinned := affinity.DeepCopy()
	if pinned == nil {
		pinned = &corev1.Affinity{}
	}
	if pinned.NodeAffinity == nil {
		pinned.NodeAffinity = &corev1.NodeAffinity{}
	}
	pinned.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchFields: []corev1.NodeSelectorRequirement{{
				Key:      metav1.ObjectNameField,
				Operator: corev1.NodeSelectorOpIn,
				Values:   []string{node},
			}},
		}},
	}
	return pinned
}

// TargetNode names the node that pod is bound or pinned to; ok is false for neither, and for
// a nil pod. It is spec.nodeName, else the name in the first match field metadata.name In of
// the required node affinity. When that field has no or several names, there is no target,
// even if a later one would do: Kubernetes v1.37.2 stops there too. An empty name is
// returned as it is, with ok true.
func TargetNode(pod *corev1.Pod) (node string, ok bool) {
	if pod == nil {
		return "", false
	}
	if pod.Spec.NodeName != "" {
		return pod.Spec.NodeName, true
	}
	names := pinnedNames(pod.Spec.Affinity)
	if len(names) != 1 {
		return "", false
	}
	return names[0], true
}

// pinnedNames returns the values of the first match field metadata.name In.
func pinnedNames(affinity *corev1.Affinity) []string {
	if affinity == nil || affinity.NodeAffinity == nil {
		return nil
	}
	required := affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil {
		return nil
	}
	for i := range required.NodeSelectorTerms {
		for _, field := range required.NodeSelectorTerms[i].MatchFields {
			if field.Key == metav1.ObjectNameField && field.Operator == corev1.NodeSelectorOpIn {
				return field.Values
			}
		}
	}
	return nil
}
