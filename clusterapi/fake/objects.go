package fake

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Create stores a new object as the API server does for a user, and returns it as stored.
// The server chooses UID, resource version and creation time, completes defaults, and drops
// a status; a node without a Ready condition is ready. An object that is nil or not valid,
// a name that is taken and a namespace that takes no more give the server's errors.
func Create[T Object](c *Cluster, obj T) (T, error) {
	return serve(c, obj, func(s *store[T], obj T) (T, error) { return s.create(obj) })
}

// Put stores an object as it is, status included and whatever is wrong with it, as if
// history had led there, and returns it as stored. It replaces an object of the same name.
// Only what no stored object lacks is filled in: UID (that of the replaced object, if there
// is one), creation time and a new resource version. It fails for a nil object and for
// one without a name.
func Put[T Object](c *Cluster, obj T) (T, error) {
	return serve(c, obj, func(s *store[T], obj T) (T, error) {
		key := keyOf(obj)
		if key.Name == "" {
			return nil, apierrors.NewBadRequest("name is required")
		}
		stored, replaced := s.objects[key]
		switch {
		case obj.GetUID() != "":
		case replaced:
			obj.SetUID(stored.GetUID())
		default:
			obj.SetUID(s.newUID(key, ""))
		}
		if created := obj.GetCreationTimestamp(); created.IsZero() {
			obj.SetCreationTimestamp(s.cluster.stamp())
		}
		return s.put(obj), nil
	})
}

// Update replaces an object but for its status, as the API server does for a user, and
// returns it as stored. A UID or resource version other than the stored one is a Conflict
// error; an empty one is not compared. Generation grows only if the spec changed; an update
// that changes nothing writes nothing. An object that is being deleted goes with its last
// finalizer.
func Update[T Object](c *Cluster, obj T) (T, error) {
	return serve(c, obj, func(s *store[T], obj T) (T, error) { return s.update(obj) })
}

// UpdateStatus replaces the status of a node, pod or DaemonSet, as a kubelet or controller
// does, and returns the object as stored. The spec stays. Labels, annotations, finalizers and
// owner references are taken over, except the owner references of pods, as in Kubernetes
// v1.37.2: its API server shields the spec only. UID and resource version are compared as by
// Update. A ControllerRevision has no status: NotFound.
func UpdateStatus[T Object](c *Cluster, obj T) (T, error) {
	return serve(c, obj, func(s *store[T], obj T) (T, error) { return s.updateStatus(obj) })
}

// Edit changes an object through change, which gets a copy, and stores it as Update does.
func Edit[T Object](c *Cluster, key types.NamespacedName, change func(obj T)) (T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := storeOf[T](c)
	stored, ok := s.objects[key]
	if !ok {
		return nil, s.notFound(key.Name)
	}
	obj := copyOf(stored)
	change(obj)
	return returned(s.update(obj))
}

// Propagation is what becomes of what a deleted object owns.
type Propagation string

// The propagations. The zero value is Background, as in Kubernetes for these kinds.
const (
	Background Propagation = ""           // the owner goes, then the garbage collector deletes
	Foreground Propagation = "Foreground" // the owner stays until all it owns is gone
	Orphan     Propagation = "Orphan"     // what it owns stays, without owner
)

func (p Propagation) finalizer() string {
	switch p {
	case Foreground:
		return metav1.FinalizerDeleteDependents
	case Orphan:
		return metav1.FinalizerOrphanDependents
	case Background:
	}
	return ""
}

// DeleteOptions say how to delete. The zero value deletes whatever has the name, in the
// way of its kind.
type DeleteOptions struct {
	UID         *types.UID // another one is a Conflict error; nil does not compare
	Grace       *int64     // seconds, for pods; nil means as the pod says
	Propagation Propagation
}

// Delete deletes the object of a name as the API server does: a bound pod is gone when its
// kubelet stopped it, an object with finalizers when they are gone, everything else at
// once. Deleting again can only shorten a pod's grace. No such object is NotFound.
func Delete[T Object](c *Cluster, key types.NamespacedName, options DeleteOptions) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return storeOf[T](c).remove(key, options)
}

// Get returns a copy of an object, from the API server. No such object is NotFound.
func Get[T Object](c *Cluster, key types.NamespacedName) (T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return storeOf[T](c).get(key)
}

// List returns copies of all objects of a type in a namespace, from the API server, sorted
// by namespace and name. An empty namespace means all.
func List[T Object](c *Cluster, namespaceName string) []T {
	c.mu.Lock()
	defer c.mu.Unlock()
	objects := storeOf[T](c).in(namespaceName)
	for i, stored := range objects {
		objects[i] = copyOf(stored)
	}
	return objects
}

// serve lets a write see a copy of obj and returns a copy of what it stored.
func serve[T Object](c *Cluster, obj T, write func(s *store[T], obj T) (T, error)) (T, error) {
	if obj == nil {
		return nil, apierrors.NewBadRequest("no object")
	}
	obj = copyOf(obj)
	c.mu.Lock()
	defer c.mu.Unlock()
	return returned(write(storeOf[T](c), obj))
}

func returned[T Object](stored T, err error) (T, error) {
	if err != nil {
		return nil, err
	}
	return copyOf(stored), nil
}

func (s *store[T]) update(obj T) (T, error) {
	s.rules.defaults(obj)
	return s.replace(obj, write[T]{keep: s.rules.updated, check: s.rules.checkUpdate})
}

func (s *store[T]) updateStatus(obj T) (T, error) {
	if s.rules.kind == RevisionKind {
		return nil, s.notFound(obj.GetName())
	}
	return s.replace(obj, write[T]{keep: s.rules.statusOnly, check: s.rules.checkStatusUpdate})
}

// storeOf finds the store of a type of objects.
func storeOf[T Object](c *Cluster) *store[T] {
	var found any
	var zero T
	switch any(zero).(type) {
	case *corev1.Node:
		found = c.nodes
	case *corev1.Pod:
		found = c.pods
	case *appsv1.DaemonSet:
		found = c.sets
	case *appsv1.ControllerRevision:
		found = c.revisions
	}
	s, ok := found.(*store[T])
	if !ok {
		panic(fmt.Sprintf("fake: no store for %T", zero)) // the constraint admits no other type
	}
	return s
}
