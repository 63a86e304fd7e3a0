package diff

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// restartedAt is the template annotation that kubectl rollout restart writes. No manifest has
// it, and applying one does not take it away.
const restartedAt = "kubectl.kubernetes.io/restartedAt"

// Apply returns the DaemonSet that an API server of Kubernetes v1.37.2 would store when manifest
// is applied over stored: what the manifest leaves open takes the API's defaults, its status and
// what else is the server's counts for nothing, and the generation grows by one if the spec is
// another. A nil stored set is one that does not exist: the result has generation 1 and no UID.
//
// Labels and annotations that the manifest does not mention stay, unless the stored set says
// that the manifest which was applied last had them; annotations and labels of the template do
// not stay, except one that kubectl rollout restart wrote, and those that were not in the
// manifest that was applied last. Everything else in the spec is the manifest's.
//
// The error says what the server would refuse: another name, or another selector. The inputs
// are only read, and the result shares no memory with them.
func Apply(stored, manifest *appsv1.DaemonSet) (*appsv1.DaemonSet, error) {
	if manifest == nil {
		return nil, errors.New("diff: there is no manifest")
	}
	applied := manifest.DeepCopy()
	setDefaults(applied)
	applied.Status = appsv1.DaemonSetStatus{}
	if stored == nil {
		applied.UID, applied.ResourceVersion, applied.Generation = "", "", 1
		return applied, nil
	}
	if err := sameSet(stored, applied); err != nil {
		return nil, err
	}
	stored = stored.DeepCopy()
	mergeMetadata(applied, stored)
	before := stored.DeepCopy()
	setDefaults(before)
	if !equality.Semantic.DeepEqual(before.Spec.Template, applied.Spec.Template) {
		raiseTemplateGeneration(applied, stored)
	}
	if equality.Semantic.DeepEqual(before.Spec, applied.Spec) {
		applied.Spec = stored.Spec
		return applied, nil
	}
	applied.Generation++
	return applied, nil
}

// mergeMetadata takes over from the stored set what a manifest does not say.
func mergeMetadata(applied, stored *appsv1.DaemonSet) {
	last := lastApplied(stored)
	was := last
	if was == nil {
		was = &appsv1.DaemonSet{}
	}
	labels := merged(stored.Labels, applied.Labels, notIn(was.Labels))
	annotations := merged(stored.Annotations, applied.Annotations, notIn(was.Annotations))
	if number, ok := stored.Annotations[appsv1.DeprecatedTemplateGeneration]; ok {
		annotations = merged(annotations, map[string]string{appsv1.DeprecatedTemplateGeneration: number}, notIn(nil))
	}
	applied.ObjectMeta = stored.ObjectMeta
	applied.Labels, applied.Annotations = labels, annotations
	applied.Status = stored.Status

	template, old := &applied.Spec.Template, &stored.Spec.Template
	if last == nil {
		onlyRestart := func(key string) bool { return key == restartedAt }
		template.Annotations = merged(old.Annotations, template.Annotations, onlyRestart)
		return
	}
	template.Labels = merged(old.Labels, template.Labels, notIn(last.Spec.Template.Labels))
	template.Annotations = merged(old.Annotations, template.Annotations, notIn(last.Spec.Template.Annotations))
}

func sameSet(stored, manifest *appsv1.DaemonSet) error {
	if stored.Name != manifest.Name || stored.Namespace != manifest.Namespace {
		return fmt.Errorf("diff: the manifest is of %s/%s, not of %s/%s", manifest.Namespace, manifest.Name, stored.Namespace, stored.Name)
	}
	if !equality.Semantic.DeepEqual(stored.Spec.Selector, manifest.Spec.Selector) {
		return fmt.Errorf("diff: spec.selector of %s/%s differs, and cannot be changed", stored.Namespace, stored.Name)
	}
	return nil
}

// lastApplied is the manifest that kubectl apply noted on the set; nil if there is none that
// can be read.
func lastApplied(stored *appsv1.DaemonSet) *appsv1.DaemonSet {
	text, ok := stored.Annotations[corev1.LastAppliedConfigAnnotation]
	if !ok {
		return nil
	}
	last := &appsv1.DaemonSet{}
	if json.Unmarshal([]byte(text), last) != nil {
		return nil
	}
	return last
}

// notIn says of a key whether it is missing from m.
func notIn(m map[string]string) func(key string) bool {
	return func(key string) bool {
		_, in := m[key]
		return !in
	}
}

// merged adds to given what of stored is to stay; nil if there is nothing.
func merged(stored, given map[string]string, stays func(key string) bool) map[string]string {
	result := maps.Clone(stored)
	maps.DeleteFunc(result, func(key, _ string) bool { return !stays(key) })
	if len(result) == 0 {
		return maps.Clone(given)
	}
	maps.Copy(result, given)
	return result
}

// raiseTemplateGeneration counts the template on, as the server does for a set that carries the
// annotation.
func raiseTemplateGeneration(set, stored *appsv1.DaemonSet) {
	number, err := strconv.ParseInt(stored.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
	if err != nil {
		return
	}
	set.Annotations[appsv1.DeprecatedTemplateGeneration] = strconv.FormatInt(number+1, 10)
}
