package witness

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// Object is a DaemonSet, a pod or a node.
type Object = metav1.Object

// Change is one change as a watch told it.
type Change struct {
	Type   watch.EventType // Added, Modified or Deleted
	Object Object          // as stored after the change, or before it if Deleted
	Seen   time.Time       // by the witness's clock
}

// Version is the place of the change among all changes of the cluster, of whatever kind.
// Kinds share one count, because they share one etcd.
func (c Change) Version() uint64 {
	version, err := strconv.ParseUint(c.Object.GetResourceVersion(), 10, 64)
	if err != nil {
		panic("witness: an object from a server has the resource version " + strconv.Quote(c.Object.GetResourceVersion()))
	}
	return version
}

// History is what was seen, in any order.
type History []Change

// InOrder returns the changes by version. A Deleted event is later than what it deletes,
// also where a server gives both one version.
func (h History) InOrder() History {
	sorted := slices.Clone(h)
	slices.SortStableFunc(sorted, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Version(), b.Version()), cmp.Compare(rank(a), rank(b)))
	})
	return sorted
}

func rank(c Change) int {
	if c.Type == watch.Deleted {
		return 1
	}
	return 0
}

// After returns the changes that are later than a version.
func (h History) After(version uint64) History {
	return slices.DeleteFunc(slices.Clone(h), func(c Change) bool { return c.Version() <= version })
}

// Life is what became of one pod.
type Life struct {
	Pod     *corev1.Pod // as last seen
	Created time.Time
	Ready   time.Time // when it was first seen ready; zero for never
	Asked   time.Time // when it was first seen with a deletion time; zero for never
	Gone    time.Time // zero while it is there
}

// Lives returns the pods that a set owned at any time, by creation. Pods that one call of
// the history did not see being created have the time at which they were first seen.
func (h History) Lives(set *appsv1.DaemonSet) []Life {
	lives := map[string]*Life{}
	var order []*Life
	for _, change := range h.InOrder() {
		pod, ok := change.Object.(*corev1.Pod)
		if !ok {
			continue
		}
		life := lives[string(pod.UID)]
		if life == nil {
			if !owned(pod, set) {
				continue
			}
			life = &Life{Created: change.Seen}
			lives[string(pod.UID)] = life
			order = append(order, life)
		}
		life.see(change, pod)
	}
	result := make([]Life, 0, len(order))
	for _, life := range order {
		result = append(result, *life)
	}
	return result
}

func (l *Life) see(change Change, pod *corev1.Pod) {
	l.Pod = pod
	if l.Ready.IsZero() && isReady(pod) {
		l.Ready = change.Seen
	}
	if l.Asked.IsZero() && (pod.DeletionTimestamp != nil || change.Type == watch.Deleted) {
		l.Asked = change.Seen
	}
	if change.Type == watch.Deleted {
		l.Gone = change.Seen
	}
}

func owned(pod *corev1.Pod, set *appsv1.DaemonSet) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.UID == set.UID
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// isLive reports whether a pod runs or is going to.
func isLive(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded
}
