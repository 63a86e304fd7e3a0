package fake

import (
	"cmp"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ownersOf files an object under everything that owns it.
func ownersOf[T Object](obj T) []types.UID {
	references := obj.GetOwnerReferences()
	if len(references) == 0 {
		return nil
	}
	owners := make([]types.UID, 0, len(references))
	for _, reference := range references {
		owners = append(owners, reference.UID)
	}
	return owners
}

// owner finds the set that a reference in a namespace means; nil if there is none.
func (c *Cluster) owner(namespaceName string, reference metav1.OwnerReference) *appsv1.DaemonSet {
	set := c.sets.objects[keyIn(namespaceName, reference.Name)]
	if set == nil || set.UID != reference.UID || reference.Kind != string(DaemonSetKind) {
		return nil
	}
	return set
}

// leaving are the owners of an object that no longer count: those that are gone, and those
// that wait in the foreground for what they own. Owners of kinds other than DaemonSet count
// as there. All tells whether there is no other owner.
func (c *Cluster) leaving(obj metav1.Object) (owners []types.UID, all bool) {
	references := obj.GetOwnerReferences()
	for _, reference := range references {
		if reference.Kind != string(DaemonSetKind) {
			continue
		}
		if set := c.owner(obj.GetNamespace(), reference); set == nil || waits(set) {
			owners = append(owners, reference.UID)
		}
	}
	return owners, len(owners) == len(references)
}

// waits tells whether a set is being deleted in the foreground.
func waits(set *appsv1.DaemonSet) bool {
	return set.DeletionTimestamp != nil && slices.Contains(set.Finalizers, metav1.FinalizerDeleteDependents)
}

// scheduleGarbage lets the collector look at an object that may have lost owners.
func (c *Cluster) scheduleGarbage(t task, obj metav1.Object) {
	if owners, _ := c.leaving(obj); len(owners) > 0 && obj.GetDeletionTimestamp() == nil {
		c.agenda.soon(t, c.now.Add(c.life.timing.Collect))
	}
}

// scheduleOwned lets the collector look at what a set owned that is gone.
func (c *Cluster) scheduleOwned(set *appsv1.DaemonSet) {
	for _, revision := range c.revisionsOf.members[set.UID] {
		c.scheduleGarbage(task{kind: revisionGarbageTask, key: keyOf(revision)}, revision)
	}
	for _, pod := range c.podsOf.members[set.UID] {
		c.scheduleGarbage(task{kind: podGarbageTask, key: keyOf(pod)}, pod)
	}
}

// collect does what the garbage collector of Kubernetes v1.37.2 does with an object that is
// not being deleted: if owners of it are leaving and others stay, it takes the former out of
// the object, else it deletes it.
func collect[T Object](s *store[T], key types.NamespacedName) {
	obj, ok := s.objects[key]
	if !ok || obj.GetDeletionTimestamp() != nil {
		return
	}
	switch owners, all := s.cluster.leaving(obj); {
	case len(owners) == 0:
	case all:
		s.end(obj, DeleteOptions{})
	default:
		disown(s, []T{obj}, owners...)
	}
}

func collectAll[T Object](s *store[T], objects []T) {
	for _, obj := range objects {
		collect(s, keyOf(obj))
	}
}

// blocks tells whether a set that is deleted in the foreground has to wait for an object.
func blocks(obj metav1.Object, set types.UID) bool {
	return slices.ContainsFunc(obj.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
		return r.UID == set && r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion
	})
}

// scheduleSet lets the collector look at a set that waits for it.
func (c *Cluster) scheduleSet(set *appsv1.DaemonSet) {
	if set.DeletionTimestamp == nil {
		return
	}
	if slices.Contains(set.Finalizers, metav1.FinalizerDeleteDependents) || slices.Contains(set.Finalizers, metav1.FinalizerOrphanDependents) {
		c.agenda.soon(task{kind: setTask, key: keyOf(set)}, c.now.Add(c.life.timing.Collect))
	}
}

// wakeOwners lets the collector look at sets that are being deleted and owned something
// that changed.
func (c *Cluster) wakeOwners(obj metav1.Object) {
	for _, reference := range obj.GetOwnerReferences() {
		if set := c.owner(obj.GetNamespace(), reference); set != nil {
			c.scheduleSet(set)
		}
	}
}

// releaseSet does what a set that is being deleted waits for: nothing that blocks it is
// left, or nothing names it as owner. What it owns without being blocked by it is collected
// all the same.
func (c *Cluster) releaseSet(set *appsv1.DaemonSet) {
	if set.DeletionTimestamp == nil {
		return
	}
	pods, revisions := c.podsOf.list(set.UID), c.revisionsOf.list(set.UID)
	if slices.Contains(set.Finalizers, metav1.FinalizerOrphanDependents) {
		disown(c.pods, pods, set.UID)
		disown(c.revisions, revisions, set.UID)
		c.removeFinalizer(set, metav1.FinalizerOrphanDependents)
		return
	}
	blocked := slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return blocks(pod, set.UID) }) ||
		slices.ContainsFunc(revisions, func(r *appsv1.ControllerRevision) bool { return blocks(r, set.UID) })
	collectAll(c.pods, pods)
	collectAll(c.revisions, revisions)
	if !blocked {
		c.removeFinalizer(set, metav1.FinalizerDeleteDependents)
	}
}

func (c *Cluster) removeFinalizer(set *appsv1.DaemonSet, finalizer string) {
	c.sets.edit(set, func(set *appsv1.DaemonSet) {
		set.Finalizers = slices.DeleteFunc(set.Finalizers, func(f string) bool { return f == finalizer })
	})
}

// disown takes owners out of objects.
func disown[T Object](s *store[T], objects []T, owners ...types.UID) {
	for _, stored := range objects {
		s.edit(stored, func(obj T) {
			obj.SetOwnerReferences(slices.DeleteFunc(obj.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
				return slices.Contains(owners, r.UID)
			}))
		})
	}
}

func endAll[T Object](s *store[T], objects []T) {
	for _, obj := range objects {
		s.end(obj, DeleteOptions{})
	}
}

// emptyNamespace deletes what is in a namespace.
func (c *Cluster) emptyNamespace(name string) {
	endAll(c.sets, c.sets.in(name))
	endAll(c.revisions, c.revisions.in(name))
	endAll(c.pods, c.pods.in(name))
}

// in returns the objects of a namespace, sorted by name; all objects for the empty one.
func (s *store[T]) in(namespaceName string) []T {
	var keys []types.NamespacedName
	for key := range maps.Keys(s.objects) {
		if namespaceName == "" || key.Namespace == namespaceName {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	objects := make([]T, 0, len(keys))
	for _, key := range keys {
		objects = append(objects, s.objects[key])
	}
	return objects
}
