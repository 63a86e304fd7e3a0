package daemonset

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ownedRevision is a revision of the set and what is to become of it.
type ownedRevision struct {
	obj     *appsv1.ControllerRevision
	adopted bool
	hash    string // the label, or the name of a revision that has none
	number  int64
	current bool     // holds the set's template
	reasons []Reason // of an update
}

// history is the set's past, read and brought up to date.
type history struct {
	current   Revision
	collision bool // the current revision cannot be named; nothing else is known
	created   *appsv1.ControllerRevision
	old       []*ownedRevision // other templates, lowest number first
	kept      *ownedRevision   // holds the template; nil when it is created or not ours
	surplus   []*ownedRevision // hold the template as well
	findings  []Finding
}

// readHistory finds the revision of the set's template among those it owns, or makes it.
func (set daemonSet) readHistory(revisions revisions) (history, error) {
	template := &set.obj.Spec.Template
	patch, err := encodePatch(template)
	if err != nil {
		return history{}, &InvalidError{Field: "daemonSet.spec.template", Err: err}
	}
	matcher := templateMatcher{template: template, patch: patch}
	h := history{}
	h.sort(revisions.owned, matcher)
	next := h.highestOld()
	if next < math.MaxInt64 {
		next++
	}
	if h.kept == nil {
		return set.createRevision(h, revisions.others, matcher, next)
	}
	if h.kept.number < next {
		h.kept.number = next
		h.kept.reasons = append(h.kept.reasons, RolledBack)
	}
	h.current = Revision{Name: h.kept.obj.Name, Hash: h.kept.hash, Number: h.kept.number}
	return h, nil
}

// sort reads the revisions and splits them into the one kept for the template, its
// duplicates, and the rest.
func (h *history) sort(revisions []*ownedRevision, matcher templateMatcher) {
	var current []*ownedRevision
	for _, r := range revisions {
		r.number = r.obj.Revision
		if r.hash = hashOf(r.obj.Labels); r.hash == "" {
			// The name is unique already, so nothing has to be computed that could collide.
			r.hash = r.obj.Name
			if json.Valid(r.obj.Data.Raw) { // or it cannot be written back
				r.reasons = append(r.reasons, HashLabelMissing)
			}
		}
		var err error
		if r.current, err = matcher.matches(r.obj.Data.Raw); err != nil {
			h.findings = append(h.findings, Finding{
				Kind: RevisionKind, Ref: refTo(&r.obj.ObjectMeta), Reason: UnreadableRevision, Detail: err.Error(),
			})
		}
		if r.current {
			current = append(current, r)
		} else {
			h.old = append(h.old, r)
		}
	}
	slices.SortFunc(h.old, lowestNumberFirst)
	if len(current) == 0 {
		return
	}
	h.kept = slices.MinFunc(current, func(a, b *ownedRevision) int {
		return cmp.Or(cmp.Compare(b.number, a.number), oldestFirst(a, b))
	})
	h.surplus = slices.DeleteFunc(current, func(r *ownedRevision) bool { return r == h.kept })
}

func (h *history) highestOld() int64 {
	if len(h.old) == 0 {
		return 0
	}
	return max(0, h.old[len(h.old)-1].number)
}

func lowestNumberFirst(a, b *ownedRevision) int {
	return cmp.Or(cmp.Compare(a.number, b.number), oldestFirst(a, b))
}

func oldestFirst(a, b *ownedRevision) int {
	return cmp.Or(
		a.obj.CreationTimestamp.Compare(b.obj.CreationTimestamp.Time),
		strings.Compare(a.obj.Name, b.obj.Name),
	)
}

// createRevision names the template's new revision and looks whether the name is free.
func (set daemonSet) createRevision(h history, others []*appsv1.ControllerRevision, matcher templateMatcher, number int64) (history, error) {
	hash, err := hashTemplate(matcher.patch, set.obj.Status.CollisionCount)
	if err != nil {
		return history{}, &InvalidError{Field: "daemonSet.spec.template", Err: err}
	}
	name := set.ref.Name + "-" + hash
	if slices.ContainsFunc(h.old, func(r *ownedRevision) bool { return r.obj.Name == name }) {
		h.collision = true
		return h, nil
	}
	if i := slices.IndexFunc(others, func(r *appsv1.ControllerRevision) bool { return r.Name == name }); i >= 0 {
		taken := others[i]
		if same, _ := matcher.matches(taken.Data.Raw); !same {
			h.collision = true
			return h, nil
		}
		h.current = Revision{Name: name, Hash: cmp.Or(hashOf(taken.Labels), hash), Number: taken.Revision}
		return h, nil
	}
	h.current = Revision{Name: name, Hash: hash, Number: number}
	h.created = set.newRevision(h.current, matcher.patch)
	return h, nil
}

