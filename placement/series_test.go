package placement_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/placement"
)

// TestSeries: whatever nodes come one after the other, each is judged as if it were alone.
func TestSeries(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	decided := map[placement.Decision]int{}
	again := 0
	for range 2_000 {
		data := make([]byte, 500)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		d := &dice{data: data}
		m := placement.NewMatcher(d.spec(), d.options())
		series := placement.NewSeries(m)
		last := d.node()
		for range 12 {
			n := d.node()
			if n != nil && last != nil && d.roll(2) == 0 {
				n.Spec.Taints = last.DeepCopy().Spec.Taints // other memory, the same taints
				again++
			}
			want := m.Decide(n)
			require.Equal(t, want, series.Decide(n), "%q", data)
			decided[want]++
			last = n
		}
	}
	assert.Len(t, decided, 3, "Run, Keep and Evict")
	assert.Positive(t, again)
	series := placement.NewSeries(placement.NewMatcher(nil, placement.Options{}))
	assert.Equal(t, placement.Undecided, series.Decide(nil))
}
