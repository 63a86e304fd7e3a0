package controllerruntime

import (
	"github.com/daemonplan/daemonplan/daemonset"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Diet returns settings for cache.Options.ByObject with which a cache keeps of nodes, pods,
// DaemonSets and ControllerRevisions no more than planning reads. Of a pod that another
// kind of controller owns, that is little more than its name. Plans are the same with it.
//
// All controllers of a manager share its cache. One that reads more of these kinds (the
// image of a pod, the conditions of a node) needs a manager of its own, or other settings.
func Diet() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&corev1.Pod{}:                {Transform: slim},
		&corev1.Node{}:               {Transform: slim},
		&appsv1.DaemonSet{}:          {Transform: slim},
		&appsv1.ControllerRevision{}: {Transform: slim},
	}
}

// slim drops what planning does not read. It changes the object itself, which nobody else
// has yet, and may be applied again. What it does not know it leaves as it is.
func slim(obj any) (any, error) {
	switch obj := obj.(type) {
	case *corev1.Pod:
		slimPod(obj)
	case *corev1.Node:
		slimNode(obj)
	case client.Object:
		obj.SetManagedFields(nil)
	}
	return obj, nil
}

func slimPod(pod *corev1.Pod) {
	controller := metav1.GetControllerOfNoCopy(pod)
	if controller != nil && controller.Kind != string(daemonset.DaemonSetKind) {
		// It concerns us only once it changes its controller, and then the event brings all
		// of it again.
		*pod = corev1.Pod{
			TypeMeta: pod.TypeMeta,
			ObjectMeta: metav1.ObjectMeta{
				Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
				OwnerReferences: []metav1.OwnerReference{*controller},
			},
		}
		return
	}
	*pod = corev1.Pod{
		TypeMeta: pod.TypeMeta,
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
			CreationTimestamp: pod.CreationTimestamp, DeletionTimestamp: pod.DeletionTimestamp,
			Labels: pod.Labels, OwnerReferences: pod.OwnerReferences,
		},
		Spec:   corev1.PodSpec{NodeName: pod.Spec.NodeName, Affinity: pin(&pod.Spec)},
		Status: corev1.PodStatus{Phase: pod.Status.Phase, Conditions: readiness(pod.Status.Conditions)},
	}
}

// pin keeps what says which node a pod is meant for that is not bound yet.
func pin(spec *corev1.PodSpec) *corev1.Affinity {
	if spec.NodeName != "" || spec.Affinity == nil || spec.Affinity.NodeAffinity == nil {
		return nil
	}
	required := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil {
		return nil
	}
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}}
}

// readiness keeps the first Ready condition: a later one is not looked at.
func readiness(conditions []corev1.PodCondition) []corev1.PodCondition {
	for i := range conditions {
		if c := &conditions[i]; c.Type == corev1.PodReady {
			return []corev1.PodCondition{{Type: c.Type, Status: c.Status, LastTransitionTime: c.LastTransitionTime}}
		}
	}
	return nil
}

func slimNode(node *corev1.Node) {
	*node = corev1.Node{
		TypeMeta: node.TypeMeta,
		ObjectMeta: metav1.ObjectMeta{
			Name: node.Name, UID: node.UID, ResourceVersion: node.ResourceVersion, Labels: node.Labels,
		},
		Spec: corev1.NodeSpec{Taints: node.Spec.Taints},
	}
}
