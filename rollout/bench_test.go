package rollout_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/rollout"
)

// benchCase is one situation of a fleet, and how many steps and holds it must come to, so
// that what is timed is what is meant.
type benchCase struct {
	name      string
	pod       func(i int) rollout.Pod
	budget    func(n int) rollout.Budget
	prefer    func(a, b rollout.Node) int
	shuffle   bool
	wantSteps func(n int) int
	wantHolds func(n int) int
}

// In the middle of an update a tenth of the nodes is current.
func benchCases() []benchCase {
	middle := func(i int) rollout.Pod { return rollout.Pod{Current: i%10 == 0, Health: rollout.Available} }
	tenth := func(n int) rollout.Budget { return rollout.Budget{MaxUnavailable: n / 10} }
	tenthSurge := func(n int) rollout.Budget { return rollout.Budget{MaxSurge: n / 10} }
	steps, holds := func(n int) int { return n / 10 }, func(n int) int { return n - n/10 - n/10 }
	none := func(int) int { return 0 }
	return []benchCase{
		{
			name:   "steady",
			pod:    func(int) rollout.Pod { return rollout.Pod{Current: true, Health: rollout.Available} },
			budget: tenth, wantSteps: none, wantHolds: none,
		},
		{name: "middle", pod: middle, budget: tenth, wantSteps: steps, wantHolds: holds},
		{name: "surge", pod: middle, budget: tenthSurge, wantSteps: steps, wantHolds: holds},
		{
			name: "spent", pod: middle, budget: func(int) rollout.Budget { return rollout.Budget{} },
			wantSteps: none, wantHolds: func(n int) int { return n - n/10 },
		},
		{
			name: "prefer", pod: middle, budget: tenth, wantSteps: steps, wantHolds: holds,
			prefer: func(a, b rollout.Node) int { return cmp.Compare(a.Name[len(a.Name)-1], b.Name[len(b.Name)-1]) },
		},
		{name: "shuffled", pod: middle, budget: tenth, shuffle: true, wantSteps: steps, wantHolds: holds},
	}
}

func (bc benchCase) input(tb testing.TB, size int) rollout.Input {
	tb.Helper()
	in := rollout.Input{Nodes: fleet(size, bc.pod), Desired: size, Budget: bc.budget(size), Prefer: bc.prefer}
	if bc.shuffle {
		in = shuffled(in, rand.New(rand.NewPCG(1, 1)))
	}
	got := rollout.Decide(in)
	require.Len(tb, got.Holds, bc.wantHolds(size))
	require.Equal(tb, bc.wantSteps(size), len(got.Deletes)+len(got.Surges))
	return in
}

func BenchmarkDecide(b *testing.B) {
	for _, bc := range benchCases() {
		for _, size := range []int{100, 1_000, 5_000, 50_000} {
			b.Run(fmt.Sprintf("state=%s/nodes=%d", bc.name, size), func(b *testing.B) {
				in := bc.input(b, size)
				b.ReportAllocs()
				for b.Loop() {
					rollout.Decide(in)
				}
			})
		}
	}
}

// The number of allocations does not grow with the fleet: one for each slice of the result
// that is not empty, and one to choose.
func TestDecideAllocations(t *testing.T) {
	want := map[string]float64{"steady": 0, "spent": 1}
	for _, bc := range benchCases() {
		budget, ok := want[bc.name]
		if !ok {
			budget = 3
		}
		for _, size := range []int{100, 5_000} {
			in := bc.input(t, size)
			got := testing.AllocsPerRun(50, func() { rollout.Decide(in) })
			assert.LessOrEqual(t, got, budget, "%s, %d nodes", bc.name, size)
		}
	}
}

// fleet is nodes in name order with one pod each.
func fleet(size int, pod func(i int) rollout.Pod) []rollout.Node {
	nodes := make([]rollout.Node, size)
	for i := range nodes {
		p := pod(i)
		if p.Name == "" {
			p.Name = fmt.Sprintf("agent-%06d", i)
		}
		p.UID = types.UID("uid-" + p.Name)
		nodes[i] = rollout.Node{Name: fmt.Sprintf("node-%06d.example", i), Eligible: true, Pods: []rollout.Pod{p}}
	}
	return nodes
}

func byName(a, b rollout.Node) int { return strings.Compare(a.Name, b.Name) }
