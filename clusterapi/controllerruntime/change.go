package controllerruntime

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
)

// change is what an event tells of an object.
type change[T any] struct {
	prev, cur *T // nil: it was not there, or is not any more
	why       occasion
}

type occasion uint8

const (
	ordinary occasion = iota
	initial           // it was there when the watch began
	generic           // nothing is known to have changed
)

// handle makes a handler of a function. It is a handler.Funcs, so that the keys of initial
// and repeated events give way to others in a priority queue.
func handle[T any](changed func(change[T], queue)) handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) {
			c := change[T]{cur: as[T](e.Object)}
			if e.IsInInitialList {
				c.why = initial
			}
			changed(c, q)
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
			changed(change[T]{prev: as[T](e.ObjectOld), cur: as[T](e.ObjectNew)}, q)
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) {
			changed(change[T]{prev: as[T](e.Object)}, q)
		},
		GenericFunc: func(_ context.Context, e event.GenericEvent, q queue) {
			object := as[T](e.Object)
			changed(change[T]{prev: object, cur: object, why: generic}, q)
		},
	}
}

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
