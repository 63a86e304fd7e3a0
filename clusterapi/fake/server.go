package fake

import (
	"errors"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxGenerated is how often another suffix is tried when a generated name is taken, as in
// Kubernetes v1.37.2.
const maxGenerated = 8

func formatVersion(version uint64) string { return strconv.FormatUint(version, 10) }

func (s *store[T]) notFound(name string) error { return apierrors.NewNotFound(s.rules.resource, name) }

func (s *store[T]) conflict(name, why string) error {
	return apierrors.NewConflict(s.rules.resource, name, errors.New(why))
}

// create does with obj, which it takes over, what the API server does with a new object.
func (s *store[T]) create(obj T) (T, error) {
	if err := s.cluster.admit(s.rules.resource, obj); err != nil {
		return nil, err
	}
	if obj.GetResourceVersion() != "" {
		return nil, apierrors.NewInternalError(errors.New("resourceVersion should not be set on objects to be created"))
	}
	obj.SetDeletionTimestamp(nil)
	obj.SetDeletionGracePeriodSeconds(nil)
	obj.SetGeneration(0)
	s.rules.defaults(obj)
	s.rules.created(obj)
	generated, err := s.name(obj)
	if err != nil {
		return nil, err
	}
	if errs := s.rules.checkNew(obj); len(errs) > 0 {
		return nil, apierrors.NewInvalid(s.rules.group, obj.GetName(), errs)
	}
	if err := s.cluster.admitCount(obj); err != nil {
		return nil, err
	}
	key := keyOf(obj)
	if _, taken := s.objects[key]; taken {
		return nil, apierrors.NewAlreadyExists(s.rules.resource, obj.GetName())
	}
	obj.SetUID(s.newUID(key, generated))
	obj.SetCreationTimestamp(s.cluster.stamp())
	return s.put(obj), nil
}

// write is a kind of update.
type write[T Object] struct {
	keep  func(obj, stored T)                 // gives obj back what it cannot change
	check func(obj, stored T) field.ErrorList // what is wrong with the outcome
}

// replace does with obj, which it takes over, what the API server does with an update.
func (s *store[T]) replace(obj T, w write[T]) (T, error) {
	stored, ok := s.objects[keyOf(obj)]
	if !ok {
		return nil, s.notFound(obj.GetName())
	}
	if uid := obj.GetUID(); uid != "" && uid != stored.GetUID() {
		return nil, s.conflict(obj.GetName(), fmt.Sprintf("the object has UID %s, not %s", stored.GetUID(), uid))
	}
	if version := obj.GetResourceVersion(); version != "" && version != stored.GetResourceVersion() {
		return nil, s.conflict(obj.GetName(), "the object has been modified; please apply your changes to the latest version and try again")
	}
	keepSystemFields(obj, stored)
	w.keep(obj, stored)
	if errs := w.check(obj, stored); len(errs) > 0 {
		return nil, apierrors.NewInvalid(s.rules.group, obj.GetName(), errs)
	}
	return s.store(obj, stored), nil
}

// store writes a new state of a stored object, unless it is no change or its last
// finalizer went and it can go itself.
func (s *store[T]) store(obj, stored T) T {
	if same(obj, stored) {
		return stored
	}
	if released(obj) {
		s.drop(keyOf(obj))
		return obj
	}
	return s.put(obj)
}

// released tells whether nothing holds back an object that was deleted.
func released[T Object](obj T) bool {
	grace := obj.GetDeletionGracePeriodSeconds()
	return obj.GetDeletionTimestamp() != nil && len(obj.GetFinalizers()) == 0 && (grace == nil || *grace == 0)
}

// edit changes a stored object as a part of the cluster does: it makes no mistakes, and
// changes something.
func (s *store[T]) edit(stored T, change func(obj T)) {
	obj := copyOf(stored)
	change(obj)
	if released(obj) {
		s.drop(keyOf(obj))
		return
	}
	s.put(obj)
}

// remove does what the API server does with a deletion: at once, or when the grace period
// is over, or when the finalizers are gone. Repeating it can only shorten the time.
func (s *store[T]) remove(key types.NamespacedName, options DeleteOptions) error {
	stored, ok := s.objects[key]
	if !ok {
		return s.notFound(key.Name)
	}
	if uid := options.UID; uid != nil && *uid != stored.GetUID() {
		return s.conflict(key.Name, fmt.Sprintf("the UID in the precondition (%s) does not match the UID in record (%s)", *uid, stored.GetUID()))
	}
	s.end(stored, options)
	return nil
}

// end deletes a stored object.
func (s *store[T]) end(stored T, options DeleteOptions) {
	grace := s.rules.grace(stored, options.Grace)
	if stored.GetDeletionTimestamp() != nil {
		s.shorten(stored, grace)
		return
	}
	obj := copyOf(stored)
	if finalizer := options.Propagation.finalizer(); finalizer != "" {
		obj.SetFinalizers(append(obj.GetFinalizers(), finalizer))
	}
	if grace == 0 && len(obj.GetFinalizers()) == 0 {
		s.drop(keyOf(obj))
		return
	}
	s.mark(obj, grace)
	if obj.GetGeneration() > 0 {
		obj.SetGeneration(obj.GetGeneration() + 1)
	}
	s.put(obj)
}

// mark says when an object is to be gone.
func (s *store[T]) mark(obj T, grace int64) {
	at := metav1.NewTime(s.cluster.stamp().Add(seconds(grace)))
	obj.SetDeletionTimestamp(&at)
	obj.SetDeletionGracePeriodSeconds(&grace)
}

// shorten brings the end of an object that is being deleted nearer, never further away.
func (s *store[T]) shorten(stored T, grace int64) {
	if before := stored.GetDeletionGracePeriodSeconds(); before == nil || *before <= grace {
		return
	}
	obj := copyOf(stored)
	s.mark(obj, grace)
	if released(obj) {
		s.drop(keyOf(obj))
		return
	}
	s.put(obj)
}
