package daemonset

import (
	"cmp"
	"slices"
	"time"
)

// agenda holds when time alone changes something on which node: a heap, with the place of each
// node in it.
type agenda struct {
	dates  []date
	places []int32 // by node number: its place in dates, plus 1; 0 if there is none
}

type date struct {
	at     time.Time
	number int32
}

// first is the earliest date; zero if there is none.
func (a *agenda) first() date {
	if len(a.dates) == 0 {
		return date{}
	}
	return a.dates[0]
}

// set replaces the date of a node; zero is none.
func (a *agenda) set(number int32, at time.Time) {
	if grow := int(number) + 1 - len(a.places); grow > 0 {
		if at.IsZero() {
			return
		}
		a.places = append(a.places, make([]int32, grow)...)
	}
	i := int(a.places[number]) - 1
	switch {
	case i < 0 && at.IsZero():
		return
	case i < 0:
		i = len(a.dates)
		a.dates = append(a.dates, date{at, number})
	case at.IsZero():
		i = a.remove(i)
	default:
		a.dates[i].at = at
	}
	if i < len(a.dates) {
		a.sink(a.rise(i))
	}
}

// remove puts the last date in the place of one, which is returned.
func (a *agenda) remove(i int) int {
	last := len(a.dates) - 1
	a.places[a.dates[i].number] = 0
	a.dates[i] = a.dates[last]
	a.dates = a.dates[:last]
	return i
}

// rise moves a date up as long as it is earlier than the one above.
func (a *agenda) rise(i int) int {
	for up := (i - 1) / 2; i > 0 && a.dates[i].at.Before(a.dates[up].at); up = (i - 1) / 2 {
		a.swap(i, up)
		i = up
	}
	a.places[a.dates[i].number] = int32(i) + 1
	return i
}

// sink moves a date down as long as one below is earlier.
func (a *agenda) sink(i int) {
	for {
		below := 2*i + 1
		if below+1 < len(a.dates) && a.dates[below+1].at.Before(a.dates[below].at) {
			below++
		}
		if below >= len(a.dates) || !a.dates[below].at.Before(a.dates[i].at) {
			break
		}
		a.swap(i, below)
		i = below
	}
	a.places[a.dates[i].number] = int32(i) + 1
}

func (a *agenda) swap(i, j int) {
	a.dates[i], a.dates[j] = a.dates[j], a.dates[i]
	a.places[a.dates[i].number] = int32(i) + 1
	a.places[a.dates[j].number] = int32(j) + 1
}

// delays counts durations; there are only a few different ones.
type delays []delay

type delay struct {
	length time.Duration
	count  int
}

func (d *delays) add(length time.Duration) { d.change(length, 1) }

func (d *delays) remove(length time.Duration) { d.change(length, -1) }

func (d *delays) change(length time.Duration, by int) {
	if length == 0 {
		return
	}
	i, found := slices.BinarySearchFunc(*d, length, func(e delay, l time.Duration) int { return cmp.Compare(e.length, l) })
	if !found {
		*d = slices.Insert(*d, i, delay{length: length})
	}
	if (*d)[i].count += by; (*d)[i].count == 0 {
		*d = slices.Delete(*d, i, i+1)
	}
}
