package daemonset

import (
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/placement"
)

// SetIndex holds the DaemonSets of a cluster, prepared once for the many events of pods,
// revisions and nodes that may wake them. Its zero value is empty and ready, and behaves
// like Kubernetes; [NewSetIndex] takes options.
//
// It keeps no reference to the objects it was given. Put and Remove need exclusive access;
// all other methods only read, and may run at the same time as each other.
type SetIndex struct {
	options placement.Options
	sets    []*indexedSet // by key
	named   map[types.NamespacedName]*indexedSet
	needs   byNeed
}

// indexedSet is what events need to know of a set.
type indexedSet struct {
	place        int              // in SetIndex.sets
	needs        []placement.Need // under which it is listed
	ref          Ref
	generation   int64
	minReady     time.Duration
	misscheduled bool
	selector     labels.Selector // matches nothing if it is missing, empty or does not parse
	matcher      *placement.Matcher
}

// NewSetIndex returns an empty index that judges nodes by options.
func NewSetIndex(options placement.Options) *SetIndex {
	return &SetIndex{options: options}
}

// Put adds set, or replaces the one of the same namespace and name, whatever its UID. A nil
// set is ignored. Selector and template are only prepared anew when the UID or
// metadata.generation changed, so the frequent updates of status cost little; without a
// generation they always are.
func (x *SetIndex) Put(set *appsv1.DaemonSet) {
	if set == nil {
		return
	}
	key := keyOf(&set.ObjectMeta)
	if old := x.named[key]; old != nil {
		if set.Generation != 0 && old.generation == set.Generation && old.ref.UID == set.UID {
			old.misscheduled = set.Status.NumberMisscheduled > 0
			return
		}
		x.needs.remove(old)
		x.put(old.place, x.prepare(set))
		return
	}
	place := x.search(key)
	x.sets = slices.Insert(x.sets, place, nil)
	x.put(place, x.prepare(set))
	x.renumber(place + 1)
}

// put enters a prepared set in a place that is free.
func (x *SetIndex) put(place int, set *indexedSet) {
	if x.named == nil {
		x.named = map[types.NamespacedName]*indexedSet{}
	}
	set.place = place
	x.sets[place] = set
	x.named[set.key()] = set
	x.needs.add(set)
}

// renumber tells the sets from start on where they are.
func (x *SetIndex) renumber(start int) {
	for place, set := range x.sets[start:] {
		set.place = start + place
	}
}

// Remove drops the set of that namespace and name, if there is one.
func (x *SetIndex) Remove(key types.NamespacedName) {
	set := x.named[key]
	if set == nil {
		return
	}
	x.needs.remove(set)
	delete(x.named, key)
	x.sets = slices.Delete(x.sets, set.place, set.place+1)
	x.renumber(set.place)
}

// Len counts the sets.
func (x *SetIndex) Len() int { return len(x.sets) }

func (x *SetIndex) prepare(set *appsv1.DaemonSet) *indexedSet {
	return &indexedSet{
		ref:          refTo(&set.ObjectMeta),
		generation:   set.Generation,
		minReady:     time.Duration(set.Spec.MinReadySeconds) * time.Second,
		misscheduled: set.Status.NumberMisscheduled > 0,
		selector:     wakingSelector(set.Spec.Selector),
		matcher:      placement.NewMatcher(&set.Spec.Template.Spec, x.options),
	}
}

// wakingSelector says which orphans wake a set. As in Kubernetes v1.37.2 that is none for a
// selector that would select everything or cannot be read: such a set adopts nothing.
func wakingSelector(selector *metav1.LabelSelector) labels.Selector {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil || parsed.Empty() {
		return labels.Nothing()
	}
	return parsed
}

// search finds where the set of a key is, or would have to be.
func (x *SetIndex) search(key types.NamespacedName) int {
	place, _ := slices.BinarySearchFunc(x.sets, key, func(set *indexedSet, key types.NamespacedName) int {
		return compareKeys(set.key(), key)
	})
	return place
}

// find looks up a set by name and UID, as controller references do; nil if there is none. A
// set that was never stored has no UID, and nothing can refer to it.
func (x *SetIndex) find(owner Ref) *indexedSet {
	set := x.named[types.NamespacedName{Namespace: owner.Namespace, Name: owner.Name}]
	if set == nil || owner.UID == "" || set.ref.UID != owner.UID {
		return nil
	}
	return set
}

// inNamespace returns the sets of one namespace, by name.
func (x *SetIndex) inNamespace(namespace string) []*indexedSet {
	rest := x.sets[x.search(types.NamespacedName{Namespace: namespace}):]
	end, _ := slices.BinarySearchFunc(rest, namespace, func(set *indexedSet, namespace string) int {
		if strings.Compare(set.ref.Namespace, namespace) <= 0 {
			return -1
		}
		return 1
	})
	return rest[:end]
}

func (set *indexedSet) key() types.NamespacedName {
	return types.NamespacedName{Namespace: set.ref.Namespace, Name: set.ref.Name}
}
