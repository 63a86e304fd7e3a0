package daemonset

import "hash/maphash"

// index finds the number of a name. It holds numbers only and no names, a quarter of what a
// map takes, and nothing for the garbage collector to follow. Its hashes differ from run to
// run; what it finds does not. The zero value has no room: see reset.
type index struct {
	seed  maphash.Seed
	slots []slot // the length is a power of two
}

// slot is a number with half of its name's hash, so that the names of others need not be
// looked at.
type slot struct {
	tag   uint32
	entry int32 // number+1, or 0 for free
}

// reset empties the index and makes room for count names.
func (x *index) reset(count int) {
	size := 1
	for size < 2*count {
		size *= 2
	}
	if x.seed == (maphash.Seed{}) {
		x.seed = maphash.MakeSeed()
	}
	if size > cap(x.slots) {
		x.slots = make([]slot, size)
		return
	}
	x.slots = x.slots[:size]
	clear(x.slots)
}

// addAll enters the names of the numbers from 0, and returns the first, in order, that two
// share; empty for none.
func (x *index) addAll(names []string) (twice string) {
	for number, name := range names {
		at, tag := x.seek(names, name)
		switch {
		case x.slots[at].entry == 0:
			x.slots[at] = slot{tag: tag, entry: int32(number) + 1}
		case twice == "" || name < twice:
			twice = name
		}
	}
	return twice
}

// find looks a name up. names are those of the numbers that were added.
func (x *index) find(names []string, name string) (number int32, found bool) {
	at, _ := x.seek(names, name)
	entry := x.slots[at].entry
	return entry - 1, entry != 0
}

// seek returns the slot where a name is, or would have to be.
func (x *index) seek(names []string, name string) (at int, tag uint32) {
	hash := maphash.String(x.seed, name)
	tag = uint32(hash >> 32)
	mask := len(x.slots) - 1
	for at = int(hash) & mask; x.slots[at].entry != 0; at = (at + 1) & mask {
		if s := x.slots[at]; s.tag == tag && names[s.entry-1] == name {
			break
		}
	}
	return at, tag
}
