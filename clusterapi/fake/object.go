package fake

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Object is what a cluster stores.
type Object interface {
	*corev1.Node | *corev1.Pod | *appsv1.DaemonSet | *appsv1.ControllerRevision
	metav1.Object
	runtime.Object
}

// Kind names a type of Object, as in an object's TypeMeta.
type Kind string

// The kinds.
const (
	NodeKind      Kind = "Node"
	PodKind       Kind = "Pod"
	DaemonSetKind Kind = "DaemonSet"
	RevisionKind  Kind = "ControllerRevision"
)

// copyOf shares no memory with obj. Its TypeMeta is empty, as that of objects which a
// client decoded into their type.
func copyOf[T Object](obj T) T {
	c, _ := obj.DeepCopyObject().(T) // a deep copy has the type of its original
	c.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return c
}

func keyOf(obj metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}
