package clientgo

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// podsFor returns the pods that a set owns and the orphans of its namespace, each once.
//
// A pod may change hands between two looks at a cache. So the orphans are looked at before
// and after what is owned: one that is adopted in between was seen before, and one that is
// orphaned is seen after.
func (i *Informers) podsFor(set *appsv1.DaemonSet) ([]*corev1.Pod, error) {
	var looks [3][]*corev1.Pod
	for n, value := range []string{orphanIn(set.Namespace), ownedBy(set.UID), orphanIn(set.Namespace)} {
		objects, err := i.pods.GetIndexer().ByIndex(claimIndex, value)
		if err != nil {
			return nil, err
		}
		looks[n] = typed[*corev1.Pod](objects)
	}
	before, owned, after := looks[0], looks[1], looks[2]
	if len(before)+len(after) == 0 {
		return owned, nil
	}
	return latest(after, owned, before), nil
}

// latest joins lists, the newest first, and keeps of pods of one name the first.
func latest(lists ...[]*corev1.Pod) []*corev1.Pod {
	known := map[types.NamespacedName]struct{}{}
	return slices.DeleteFunc(slices.Concat(lists...), func(pod *corev1.Pod) bool {
		key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
		_, twice := known[key]
		known[key] = struct{}{}
		return twice
	})
}