func (set daemonSet) newRevision(r Revision, patch []byte) *appsv1.ControllerRevision {
	meta := metav1.ObjectMeta{
		Name:            r.Name,
		Namespace:       set.ref.Namespace,
		Labels:          withLabel(set.obj.Spec.Template.Labels, appsv1.ControllerRevisionHashLabelKey, r.Hash),
		Annotations:     maps.Clone(set.obj.Annotations),
		OwnerReferences: []metav1.OwnerReference{set.ref.ControllerReference()},
	}
	return &appsv1.ControllerRevision{ObjectMeta: meta, Data: runtime.RawExtension{Raw: patch}, Revision: r.Number}
}

// changes lists what the history step writes, in the order of doing: additions and
// corrections by name, then the removal of duplicates.
func (set daemonSet) changes(h history) []RevisionChange {
	var changes []RevisionChange
	if h.created != nil {
		changes = append(changes, RevisionChange{Op: CreateRevision, Revision: h.created, Reasons: []Reason{NewTemplate}})
	}
	touched := slices.Concat(h.old, h.surplus)
	if h.kept != nil {
		touched = append(touched, h.kept)
	}
	touched = slices.DeleteFunc(touched, func(r *ownedRevision) bool { return len(r.reasons) == 0 })
	slices.SortFunc(touched, func(a, b *ownedRevision) int { return strings.Compare(a.obj.Name, b.obj.Name) })
	for _, r := range touched {
		changes = append(changes, RevisionChange{Op: UpdateRevision, Revision: set.updated(r), Reasons: r.reasons})
	}
	for _, r := range h.surplus {
		changes = append(changes, deletion(r, DuplicateRevision))
	}
	return changes
}

func (set daemonSet) updated(r *ownedRevision) *appsv1.ControllerRevision {
	revision := r.obj.DeepCopy()
	revision.Labels = withLabel(revision.Labels, appsv1.ControllerRevisionHashLabelKey, r.hash)
	revision.Revision = r.number
	if r.adopted { // as the adoption leaves it: one reference for each owner
		owners := slices.DeleteFunc(revision.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == set.ref.UID })
		owners = append(owners, set.ref.ControllerReference())
		revision.OwnerReferences = owners
	}
	return revision
}

// deletion names the revision and leaves its data out: it is not needed, and if it is no
// JSON the plan could not be written as such.
func deletion(r *ownedRevision, reason Reason) RevisionChange {
	revision := &appsv1.ControllerRevision{ObjectMeta: *r.obj.ObjectMeta.DeepCopy(), Revision: r.obj.Revision}
	return RevisionChange{Op: DeleteRevision, Revision: revision, Reasons: []Reason{reason}}
}

// relabels moves pods to the revision that is kept when its duplicates go. As in Kubernetes
// v1.37.2 that takes every pod of the set that carries another hash, not only those of the
// duplicates.
func (h history) relabels(pods []pod) []Relabel {
	if len(h.surplus) == 0 {
		return nil
	}
	var relabels []Relabel
	for i := range pods {
		if !pods[i].hashed {
			relabels = append(relabels, Relabel{Pod: pods[i].ref(), Hash: h.current.Hash})
		}
	}
	slices.SortFunc(relabels, func(a, b Relabel) int { return strings.Compare(a.Pod.Name, b.Pod.Name) })
	return relabels
}

// expired lists the old revisions beyond limit that no pod carries. How many pods carry each
// is only asked if there are more.
func (h history) expired(limit int, carriers func() map[string]int) []RevisionChange {
	surplus := len(h.old) - limit
	if surplus <= 0 {
		return nil
	}
	carried := carriers()
	var changes []RevisionChange
	for _, r := range h.old {
		if surplus == 0 {
			break
		}
		if carried[r.hash] > 0 {
			continue
		}
		changes = append(changes, deletion(r, HistoryLimit))
		surplus--
	}
	return changes
}
