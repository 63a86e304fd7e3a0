package roster_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/daemonset/internal/roster"
)

// TestLikeASortedList: any sequence of changes leaves the same as a list that is sorted anew.
func TestLikeASortedList(t *testing.T) {
	const most = 6_000
	for seed, order := range []func(i, n int) int{
		func(i, _ int) int { return i },
		func(i, n int) int { return n - i },
		func(i, n int) int { return i * 7_919 % n },
	} {
		m := newModel(most, order)
		random := rand.New(rand.NewPCG(uint64(seed), 0))
		for step := range 40_000 {
			m.change(random, step)
			if step%1_000 == 0 {
				m.check(t)
			}
		}
		m.check(t)
		for number := range int32(most) {
			m.remove(number)
		}
		m.check(t)
		require.Zero(t, m.roster.Len())
	}
}

// model is a roster beside what it should hold.
type model struct {
	names  []string
	marks  map[int32]roster.Marks
	roster *roster.Roster
}

func newModel(most int, order func(i, n int) int) *model {
	m := &model{marks: map[int32]roster.Marks{}}
	for i := range most {
		m.names = append(m.names, fmt.Sprintf("%06d-%d", order(i, most), i))
	}
	m.roster = roster.New(func(number int32) string { return m.names[number] })
	return m
}

// change grows the roster at first and makes it smaller in the end.
func (m *model) change(random *rand.Rand, step int) {
	number := random.Int32N(int32(len(m.names)))
	if step < len(m.names) {
		number = int32(step)
	}
	_, there := m.marks[number]
	switch {
	case !there && step < 30_000:
		m.roster.Add(number)
		m.marks[number] = 0
	case !there:
		m.remove(number)
	case random.IntN(4) == 0 && step > len(m.names):
		m.remove(number)
	default:
		m.marks[number] = roster.Marks(random.IntN(512) & random.IntN(512))
		m.roster.Mark(number, m.marks[number])
	}
}

func (m *model) remove(number int32) {
	m.roster.Remove(number)
	delete(m.marks, number)
}

func (m *model) check(t *testing.T) {
	t.Helper()
	var all []int32
	for number := range m.marks {
		all = append(all, number)
	}
	slices.SortFunc(all, func(a, b int32) int {
		if m.names[a] < m.names[b] {
			return -1
		}
		return 1
	})
	require.Equal(t, all, slices.Collect(m.roster.All()))
	require.Equal(t, len(all), m.roster.Len())
	for kind := range roster.Kinds {
		var marked []int32
		for _, number := range all {
			if number%97 == 0 {
				require.Equal(t, len(marked), m.roster.Rank(kind, number))
			}
			if m.marks[number].Has(kind) {
				marked = append(marked, number)
			}
		}
		require.Equal(t, marked, slices.Collect(m.roster.Marked(kind)))
		require.Equal(t, len(marked), m.roster.Count(kind))
		for number := range m.roster.Marked(kind) { // may be left at any time
			require.Equal(t, marked[0], number)
			break
		}
	}
}

func TestMarks(t *testing.T) {
	marks := roster.Marks(0).With(3).With(7)
	for kind := range roster.Kinds {
		require.Equal(t, kind == 3 || kind == 7, marks.Has(kind))
	}
}
