package daemonset

import (
	"maps"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// readySlack is added to minReadySeconds before a pass is made for it. Times of the API have
// whole seconds, so without it the pass may come a moment before the pod is available.
const readySlack = time.Second

// PodChanged returns what a pod's event asks for. A nil prev means added, a nil cur deleted,
// which may be learned late and from an old state; both nil mean nothing. Another UID under
// the same name is a pod that is gone and a new one. Two states of the same resource version
// are a periodic repeat and ask for nothing.
//
// A pod with the controller reference of an indexed set wakes that set, and if the reference
// changed, the set it named before. A pod without controller that is new, relabelled or
// just lost its controller wakes every set of its namespace whose selector matches. When a
// pod turns ready, its set is woken once more after minReadySeconds and a second.
//
// A new pod is seen as created, and one that is gone or terminating as deleted, for the set
// that its controller reference names. These do not depend on the index, so they are not lost
// when the set's own event comes later.
func (x *SetIndex) PodChanged(prev, cur *corev1.Pod) Wakes {
	was, is := metaOfPod(prev), metaOfPod(cur)
	if repeats(was, is) {
		return Wakes{}
	}
	w := Wakes{Sets: x.touched(was, is), Seen: sightings(was, is)}
	if sameObject(was, is) && readyCondition(prev) == nil && readyCondition(cur) != nil {
		w.Later = x.whenAvailable(is)
	}
	return w
}

// RevisionChanged returns what a ControllerRevision's event asks for: the same sets as
// PodChanged would wake, and nothing to see, because nobody waits for revisions. Kubernetes
// v1.37.2 does not wake the owner of a new revision; here that pass is wanted by a set that
// was refused one until its own revision is visible.
func (x *SetIndex) RevisionChanged(prev, cur *appsv1.ControllerRevision) Wakes {
	was, is := metaOfRevision(prev), metaOfRevision(cur)
	if repeats(was, is) {
		return Wakes{}
	}
	return Wakes{Sets: x.touched(was, is)}
}

// touched returns the sets that an object's event concerns.
func (x *SetIndex) touched(was, is *metav1.ObjectMeta) []types.NamespacedName {
	switch {
	case is == nil:
		return x.appendOwner(nil, was)
	case was == nil:
		return sortKeys(x.appendSuitors(x.appendOwner(nil, is), is))
	case !sameObject(was, is):
		return sortKeys(append(x.touched(was, nil), x.touched(nil, is)...))
	}
	keys := x.appendOwner(nil, is)
	handedOver := !sameController(was, is)
	if handedOver {
		keys = x.appendOwner(keys, was)
	}
	if handedOver || !maps.Equal(was.Labels, is.Labels) {
		keys = x.appendSuitors(keys, is)
	}
	return sortKeys(keys)
}

func (x *SetIndex) appendOwner(keys []types.NamespacedName, object *metav1.ObjectMeta) []types.NamespacedName {
	owner, ok := ownerOf(object)
	if !ok {
		return keys
	}
	if set := x.find(owner); set != nil {
		keys = append(keys, set.key())
	}
	return keys
}

// appendSuitors adds the sets that would adopt an object. One without labels is adopted by
// nobody in Kubernetes v1.37.2, not even by a selector that only asks for a key's absence.
func (x *SetIndex) appendSuitors(keys []types.NamespacedName, object *metav1.ObjectMeta) []types.NamespacedName {
	if metav1.GetControllerOfNoCopy(object) != nil || object.DeletionTimestamp != nil || len(object.Labels) == 0 {
		return keys
	}
	for _, set := range x.inNamespace(object.Namespace) {
		if set.selector.Matches(labels.Set(object.Labels)) {
			keys = append(keys, set.key())
		}
	}
	return keys
}

func (x *SetIndex) whenAvailable(pod *metav1.ObjectMeta) []Later {
	owner, ok := ownerOf(pod)
	if !ok || pod.DeletionTimestamp != nil {
		return nil
	}
	set := x.find(owner)
	if set == nil || set.minReady <= 0 {
		return nil
	}
	return []Later{{Set: set.key(), After: set.minReady + readySlack}}
}

// sightings returns what an event shows of creations and deletions.
func sightings(was, is *metav1.ObjectMeta) []Sighting {
	var seen []Sighting
	if was != nil && !sameObject(was, is) {
		seen = appendSighting(seen, was, SawDelete)
	}
	switch {
	case is == nil:
	case is.DeletionTimestamp != nil:
		seen = appendSighting(seen, is, SawDelete)
	case !sameObject(was, is):
		seen = appendSighting(seen, is, SawCreate)
	}
	return seen
}

func appendSighting(seen []Sighting, pod *metav1.ObjectMeta, what Sight) []Sighting {
	owner, ok := ownerOf(pod)
	if !ok || owner.UID == "" || pod.UID == "" {
		return seen
	}
	return append(seen, Sighting{Owner: owner.UID, Pod: pod.UID, What: what})
}

// repeats reports that an event shows nothing new. Two states of one object never have the
// same resource version.
func repeats(was, is *metav1.ObjectMeta) bool {
	return sameObject(was, is) && is.ResourceVersion != "" && was.ResourceVersion == is.ResourceVersion
}

func sameObject(was, is *metav1.ObjectMeta) bool {
	return was != nil && is != nil && was.UID == is.UID
}

func sameController(a, b *metav1.ObjectMeta) bool {
	before, after := metav1.GetControllerOfNoCopy(a), metav1.GetControllerOfNoCopy(b)
	if before == nil || after == nil {
		return before == after
	}
	return before.UID == after.UID && before.Name == after.Name && before.Kind == after.Kind
}

func metaOfPod(pod *corev1.Pod) *metav1.ObjectMeta {
	if pod == nil {
		return nil
	}
	return &pod.ObjectMeta
}

func metaOfRevision(revision *appsv1.ControllerRevision) *metav1.ObjectMeta {
	if revision == nil {
		return nil
	}
	return &revision.ObjectMeta
}
