package gen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/daemonset"
)

// makeRevisions writes the set's history, with the hashes that the library computes.
func (w *world) makeRevisions() {
	for version := range current + 1 {
		r := w.revision(version)
		if r == nil { // the set is one that nothing is planned for
			return
		}
		w.hashes[version] = r.Labels[appsv1.ControllerRevisionHashLabelKey]
		switch {
		case version < current && w.oneIn(4):
			continue // forgotten
		case version == current && w.mood != atRest && w.oneIn(4):
			w.block(r)
			continue
		}
		w.revisions = append(w.revisions, w.disturb(r, version))
	}
	if w.oneIn(6) {
		w.addTwin()
	}
	if w.odd() {
		w.addStranger()
	}
}

// revision is what the library would write for a version of the template, stored.
func (w *world) revision(version int) *appsv1.ControllerRevision {
	set := w.set.DeepCopy()
	set.Spec.Template.Spec.Containers[0].Image = image(version)
	plan, err := daemonset.Compute(daemonset.Snapshot{Objects: daemonset.Objects{DaemonSet: set}, Now: w.now}, daemonset.Options{})
	if err != nil || len(plan.Revisions) != 1 {
		return nil
	}
	r := plan.Revisions[0].Revision
	r.Revision = int64(version + 1)
	r.UID = types.UID(fmt.Sprintf("uid-revision-%d", version))
	r.CreationTimestamp = at(epoch().Add(time.Duration(version-30) * time.Hour))
	if w.oneIn(4) {
		r.CreationTimestamp = at(epoch().Add(-30 * time.Hour))
	}
	return r
}

// block sometimes leaves an object in the way of the revision that is about to be created:
// of another template, or of another owner.
func (w *world) block(r *appsv1.ControllerRevision) {
	switch w.below(6) {
	case 4:
		r.Data.Raw = bytes.Replace(r.Data.Raw, []byte(image(current)), []byte(image(9)), 1)
	case 5:
		r.OwnerReferences[0].UID = otherUID
	default:
		return
	}
	w.revisions = append(w.revisions, r)
}

// disturb makes some revisions unlike what Kubernetes wrote.
func (w *world) disturb(r *appsv1.ControllerRevision, version int) *appsv1.ControllerRevision {
	if w.rewritten && w.oneIn(4) {
		r.Data.Raw = w.rewrite(r.Data.Raw)
	}
	if w.oneIn(10) {
		r.OwnerReferences = nil // an orphan
	}
	if version == current && w.oneIn(8) {
		r.Revision = 1 // a rollback
	}
	if !w.odd() {
		return r
	}
	switch w.below(4) {
	case 0:
		delete(r.Labels, appsv1.ControllerRevisionHashLabelKey)
		w.hashes[version] = r.Name
	case 1:
		if version != current {
			r.Data.Raw = []byte(pick(&w.source, `{"spec":{}}`, `{"spec":{"template":{"metadata":{}}}}`, `{"other":1}`))
		}
	case 2:
		r.Labels["app"] = "moved-on"
		r.Labels["canary"] = "yes"
	case 3:
		r.Revision = int64(w.below(4))
	}
	return r
}

// rewrite returns the same value in other bytes.
func (w *world) rewrite(raw []byte) []byte {
	null := func(old, replacement string) []byte {
		return bytes.Replace(raw, []byte(old), []byte(replacement), 1)
	}
	switch w.below(4) {
	case 0:
		return null(`"metadata":{`, `"metadata":{"creationTimestamp":null,`)
	case 1:
		return null(`"containers":[`, `"retiredField":null,"containers":[`)
	case 2:
		return null(`{"spec":{"template":{"$patch":"replace",`, `{"spec":{"template":{`)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, raw, "", "  "); err != nil {
		return raw
	}
	return indented.Bytes()
}

// addTwin adds a second revision of the current template.
func (w *world) addTwin() {
	r := w.revision(current)
	if r == nil {
		return
	}
	r.Name += "-twin"
	r.UID = "uid-revision-twin"
	w.twin = "twin" + r.Labels[appsv1.ControllerRevisionHashLabelKey]
	r.Labels[appsv1.ControllerRevisionHashLabelKey] = w.twin
	r.Revision = int64(w.below(6))
	w.revisions = append(w.revisions, r)
}

// addStranger adds a revision of another set.
func (w *world) addStranger() {
	w.revisions = append(w.revisions, &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Name: "other-123", Namespace: namespace, UID: "uid-revision-other",
			Labels:          map[string]string{"app": "agent", appsv1.ControllerRevisionHashLabelKey: "123"},
			OwnerReferences: []metav1.OwnerReference{owner("other", otherUID)},
		},
		Revision: 99,
	})
	w.revisions[len(w.revisions)-1].Data.Raw = []byte(`{"spec":{"template":{"$patch":"replace"}}}`)
}
