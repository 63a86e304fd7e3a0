package fake

import (
	"cmp"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
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

// garbage tells whether an object had owners and all of them are gone. Owners of kinds
// that this cluster does not store count as there.
func (c *Cluster) garbage(obj metav1.Object) bool {
	references := obj.GetOwnerReferences()
	if len(references) == 0 {
		return false
	}
	return !slices.ContainsFunc(references, func(reference metav1.OwnerReference) bool {
		return reference.Kind != string(DaemonSetKind) || c.owner(obj.GetNamespace(), reference) != nil
	})
}

// scheduleGarbage lets the collector look at an object that may have lost its owners.
func (c *Cluster) scheduleGarbage(t task, obj metav1.Object) {
	if c.garbage(obj) {
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

// collect deletes an object, if it is garbage still.
func collect[T Object](s *store[T], key types.NamespacedName) {
	if obj, ok := s.objects[key]; ok && s.cluster.garbage(obj) {
		s.end(obj, DeleteOptions{})
	}
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

// releaseSet does what a set that is being deleted waits for: nothing that it owns is left,
// or nothing names it as owner.
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
	if len(pods)+len(revisions) == 0 {
		c.removeFinalizer(set, metav1.FinalizerDeleteDependents)
		return
	}
	endAll(c.pods, pods)
	endAll(c.revisions, revisions)
}

func (c *Cluster) removeFinalizer(set *appsv1.DaemonSet, finalizer string) {
	c.sets.edit(set, func(set *appsv1.DaemonSet) {
		set.Finalizers = slices.DeleteFunc(set.Finalizers, func(f string) bool { return f == finalizer })
	})
}

func disown[T Object](s *store[T], objects []T, owner types.UID) {
	for _, stored := range objects {
		s.edit(stored, func(obj T) {
			obj.SetOwnerReferences(slices.DeleteFunc(obj.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner }))
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
