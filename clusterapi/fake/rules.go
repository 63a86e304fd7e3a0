package fake

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// rules is what the API server does with one kind beyond what it does with all. The
// functions may write to their first argument, never to the stored object.
type rules[T Object] struct {
	kind     Kind
	resource schema.GroupResource
	group    schema.GroupKind

	namespaced bool
	defaults   func(obj T)                         // on every write but of status
	created    func(obj T)                         // what a client cannot choose at creation
	updated    func(obj, stored T)                 // what a client cannot change by an update
	statusOnly func(obj, stored T)                 // what a client cannot change by a status update
	validate   func(obj T) field.ErrorList         // after defaults, but not of a status update
	transition func(obj, stored T) field.ErrorList // of an update or status update
	grace      func(obj T, wanted *int64) int64    // seconds from deletion to removal
}

func rulesOf[T Object](kind Kind, resource schema.GroupResource) rules[T] {
	return rules[T]{
		kind:       kind,
		resource:   resource,
		group:      schema.GroupKind{Group: resource.Group, Kind: string(kind)},
		namespaced: kind != NodeKind,
		defaults:   func(T) {},
		created:    func(T) {},
		updated:    func(T, T) {},
		statusOnly: func(T, T) {},
		validate:   func(T) field.ErrorList { return nil },
		transition: func(T, T) field.ErrorList { return nil },
		grace:      func(T, *int64) int64 { return 0 },
	}
}

// checkNew says what is wrong with an object that is about to be stored first.
func (r rules[T]) checkNew(obj T) field.ErrorList {
	return append(r.checkMetadata(obj), r.validate(obj)...)
}

func (r rules[T]) checkMetadata(obj T) field.ErrorList {
	return validation.ValidateObjectMetaAccessor(obj, r.namespaced, validation.NameIsDNSSubdomain, field.NewPath("metadata"))
}

// checkUpdate says what is wrong with an object that is about to replace a stored one.
func (r rules[T]) checkUpdate(obj, stored T) field.ErrorList {
	return append(r.checkStatusUpdate(obj, stored), r.validate(obj)...)
}

// checkStatusUpdate leaves out the spec, which stays as it is.
func (r rules[T]) checkStatusUpdate(obj, stored T) field.ErrorList {
	errs := r.checkMetadata(obj)
	if stored.GetDeletionTimestamp() != nil {
		path := field.NewPath("metadata", "finalizers")
		errs = append(errs, validation.ValidateNoNewFinalizers(obj.GetFinalizers(), stored.GetFinalizers(), path)...)
	}
	return append(errs, r.transition(obj, stored)...)
}

// keepSystemFields gives obj what only the server sets. Managed fields are lost only to
// others, not to none.
func keepSystemFields[T Object](obj, stored T) {
	obj.SetUID(stored.GetUID())
	obj.SetResourceVersion(stored.GetResourceVersion())
	obj.SetGeneration(stored.GetGeneration())
	obj.SetCreationTimestamp(stored.GetCreationTimestamp())
	obj.SetDeletionTimestamp(stored.GetDeletionTimestamp())
	obj.SetDeletionGracePeriodSeconds(stored.GetDeletionGracePeriodSeconds())
	obj.SetGenerateName(stored.GetGenerateName())
	if len(obj.GetManagedFields()) == 0 {
		obj.SetManagedFields(stored.GetManagedFields())
	}
}

func same(a, b any) bool { return equality.Semantic.DeepEqual(a, b) }
