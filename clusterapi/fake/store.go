package fake

import (
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// change is one write as it is seen from outside: old is nil for a new object, obj is nil
// for one that is gone. Both are shared and never written to again.
type change[T Object] struct {
	version  uint64
	at       time.Time
	old, obj T
}

// store keeps the objects of one kind and the changes that some client has not seen yet.
// An object in it is never written to: a change replaces it by a copy.
type store[T Object] struct {
	cluster *Cluster
	rules   rules[T]
	objects map[types.NamespacedName]T
	born    map[types.NamespacedName]int // incarnations so far under a chosen name
	changed func(old, obj T)             // keeps indexes and the agenda up to date
	history[T]
}

func newStore[T Object](c *Cluster, r rules[T], changed func(old, obj T)) *store[T] {
	return &store[T]{
		cluster: c,
		rules:   r,
		objects: map[types.NamespacedName]T{},
		born:    map[types.NamespacedName]int{},
		changed: changed,
		history: history[T]{caches: map[*cache[T]]struct{}{}},
	}
}

// put stores obj, which belongs to the store from then on, under the next resource version.
func (s *store[T]) put(obj T) T {
	key := keyOf(obj)
	old := s.objects[key]
	version := s.cluster.nextVersion()
	obj.SetResourceVersion(strconv.FormatUint(version, 10))
	s.objects[key] = obj
	s.record(change[T]{version: version, at: s.cluster.now, old: old, obj: obj})
	s.changed(old, obj)
	return obj
}

// drop removes an object. What watchers see of it carries the version of the removal.
func (s *store[T]) drop(key types.NamespacedName) {
	stored, ok := s.objects[key]
	if !ok {
		return
	}
	delete(s.objects, key)
	version := s.cluster.nextVersion()
	last := copyOf(stored)
	last.SetResourceVersion(strconv.FormatUint(version, 10))
	s.record(change[T]{version: version, at: s.cluster.now, old: last})
	s.changed(stored, nil)
}

// newUID is another one for every object that ever has this name. Those whose names were
// generated are told apart by the request for it, so that nothing has to be remembered of
// names that do not come back.
func (s *store[T]) newUID(key types.NamespacedName, generated string) types.UID {
	if generated != "" {
		return s.cluster.chance.uid(string(s.rules.kind), key, generated)
	}
	s.born[key]++
	return s.cluster.chance.uid(string(s.rules.kind), key, strconv.Itoa(s.born[key]))
}
