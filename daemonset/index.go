package daemonset

import "hash/maphash"

// index finds the number of a node by its name. It holds numbers only and no names, a
// quarter of what a map takes, and nothing for the garbage collector to follow. Its hashes
// differ from run to run; what it finds does not.
type index struct {
	seed  maphash.Seed
	slots []int32 // number+1, or 0 for free; the length is a power of two
}

// newIndex makes room for count names.
func newIndex(count int) index {
	size := 1
	for size < 2*count {
		size *= 2
	}
	return index{seed: maphash.MakeSeed(), slots: make([]int32, size)}
}

// add enters a name that is not there yet.
func (x index) add(name string, number int32) {
	mask := len(x.slots) - 1
	i := int(maphash.String(x.seed, name)) & mask
	for x.slots[i] != 0 {
		i = (i + 1) & mask
	}
	x.slots[i] = number + 1
}

// find looks a name up; nameOf tells the name that a number was entered with.
func (x index) find(name string, nameOf func(int32) string) (int32, bool) {
	mask := len(x.slots) - 1
	for i := int(maphash.String(x.seed, name)) & mask; x.slots[i] != 0; i = (i + 1) & mask {
		if number := x.slots[i] - 1; nameOf(number) == name {
			return number, true
		}
	}
	return 0, false
}
