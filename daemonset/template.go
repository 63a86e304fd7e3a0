package daemonset

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/dump"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/rand"
)

// replaceDirective makes a strategic merge patch replace an object and not merge into it.
const replaceDirective = "replace"

// patchDocument is what a ControllerRevision holds: a strategic merge patch that replaces
// spec.template and touches nothing else.
type patchDocument struct {
	Spec struct {
		Template struct {
			Directive string `json:"$patch,omitempty"`
			corev1.PodTemplateSpec
		} `json:"template"`
	} `json:"spec"`
}

// encodePatch writes the patch byte for byte as Kubernetes v1.37.2 does (keys sorted at
// every level), because that controller compares the bytes.
func encodePatch(template *corev1.PodTemplateSpec) ([]byte, error) {
	typed, err := json.Marshal(template)
	if err != nil {
		return nil, err
	}
	generic := map[string]any{}
	// Numbers stay as they are written: a float64 would round large integers.
	decoder := json.NewDecoder(bytes.NewReader(typed))
	decoder.UseNumber()
	if err := decoder.Decode(&generic); err != nil {
		return nil, err
	}
	generic["$patch"] = replaceDirective
	return json.Marshal(map[string]any{"spec": map[string]any{"template": generic}})
}

// decodePatch reads a revision's template back. It refuses what it does not know, because
// a template that is only half understood must not be taken for another.
func decodePatch(raw []byte) (*corev1.PodTemplateSpec, error) {
	if len(raw) == 0 {
		return nil, errors.New("holds no data")
	}
	document, err := decodeStrictly(raw)
	if err != nil {
		// Releases drop fields that they used to write as null; such a null says nothing.
		pruned, pruneErr := withoutNulls(raw)
		if pruneErr != nil {
			return nil, err
		}
		if document, err = decodeStrictly(pruned); err != nil {
			return nil, err
		}
	}
	return &document.Spec.Template.PodTemplateSpec, nil
}

func decodeStrictly(raw []byte) (*patchDocument, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	document := &patchDocument{}
	if err := decoder.Decode(document); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("data after the patch")
	}
	return document, nil
}

func withoutNulls(raw []byte) ([]byte, error) {
	if !json.Valid(raw) { // decoding alone would overlook what follows the value
		return nil, errors.New("is not one JSON value")
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	pruneNulls(value)
	return json.Marshal(value)
}

func pruneNulls(value any) {
	switch value := value.(type) {
	case map[string]any:
		maps.DeleteFunc(value, func(_ string, member any) bool {
			pruneNulls(member)
			return member == nil
		})
	case []any:
		for _, element := range value {
			pruneNulls(element)
		}
	}
}

// templateMatcher compares revisions with one template by value.
type templateMatcher struct {
	template *corev1.PodTemplateSpec
	patch    []byte
}

// matches reports whether a revision holds the template. The error says why a revision
// cannot be read; it then matches nothing. Kubernetes v1.37.2 compares bytes, and so
// takes another key order or a null that says nothing for a new template.
func (m templateMatcher) matches(raw []byte) (bool, error) {
	if bytes.Equal(raw, m.patch) {
		return true, nil
	}
	decoded, err := decodePatch(raw)
	if err != nil {
		return false, err
	}
	if !equality.Semantic.DeepEqual(m.template, decoded) {
		return false, nil
	}
	return m.confirms(raw)
}

// confirms reads a revision that seems to match once more and more exactly: of a key that
// comes twice the last one counts, as for everybody who applies the patch, where decoding
// into a Go value would merge them; and "nodename" is not nodeName, as encoding/json has it,
// but a field that the API does not know.
func (m templateMatcher) confirms(raw []byte) (bool, error) {
	canonical, err := withoutNulls(raw)
	if err != nil {
		return false, err
	}
	exact := patchDocument{}
	if err := kjson.Unmarshal(canonical, &exact); err != nil {
		return false, err
	}
	if directive := exact.Spec.Template.Directive; directive != replaceDirective {
		return false, fmt.Errorf("its directive is %q and not %q", directive, replaceDirective)
	}
	return equality.Semantic.DeepEqual(m.template, &exact.Spec.Template.PodTemplateSpec), nil
}

// hashTemplate names the state of a template, bit for bit as Kubernetes v1.37.2 does: the
// FNV-32a sum of the printed template, salted with the collision count.
//
// What is printed is the Go value, down to unexported fields, so the template is first
// brought to the form in which an API server hands it out.
func hashTemplate(patch []byte, collisions *int32) (string, error) {
	template, err := decodePatch(patch)
	if err != nil {
		return "", err
	}
	sum := fnv.New32a()
	fmt.Fprint(sum, dump.ForHash(*template)) //nolint:staticcheck // its successor would be a fifth direct dependency
	if collisions != nil {
		var salt [8]byte
		binary.LittleEndian.PutUint32(salt[:], uint32(*collisions))
		sum.Write(salt[:])
	}
	return rand.SafeEncodeString(strconv.FormatUint(uint64(sum.Sum32()), 10)), nil
}

// hashOf is the revision hash that an object is labelled with.
func hashOf(labels map[string]string) string {
	return labels[appsv1.ControllerRevisionHashLabelKey]
}

// HoldsTemplate reports whether a revision holds the DaemonSet's template, compared by
// value. It is what a driver asks when the name of a new revision turns out to be taken.
// The error says why a revision cannot be read; it then holds no template. A nil set or
// revision is such an error.
func HoldsTemplate(set *appsv1.DaemonSet, revision *appsv1.ControllerRevision) (bool, error) {
	if set == nil || revision == nil {
		return false, errors.New("daemonset: no DaemonSet or no revision to compare")
	}
	patch, err := encodePatch(&set.Spec.Template)
	if err != nil {
		return false, err
	}
	return templateMatcher{template: &set.Spec.Template, patch: patch}.matches(revision.Data.Raw)
}
