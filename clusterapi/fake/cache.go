package fake

import (
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// cache is what one client knows of one kind. It holds the server's objects themselves,
// which nobody writes to.
type cache[T Object] struct {
	store    *store[T]
	position int // changes before it are taken in
	version  uint64
	objects  map[types.NamespacedName]T
	scopes   groups[scope, T]
	lag      Lag
	tell     func(Event)
}

// follower is a cache of any kind.
type follower interface {
	kind() Kind
	setLag(lag Lag)
	behind() int
	catchUp(limit int) int
	advance()
	relist()
	close()
}

func newCache[T Object](s *store[T], scopeOf func(T) scope, tell func(Event)) *cache[T] {
	c := &cache[T]{
		store:    s,
		position: s.total(),
		version:  s.cluster.version,
		objects:  maps.Clone(s.objects),
		scopes:   newGroups(func(obj T) []scope { return []scope{scopeOf(obj)} }),
		tell:     tell,
	}
	for _, obj := range c.sorted(c.objects) {
		c.scopes.replace(nil, obj)
	}
	s.caches[c] = struct{}{}
	return c
}

func (c *cache[T]) sorted(objects map[types.NamespacedName]T) []T {
	return slices.SortedFunc(maps.Values(objects), compareNames)
}

func (c *cache[T]) kind() Kind { return c.store.rules.kind }

func (c *cache[T]) setLag(lag Lag) { c.lag = lag }

func (c *cache[T]) close() { delete(c.store.caches, c) }

// follow takes the place of another cache of the kind, which must still be kept.
func (c *cache[T]) follow(other *cache[T]) {
	c.position, c.version, c.lag = other.position, other.version, other.lag
	for _, obj := range c.sorted(c.objects) {
		c.scopes.replace(obj, nil)
	}
	c.objects = maps.Clone(other.objects)
	for _, obj := range c.sorted(c.objects) {
		c.scopes.replace(nil, obj)
	}
}

// advance takes in what the lag lets through.
func (c *cache[T]) advance() {
	if c.lag.Hold {
		return
	}
	visible := c.store.total() - max(0, c.lag.Changes)
	newest := c.store.cluster.now.Add(-max(0, c.lag.Age))
	n := 0
	for c.position+n < visible && !c.store.at(c.position+n).at.After(newest) {
		n++
	}
	c.catchUp(n)
}

// catchUp takes in the next changes, at most limit, and says how many there were.
func (c *cache[T]) catchUp(limit int) int {
	n := min(limit, c.store.total()-c.position)
	for range n {
		c.take(c.store.at(c.position))
		c.position++
	}
	if n > 0 {
		c.store.trim()
	}
	return max(0, n)
}

func (c *cache[T]) take(change change[T]) {
	c.version = change.version
	event := Event{Kind: c.kind(), version: change.version}
	if change.obj != nil {
		key := keyOf(change.obj)
		known := c.objects[key]
		c.objects[key] = change.obj
		c.scopes.replace(known, change.obj)
		event.New = change.obj
		if known != nil {
			event.Old = known
		}
		c.tell(event)
		return
	}
	key := keyOf(change.old)
	if known, ok := c.objects[key]; ok {
		delete(c.objects, key)
		c.scopes.replace(known, nil)
		event.Old = change.old
		c.tell(event)
	}
}

// relist forgets what it has not taken in and compares with the server: what happened in
// between is seen as one update, or as a deletion whose last state is not known.
func (c *cache[T]) relist() {
	c.position = c.store.total()
	c.version = c.store.cluster.version
	for _, known := range c.sorted(c.objects) {
		key := keyOf(known)
		if _, there := c.store.objects[key]; !there {
			delete(c.objects, key)
			c.scopes.replace(known, nil)
			c.tell(Event{Kind: c.kind(), Old: known, Missed: true, version: c.version})
		}
	}
	for _, obj := range c.sorted(c.store.objects) {
		key := keyOf(obj)
		known := c.objects[key]
		if known == obj {
			continue
		}
		c.objects[key] = obj
		c.scopes.replace(known, obj)
		event := Event{Kind: c.kind(), New: obj, version: c.version}
		if known != nil {
			event.Old = known
		}
		c.tell(event)
	}
	c.store.trim()
}

// byController files objects under their namespace and controller.
func byController[T Object](obj T) scope {
	s := scope{namespace: obj.GetNamespace()}
	if owner := metav1.GetControllerOfNoCopy(obj); owner != nil {
		s.controller = owner.UID
	}
	return s
}

func byNamespace[T Object](obj T) scope { return scope{namespace: obj.GetNamespace()} }

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// behind counts the changes that were not taken in.
func (c *cache[T]) behind() int { return c.store.total() - c.position }
