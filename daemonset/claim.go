package daemonset

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
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
func (set daemonSet) ownershipOf(meta *metav1.ObjectMeta) ownership {
	if meta.Namespace != set.ref.Namespace {
		return foreign
	}
	controller := metav1.GetControllerOfNoCopy(meta)
	if controller != nil && !set.isNamedBy(controller) {
		return foreign
	}
	matches := set.selector.Matches(labels.Set(meta.Labels))
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

// isNamedBy reports whether an owner reference means this very set. Kubernetes v1.37.2 finds
// pods by kind, name and UID together, so one that only borrows the UID is not ours. A set
// that was never stored has no UID, and nothing can refer to it.
func (set daemonSet) isNamedBy(owner *metav1.OwnerReference) bool {
	return set.ref.UID != "" && owner.UID == set.ref.UID &&
		owner.Name == set.ref.Name && owner.Kind == string(DaemonSetKind)
}

// claims sorts objects into those that are ours and those whose ownership changes.
type claims struct {
	pods      []*corev1.Pod                // ours, in the snapshot's order
	revisions []*ownedRevision             // ours, by name
	others    []*appsv1.ControllerRevision // of the namespace, not ours
	changes   []Claim
}

func (set daemonSet) claim(objects Objects) (claims, error) {
	pods, podChanges, err := set.claimPods(objects.Pods)
	if err != nil {
		return claims{}, err
	}
	c := claims{pods: pods, changes: podChanges}
	if err := set.claimRevisions(&c, objects.Revisions); err != nil {
		return claims{}, err
	}
	return c, nil
}

func (set daemonSet) claimPods(pods []*corev1.Pod) (ours []*corev1.Pod, changes []Claim, err error) {
	ours = make([]*corev1.Pod, 0, len(pods))
	for i, pod := range pods {
		if pod == nil {
			return nil, nil, invalidEntry("pods", i, errIsNil)
		}
		switch standing := set.ownershipOf(&pod.ObjectMeta); standing {
		case foreign:
		case owned:
			ours = append(ours, pod)
		case orphaned:
			ours = append(ours, pod)
			changes = append(changes, Claim{Kind: PodKind, Ref: refTo(pod), Adopt: true, Reason: SelectorMatches})
		case released:
			changes = append(changes, Claim{Kind: PodKind, Ref: refTo(pod), Reason: SelectorMismatch})
		}
	}
	if name, ok := duplicateName(ours); ok {
		return nil, nil, &InvalidError{Field: "pods", Err: fmt.Errorf("two are named %q", name)}
	}
	slices.SortFunc(changes, func(a, b Claim) int { return strings.Compare(a.Ref.Name, b.Ref.Name) })
	return ours, changes, nil
}

func (set daemonSet) claimRevisions(c *claims, revisions []*appsv1.ControllerRevision) error {
	for i, revision := range revisions {
		if revision == nil {
			return invalidEntry("controllerRevisions", i, errIsNil)
		}
	}
	byName := slices.SortedFunc(slices.Values(revisions), func(a, b *appsv1.ControllerRevision) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	for i, revision := range byName {
		if revision.Namespace != set.ref.Namespace {
			continue
		}
		if i > 0 && byName[i-1].Namespace == revision.Namespace && byName[i-1].Name == revision.Name {
			return &InvalidError{Field: "controllerRevisions", Err: fmt.Errorf("two are named %q", revision.Name)}
		}
		ref := refTo(revision)
		switch set.ownershipOf(&revision.ObjectMeta) {
		case foreign:
			c.others = append(c.others, revision)
		case owned:
			c.revisions = append(c.revisions, &ownedRevision{obj: revision})
		case orphaned:
			c.revisions = append(c.revisions, &ownedRevision{obj: revision, adopted: true})
			c.changes = append(c.changes, Claim{Kind: RevisionKind, Ref: ref, Adopt: true, Reason: SelectorMatches})
		case released:
			c.others = append(c.others, revision)
			c.changes = append(c.changes, Claim{Kind: RevisionKind, Ref: ref, Reason: SelectorMismatch})
		}
	}
	return nil
}

// duplicateName finds a name that two pods share. An API server's list is in order, and
// then a look at the neighbours is enough.
func duplicateName(pods []*corev1.Pod) (string, bool) {
	ordered := true
	for i := 1; i < len(pods) && ordered; i++ {
		ordered = pods[i-1].Name < pods[i].Name
	}
	if ordered {
		return "", false
	}
	seen := make(map[string]struct{}, len(pods))
	for _, pod := range pods {
		if _, ok := seen[pod.Name]; ok {
			return pod.Name, true
		}
		seen[pod.Name] = struct{}{}
	}
	return "", false
}

var errIsNil = errors.New("is nil")

func invalidEntry(list string, i int, err error) error {
	return &InvalidError{Field: fmt.Sprintf("%s[%d]", list, i), Err: err}
}
