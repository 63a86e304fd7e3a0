package controllerruntime

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// as returns obj as a pointer to T, also from an unstructured form; nil for a nil object, for
// one of another kind, and for one that T cannot hold.
func as[T any](obj client.Object) *T {
	switch obj := any(obj).(type) {
	case *T:
		return obj
	case *unstructured.Unstructured:
		if obj == nil {
			return nil
		}
		typed := new(T)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, typed); err != nil {
			return nil
		}
		return typed
	}
	return nil
}
