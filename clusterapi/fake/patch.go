package fake

import (
	"encoding/json"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/daemonset"
)

// patch applies a JSON merge patch to the metadata of a stored object.
func (s *store[T]) patch(ref daemonset.Ref, mergePatch []byte) (T, error) {
	stored, ok := s.objects[keyIn(ref.Namespace, ref.Name)]
	if !ok {
		return nil, s.notFound(ref.Name)
	}
	if ref.UID != stored.GetUID() {
		return nil, s.conflict(ref.Name, "the UID in the precondition does not match the UID in record")
	}
	obj := copyOf(stored)
	metadata, err := patched(metadataOf(obj), mergePatch)
	if err != nil {
		return nil, apierrors.NewBadRequest("patch: " + err.Error())
	}
	if metadata.Name != stored.GetName() || metadata.Namespace != stored.GetNamespace() {
		return nil, apierrors.NewBadRequest("patch: the name of an object cannot be changed")
	}
	*metadataOf(obj) = *metadata
	return s.replace(obj, write[T]{keep: func(T, T) {}, check: s.rules.checkUpdate})
}

// metadataOf finds the metadata in an object.
func metadataOf(obj metav1.Object) *metav1.ObjectMeta {
	accessor, ok := obj.(metav1.ObjectMetaAccessor)
	if !ok {
		return &metav1.ObjectMeta{}
	}
	metadata, _ := accessor.GetObjectMeta().(*metav1.ObjectMeta) // that of every Object
	return metadata
}

// patched is metadata with a patch applied that is for a whole object, but says nothing
// about anything else.
func patched(metadata *metav1.ObjectMeta, mergePatch []byte) (*metav1.ObjectMeta, error) {
	var patch map[string]any
	if err := json.Unmarshal(mergePatch, &patch); err != nil {
		return nil, err
	}
	if patch == nil {
		return nil, errors.New("not an object")
	}
	for field := range patch {
		if field != "metadata" {
			return nil, errors.New("only metadata can be patched, not " + field)
		}
	}
	raw, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return nil, err
	}
	var document map[string]any
	if err := json.Unmarshal(raw, &document); err != nil {
		return nil, err
	}
	if raw, err = json.Marshal(merged(document, patch)); err != nil {
		return nil, err
	}
	var result struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return nil, err
	}
	return &result.Metadata, nil
}

// merged is the algorithm of RFC 7396, section 2.
func merged(target, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	result, ok := target.(map[string]any)
	if !ok {
		result = map[string]any{}
	}
	for name, value := range changes {
		if value == nil {
			delete(result, name)
		} else {
			result[name] = merged(result[name], value)
		}
	}
	return result
}

// get returns a copy of a stored object.
func (s *store[T]) get(key types.NamespacedName) (T, error) {
	stored, ok := s.objects[key]
	if !ok {
		return nil, s.notFound(key.Name)
	}
	return copyOf(stored), nil
}
