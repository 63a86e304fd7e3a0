package fake

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// groups files objects under keys, each group sorted by namespace and name.
type groups[K comparable, T Object] struct {
	of      func(T) []K
	members map[K][]T
}

func newGroups[K comparable, T Object](of func(T) []K) groups[K, T] {
	return groups[K, T]{of: of, members: map[K][]T{}}
}

// replace files obj in the place of old; nil stands for no object.
func (g groups[K, T]) replace(old, obj T) {
	var before, after []K
	if old != nil {
		before = g.of(old)
	}
	if obj != nil {
		after = g.of(obj)
	}
	for _, key := range before {
		if !slices.Contains(after, key) {
			g.remove(key, old)
		}
	}
	for _, key := range after {
		g.insert(key, obj)
	}
}

// insert files obj, also in the place of one of the same name.
func (g groups[K, T]) insert(key K, obj T) {
	group := g.members[key]
	if i, found := slices.BinarySearchFunc(group, obj, compareNames); !found {
		g.members[key] = slices.Insert(group, i, obj)
	} else {
		group[i] = obj
	}
}

func (g groups[K, T]) remove(key K, obj T) {
	group := g.members[key]
	i, found := slices.BinarySearchFunc(group, obj, compareNames)
	switch {
	case !found:
	case len(group) == 1:
		delete(g.members, key)
	default:
		g.members[key] = slices.Delete(group, i, i+1)
	}
}

// list returns a group. The slice is the caller's, the objects are shared.
func (g groups[K, T]) list(key K) []T { return slices.Clone(g.members[key]) }

func compareNames[T Object](a, b T) int {
	return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
}

// scope is where a client looks for objects: those of one controller in a namespace, or
// with an empty controller the namespace's orphans. Kinds that are not looked for by
// controller have it empty throughout.
type scope struct {
	namespace  string
	controller types.UID
}
