package daemonset

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// podStore keeps pods by namespace and name, in an order that is the same every time.
type podStore struct {
	numbers map[types.NamespacedName]int32
	all     []keptPod // by number; without an object where a pod was removed
	free    []int32
}

// keptPod is a pod and where it is filed, if pods are. So that need not be read from the object
// again, which is somewhere else in memory.
type keptPod struct {
	obj      *corev1.Pod
	hash     string // of its revision, if it is the set's and has a node
	number   int32  // of the post it is on, or nowhere
	standing ownership
	lost     bool // it is the set's, but on no node that can be told
}

// find returns the pod of a key, nil if there is none. What it points to may move when a pod
// is added.
func (s *podStore) find(key types.NamespacedName) *keptPod {
	if number, ok := s.numbers[key]; ok {
		return &s.all[number]
	}
	return nil
}

// put returns the pod of a key, without an object if there was none.
func (s *podStore) put(key types.NamespacedName) *keptPod {
	if k := s.find(key); k != nil {
		return k
	}
	if s.numbers == nil {
		s.numbers = map[types.NamespacedName]int32{}
	}
	if len(s.free) == 0 {
		s.free = append(s.free, int32(len(s.all)))
		s.all = append(s.all, keptPod{})
	}
	number := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	s.numbers[key] = number
	return &s.all[number]
}

func (s *podStore) remove(key types.NamespacedName) {
	number := s.numbers[key]
	delete(s.numbers, key)
	s.all[number] = keptPod{}
	s.free = append(s.free, number)
}

// sorted lists the pods by namespace and name.
func (s *podStore) sorted() []*corev1.Pod {
	pods := make([]*corev1.Pod, 0, len(s.numbers))
	for i := range s.all {
		if s.all[i].obj != nil {
			pods = append(pods, s.all[i].obj)
		}
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return compareKeys(keyOf(&a.ObjectMeta), keyOf(&b.ObjectMeta)) })
	return pods
}

// DaemonSet returns the set that the planner was told of last; nil if there is none.
func (p *Planner) DaemonSet() *appsv1.DaemonSet { return p.set }

// Pod returns the pod of a namespace and name that the planner was told of last; nil if there
// is none.
func (p *Planner) Pod(key types.NamespacedName) *corev1.Pod {
	if k := p.pods.find(key); k != nil {
		return k.obj
	}
	return nil
}

// findRevision finds where the revision of a key is, or would have to be.
func (p *Planner) findRevision(key types.NamespacedName) (at int, found bool) {
	return slices.BinarySearchFunc(p.revisions, key, func(r *appsv1.ControllerRevision, key types.NamespacedName) int {
		return compareKeys(keyOf(&r.ObjectMeta), key)
	})
}

// Objects returns what the planner has been told of, by name (and namespace), in slices of the
// caller's. Others is all pods if Options make plans depend on those of others, else nil.
func (p *Planner) Objects() Objects {
	objects := Objects{DaemonSet: p.set, Pods: p.pods.sorted(), Revisions: slices.Clone(p.revisions)}
	for number := range p.posts.order.All() {
		if !p.posts.gone(number) {
			objects.Nodes = append(objects.Nodes, p.posts.fleet.nodes[number])
		}
	}
	if p.options.Fit != nil || p.options.Surge != SurgeAnyway {
		objects.Others = objects.Pods
	}
	return objects
}

// snapshot is what Compute would be given at the moment of the plan.
func (p *Planner) snapshot() Snapshot {
	m := p.moment
	return Snapshot{Objects: p.Objects(), Pending: m.Pending, Backoff: m.Backoff, Suspended: m.Suspended, Now: m.Now}
}

// nameless reports whether there are objects without a name, from which no plan is made.
func (p *Planner) nameless() bool {
	number, known := p.posts.numbers[""]
	return p.unnamed > 0 || known && !p.posts.gone(number)
}
