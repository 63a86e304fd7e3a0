package clientgo

import (
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Trim returns obj without what no plan, wake or write of this module reads. It is a
// cache.TransformFunc for informers that nobody else reads from. The object that is given
// is not changed, and the error is always nil.
//
//   - Of a pod that a DaemonSet owns, or that has no controller, identity, times, labels,
//     owner references, target node, phase and readiness are left.
//   - Of a pod with another controller only identity and the kind of that controller are
//     left: it is of interest again only once it loses it.
//   - Of a node identity, labels and taints are left.
//   - DaemonSets and ControllerRevisions lose metadata.managedFields only. Everything else
//     of them ends up in a plan or is written back as a whole, and an API server takes an
//     update without managed fields to leave these alone.
func Trim(obj any) (any, error) {
	switch o := obj.(type) {
	case *corev1.Pod:
		return trimPod(o), nil
	case *corev1.Node:
		return trimNode(o), nil
	case *appsv1.DaemonSet:
		trimmed := *o
		trimmed.ManagedFields = nil
		return &trimmed, nil
	case *appsv1.ControllerRevision:
		trimmed := *o
		trimmed.ManagedFields = nil
		return &trimmed, nil
	}
	return obj, nil
}

func trimPod(pod *corev1.Pod) *corev1.Pod {
	trimmed := &corev1.Pod{ObjectMeta: identity(&pod.ObjectMeta)}
	controller := metav1.GetControllerOfNoCopy(pod)
	if _, ours := daemonset.OwnerOf(pod); controller != nil && !ours {
		trimmed.OwnerReferences = []metav1.OwnerReference{{Kind: controller.Kind, Controller: controller.Controller}}
		return trimmed
	}
	trimmed.CreationTimestamp = pod.CreationTimestamp
	trimmed.DeletionTimestamp = pod.DeletionTimestamp
	trimmed.Labels = pod.Labels
	trimmed.OwnerReferences = pod.OwnerReferences
	keepNode(trimmed, pod)
	trimmed.Status.Phase = pod.Status.Phase
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			trimmed.Status.Conditions = []corev1.PodCondition{{
				Type: c.Type, Status: c.Status, LastTransitionTime: c.LastTransitionTime,
			}}
			break // the first one counts
		}
	}
	return trimmed
}

// keepNode keeps where the pod is, or is going to be.
func keepNode(trimmed, pod *corev1.Pod) {
	trimmed.Spec.NodeName = pod.Spec.NodeName
	if node, ok := placement.TargetNode(pod); ok && pod.Spec.NodeName == "" {
		trimmed.Spec.Affinity = placement.PinTo(nil, node)
	}
}

func trimNode(node *corev1.Node) *corev1.Node {
	trimmed := &corev1.Node{ObjectMeta: identity(&node.ObjectMeta)}
	trimmed.Labels = node.Labels
	trimmed.Spec.Taints = node.Spec.Taints
	return trimmed
}

func identity(meta *metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace:       meta.Namespace,
		Name:            meta.Name,
		UID:             meta.UID,
		ResourceVersion: meta.ResourceVersion,
	}
}
