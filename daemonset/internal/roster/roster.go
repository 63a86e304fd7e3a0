// Package roster keeps numbers in the order of their names, and finds those that bear a mark
// without passing the others.
package roster

import (
	"iter"
	"math/bits"
	"slices"
	"strings"
)

// Kinds is how many kinds of marks there are.
const Kinds = 9

// Marks is a set of marks: bit k stands for the mark of kind k.
type Marks uint16

// Has reports whether the mark of one kind is in the set.
func (m Marks) Has(kind int) bool { return m>>kind&1 != 0 }

// With returns the set with the mark of one kind.
func (m Marks) With(kind int) Marks { return m | 1<<kind }

// Roster is numbers in the order of their names, which are unique. Marking a number and
// finding the next marked one take constant time, but for one step in every 64 · 64 numbers.
// So does adding and removing one, but for every 32nd or so, which takes a step in every 64
// numbers: numbers lie in groups of up to 64, with a bit in each group for each number and one
// over all groups for each group. Make one with [New]. It takes some 20 bytes a number.
type Roster struct {
	nameOf func(number int32) string
	home   []*group // by number; nil for those that are not there
	groups []*group // in order; none is empty
	some   [Kinds][]uint64
	counts [Kinds]int
	size   int
}

// group is up to 64 numbers in order. Bit i of what is marked stands for number i.
type group struct {
	place   int // in Roster.groups
	numbers []int32
	marked  [Kinds]uint64
}

const groupSize = 64

// New returns an empty roster; nameOf tells the name of a number and has to give the same one
// as long as the number is there.
func New(nameOf func(number int32) string) *Roster { return &Roster{nameOf: nameOf} }

// Len counts the numbers.
func (r *Roster) Len() int { return r.size }

// Count returns how many numbers bear the mark of one kind.
func (r *Roster) Count(kind int) int { return r.counts[kind] }

// Add enters a number without marks. Its name must not be there yet. Numbers should be small,
// because what is kept grows with the largest.
func (r *Roster) Add(number int32) {
	r.size++
	if grow := int(number) + 1 - len(r.home); grow > 0 {
		r.home = append(r.home, make([]*group, grow)...)
	}
	g, i := r.room(r.nameOf(number))
	g.numbers = slices.Insert(g.numbers, i, number)
	r.home[number] = g
	below := uint64(1)<<i - 1
	for k, m := range g.marked {
		g.marked[k] = m&below | m&^below<<1
	}
}

// Remove takes a number out. One that is not there is ignored.
func (r *Roster) Remove(number int32) {
	if int(number) >= len(r.home) || r.home[number] == nil {
		return
	}
	r.Mark(number, 0)
	g := r.home[number]
	i := slices.Index(g.numbers, number)
	g.numbers = slices.Delete(g.numbers, i, i+1)
	r.home[number] = nil
	r.size--
	below := uint64(1)<<i - 1
	for k, m := range g.marked {
		g.marked[k] = m&below | m>>1&^below
	}
	if len(g.numbers) == 0 {
		r.groups = slices.Delete(r.groups, g.place, g.place+1)
		r.renumber()
	}
}

// Mark replaces the marks of a number that is there.
func (r *Roster) Mark(number int32, marks Marks) {
	g := r.home[number]
	bit := uint64(1) << slices.Index(g.numbers, number)
	for k := range g.marked {
		switch had, has := g.marked[k]&bit != 0, marks.Has(k); {
		case has && !had:
			r.counts[k]++
		case had && !has:
			r.counts[k]--
		default:
			continue
		}
		g.marked[k] ^= bit
		r.note(g, k)
	}
}

// note brings the bit of one group up to date.
func (r *Roster) note(g *group, kind int) {
	word, bit := &r.some[kind][g.place/64], uint64(1)<<(g.place%64)
	if g.marked[kind] != 0 {
		*word |= bit
	} else {
		*word &^= bit
	}
}

// All yields the numbers in order. The roster must not change meanwhile.
func (r *Roster) All() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for _, g := range r.groups {
			for _, number := range g.numbers {
				if !yield(number) {
					return
				}
			}
		}
	}
}

// Marked yields the numbers that bear the mark of one kind, in order. The roster must not
// change meanwhile.
func (r *Roster) Marked(kind int) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for w, word := range r.some[kind] {
			for ; word != 0; word &= word - 1 {
				g := r.groups[w*64+bits.TrailingZeros64(word)]
				for m := g.marked[kind]; m != 0; m &= m - 1 {
					if !yield(g.numbers[bits.TrailingZeros64(m)]) {
						return
					}
				}
			}
		}
	}
}

// Rank returns how many numbers before this one, which must be there, bear the mark of one
// kind. It takes a step for each group before.
func (r *Roster) Rank(kind int, number int32) int {
	g := r.home[number]
	rank := 0
	for _, before := range r.groups[:g.place] {
		rank += bits.OnesCount64(before.marked[kind])
	}
	below := uint64(1)<<slices.Index(g.numbers, number) - 1
	return rank + bits.OnesCount64(g.marked[kind]&below)
}

// room finds where a name belongs, in a group that is not full.
func (r *Roster) room(name string) (*group, int) {
	compare := func(number int32, name string) int { return strings.Compare(r.nameOf(number), name) }
	at, _ := slices.BinarySearchFunc(r.groups, name, func(g *group, name string) int { return compare(g.numbers[0], name) })
	at = max(0, at-1)
	if len(r.groups) == 0 {
		return r.insert(0, nil), 0
	}
	g := r.groups[at]
	i, _ := slices.BinarySearchFunc(g.numbers, name, compare)
	switch {
	case len(g.numbers) < groupSize:
		return g, i
	case i == groupSize: // names that come in order fill their groups
		return r.insert(at+1, nil), 0
	}
	return r.split(g, i)
}

// split moves the upper half of a group into a new one, and returns the one in which index i
// has come to lie.
func (r *Roster) split(g *group, i int) (*group, int) {
	const half = groupSize / 2
	upper := r.insert(g.place+1, g.numbers[half:])
	g.numbers = g.numbers[:half]
	for k, m := range g.marked {
		g.marked[k], upper.marked[k] = m&(1<<half-1), m>>half
		r.note(g, k)
		r.note(upper, k)
	}
	if i <= half {
		return g, i
	}
	return upper, i - half
}

// insert adds a group with a copy of numbers.
func (r *Roster) insert(at int, numbers []int32) *group {
	g := &group{numbers: make([]int32, len(numbers), groupSize)}
	copy(g.numbers, numbers)
	for _, number := range numbers {
		r.home[number] = g
	}
	r.groups = slices.Insert(r.groups, at, g)
	if at < len(r.groups)-1 {
		r.renumber()
		return g
	}
	g.place = at
	for k := range r.some {
		for len(r.some[k]) <= at/64 {
			r.some[k] = append(r.some[k], 0)
		}
	}
	return g
}

// renumber brings up to date what depends on the places of the groups.
func (r *Roster) renumber() {
	for k := range r.some {
		r.some[k] = slices.Grow(r.some[k][:0], len(r.groups)/64+1)[:len(r.groups)/64+1]
		clear(r.some[k])
	}
	for place, g := range r.groups {
		g.place = place
		for k := range g.marked {
			if g.marked[k] != 0 {
				r.note(g, k)
			}
		}
	}
}
