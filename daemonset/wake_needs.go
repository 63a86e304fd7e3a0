package daemonset

import (
	"math/bits"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/placement"
)

// byNeed finds the sets that a node may suit. Each set is listed under one thing that it needs
// of a node, or under each of several of which it needs one. Those that need nothing are
// listed by what they tolerate, and those that no node suits nowhere.
type byNeed struct {
	listed map[placement.Need][]*indexedSet
	keys   []string       // of the labels in listed, sorted
	counts map[string]int // how many needs in listed are about each key

	free     []*indexedSet            // all that need nothing
	tolerant []*indexedSet            // of these, those with tolerations for every key
	tolerate map[string][]*indexedSet // of these, the others by the keys that they have tolerations for
}

// add lists a set under what tells it best from the others so far.
func (b *byNeed) add(set *indexedSet) {
	needs := set.matcher.Needs()
	if len(needs) == 0 {
		b.addFree(set)
		return
	}
	if b.listed == nil {
		b.listed, b.counts = map[placement.Need][]*indexedSet{}, map[string]int{}
	}
	best := slices.MinFunc(needs, func(one, other []placement.Need) int { return b.company(one) - b.company(other) })
	for _, need := range best {
		if slices.Contains(set.needs, need) {
			continue
		}
		if len(b.listed[need]) == 0 {
			b.count(need, 1)
		}
		set.needs = append(set.needs, need)
		b.listed[need] = append(b.listed[need], set)
	}
}

func (b *byNeed) addFree(set *indexedSet) {
	b.free = append(b.free, set)
	keys, every := set.matcher.ToleratedKeys()
	if every {
		b.tolerant = append(b.tolerant, set)
		return
	}
	if b.tolerate == nil {
		b.tolerate = map[string][]*indexedSet{}
	}
	for _, key := range keys {
		b.tolerate[key] = append(b.tolerate[key], set)
	}
}

// company is how many other sets there are under needs.
func (b *byNeed) company(needs []placement.Need) int {
	others := 0
	for _, need := range needs {
		others += len(b.listed[need])
	}
	return others
}

// remove undoes add.
func (b *byNeed) remove(set *indexedSet) {
	isIt := func(other *indexedSet) bool { return other == set }
	for _, need := range set.needs {
		if b.listed[need] = slices.DeleteFunc(b.listed[need], isIt); len(b.listed[need]) == 0 {
			delete(b.listed, need)
			b.count(need, -1)
		}
	}
	if !slices.ContainsFunc(b.free, isIt) {
		return
	}
	b.free = slices.DeleteFunc(b.free, isIt)
	b.tolerant = slices.DeleteFunc(b.tolerant, isIt)
	keys, every := set.matcher.ToleratedKeys()
	if every {
		return
	}
	for _, key := range keys {
		if b.tolerate[key] = slices.DeleteFunc(b.tolerate[key], isIt); len(b.tolerate[key]) == 0 {
			delete(b.tolerate, key)
		}
	}
}

// count notes that there is one need more or less that is listed.
func (b *byNeed) count(need placement.Need, more int) {
	if need.Kind == placement.NeedsName {
		return
	}
	b.counts[need.Key] += more
	at, known := slices.BinarySearch(b.keys, need.Key)
	switch {
	case !known:
		b.keys = slices.Insert(b.keys, at, need.Key)
	case b.counts[need.Key] == 0:
		b.keys = slices.Delete(b.keys, at, at+1)
		delete(b.counts, need.Key)
	}
}

// mark marks the places of all sets that node may suit.
func (b *byNeed) mark(node *corev1.Node, places places) {
	b.markFree(node.Spec.Taints, places)
	places.add(b.listed[placement.Need{Kind: placement.NeedsName, Value: node.Name}])
	for _, key := range b.keys {
		if value, has := node.Labels[key]; has {
			places.add(b.listed[placement.Need{Key: key, Value: value}])
			places.add(b.listed[placement.Need{Kind: placement.NeedsKey, Key: key}])
		}
	}
}

// markFree marks the sets that need nothing and may tolerate the taint that the fewest do.
func (b *byNeed) markFree(taints []corev1.Taint, places places) {
	fewest, repelled := b.free, false
	for i := range taints {
		if taints[i].Effect != corev1.TaintEffectNoSchedule && taints[i].Effect != corev1.TaintEffectNoExecute {
			continue
		}
		if tolerate := b.tolerate[taints[i].Key]; len(tolerate) < len(fewest) {
			fewest, repelled = tolerate, true
		}
	}
	places.add(fewest)
	if repelled {
		places.add(b.tolerant)
	}
}

// places is some of the sets of an index: a bit for each.
type places []uint64

func (p places) add(sets []*indexedSet) {
	for _, set := range sets {
		p.set(set.place)
	}
}

func (p places) set(place int) { p[place/64] |= 1 << (place % 64) }

func (p places) has(place int) bool { return p[place/64]>>(place%64)&1 != 0 }

// next finds the first place from start on that is in p or in other; end if there is none.
func (p places) next(start, end int, other places) int {
	for word := start / 64; word < len(p); word++ {
		marked := p[word] | other[word]
		if word == start/64 {
			marked &^= 1<<(start%64) - 1
		}
		if marked != 0 {
			return word*64 + bits.TrailingZeros64(marked)
		}
	}
	return end
}
