package daemonset

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ownership is how an object stands to the set.
type ownership uint8

const (
	foreign  ownership = iota // not ours
	owned                     // ours already
	orphaned                  // without a controller, and to be adopted
	released                  // ours, but the selector does not match any more
)

// ownershipOf applies the rules by which Kubernetes controllers share objects: the
// controller reference decides, and the selector decides about what has none.
func (set *daemonSet) ownershipOf(meta *metav1.ObjectMeta) ownership {
	if meta.Namespace != set.ref.Namespace {
		return foreign
	}
	controller := controllerOf(meta)
	if controller != nil && !set.isNamedBy(controller) {
		return foreign
	}
	matches := set.selects.matches(meta.Labels)
	switch {
	case controller != nil && matches:
		return owned
	case controller != nil:
		return released
	case matches && meta.DeletionTimestamp == nil:
		return orphaned
	}
	return foreign
}

// controllerOf is metav1.GetControllerOfNoCopy for objects whose type is known.
func controllerOf(meta *metav1.ObjectMeta) *metav1.OwnerReference {
	for i := range meta.OwnerReferences {
		if owner := &meta.OwnerReferences[i]; owner.Controller != nil && *owner.Controller {
			return owner
		}
	}
	return nil
}

// isNamedBy reports whether an owner reference means this very set. Kubernetes v1.37.2 finds
// pods by kind, name and UID together, so one that only borrows the UID is not ours. A set
// that was never stored has no UID, and nothing can refer to it.
func (set *daemonSet) isNamedBy(owner *metav1.OwnerReference) bool {
	return set.ref.UID != "" && owner.UID == set.ref.UID &&
		owner.Name == set.ref.Name && owner.Kind == string(DaemonSetKind)
}

// Each kind of object is sorted into what is ours and what changes hands.
type (
	pods struct {
		owned   []pod // in the snapshot's order, until the fleet puts them on its nodes
		changes []Claim
		names   []string // of all of these
		index   index    // of the names, if they are in no order
	}
	revisions struct {
		owned   []*ownedRevision             // by name
		others  []*appsv1.ControllerRevision // of the namespace, by name
		changes []Claim
	}
)

func (p *pass) claimPods(c *pods, objects []*corev1.Pod, f *fleet) error {
	c.reset(len(objects))
	ordered, previous := true, ""
	for i, obj := range objects {
		if obj == nil {
			return invalidEntry("pods", i, errIsNil)
		}
		standing := p.set.ownershipOf(&obj.ObjectMeta)
		if standing == foreign {
			continue
		}
		if obj.Name == "" {
			return invalidEntry("pods", i, errHasNoName)
		}
		ordered = ordered && previous < obj.Name
		previous = obj.Name
		c.names = append(c.names, obj.Name)
		p.claimPod(c, obj, standing, f)
	}
	// An API server's list is in order of name, and then no name can occur twice.
	if !ordered {
		c.index.reset(len(c.names))
		if name := c.index.addAll(c.names); name != "" {
			return &InvalidError{Field: "pods", Err: fmt.Errorf("two are named %q", name)}
		}
	}
	slices.SortFunc(c.changes, func(a, b Claim) int { return strings.Compare(a.Ref.Name, b.Ref.Name) })
	return nil
}

// reset empties c and makes room for count pods. What a plan was given stays its own.
func (c *pods) reset(count int) {
	c.owned = slices.Grow(c.owned[:0], count)
	c.changes = nil
	c.names = slices.Grow(c.names[:0], count)
}

func (p *pass) claimPod(c *pods, obj *corev1.Pod, standing ownership, f *fleet) {
	if standing.counts() {
		c.owned = append(c.owned, p.read(obj, f))
	}
	if claim, ok := standing.claim(PodKind, &obj.ObjectMeta); ok {
		c.changes = append(c.changes, claim)
	}
}

// counts reports whether an object is the set's, now or once it is adopted.
func (o ownership) counts() bool { return o == owned || o == orphaned }

// claim is how an object changes hands, if it does.
func (o ownership) claim(kind Kind, meta *metav1.ObjectMeta) (Claim, bool) {
	switch o {
	case orphaned:
		return Claim{Kind: kind, Ref: refTo(meta), Adopt: true, Reason: SelectorMatches}, true
	case released:
		return Claim{Kind: kind, Ref: refTo(meta), Reason: SelectorMismatch}, true
	case foreign, owned:
	}
	return Claim{}, false
}

func (set daemonSet) claimRevisions(objects []*appsv1.ControllerRevision) (revisions, error) {
	sorted, err := set.sortRevisions(objects)
	if err != nil {
		return revisions{}, err
	}
	c := revisions{}
	for _, obj := range sorted {
		standing := set.ownershipOf(&obj.ObjectMeta)
		switch standing {
		case foreign, released:
			c.others = append(c.others, obj)
		case owned, orphaned:
			c.owned = append(c.owned, &ownedRevision{obj: obj, adopted: standing == orphaned})
		}
		if claim, ok := standing.claim(RevisionKind, &obj.ObjectMeta); ok {
			c.changes = append(c.changes, claim)
		}
	}
	return c, nil
}

// sortRevisions returns the revisions of the set's namespace by name.
func (set daemonSet) sortRevisions(objects []*appsv1.ControllerRevision) ([]*appsv1.ControllerRevision, error) {
	if i := slices.Index(objects, nil); i >= 0 {
		return nil, invalidEntry("controllerRevisions", i, errIsNil)
	}
	sorted := slices.DeleteFunc(slices.Clone(objects), func(r *appsv1.ControllerRevision) bool {
		return r.Namespace != set.ref.Namespace
	})
	slices.SortFunc(sorted, func(a, b *appsv1.ControllerRevision) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(sorted); i++ {
		if sorted[i-1].Name == sorted[i].Name {
			return nil, &InvalidError{Field: "controllerRevisions", Err: fmt.Errorf("two are named %q", sorted[i].Name)}
		}
	}
	return sorted, nil
}

var (
	errIsNil     = errors.New("is nil")
	errHasNoName = errors.New("has no name")
)

func invalidEntry(list string, i int, err error) error {
	return &InvalidError{Field: fmt.Sprintf("%s[%d]", list, i), Err: err}
}
