package daemonset_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/internal/gen"
	"github.com/daemonplan/daemonplan/placement"
	"github.com/daemonplan/daemonplan/rollout"
)

// scratchCase is case number seed of a sequence in which everything changes from one to the
// next: the set, the sizes, the order of the lists, the options, and whether there is a plan.
func scratchCase(seed uint64) gen.Case {
	random := rand.New(rand.NewPCG(seed, 7))
	o := gen.Options{Nodes: 1 + random.IntN(60), Lenient: true, Rewritten: true}
	c := gen.Make(gen.Bytes(seed), o)
	if random.IntN(4) == 0 {
		c = gen.Hostile(gen.Bytes(seed), o)
	}
	if random.IntN(2) == 0 {
		c.Snapshot = shuffled(c.Snapshot, seed)
	}
	if random.IntN(3) == 0 {
		c.Options.Fit = &placement.FitOptions{NodeConditions: random.IntN(2) == 0}
	}
	c.Options.Surge = []daemonset.SurgePolicy{daemonset.SurgeAnyway, daemonset.SurgeWithRoom, daemonset.SurgeOrReplace}[random.IntN(3)]
	c.Options.Profile = []rollout.Profile{rollout.Kubernetes137, rollout.Kubernetes127, rollout.Kubernetes112}[random.IntN(3)]
	return c
}

// TestScratch: plans made one after the other in one scratch are those that Compute makes
// each by itself, with the same reports and the same errors, and a plan is left alone by
// those that are made after it.
func TestScratch(t *testing.T) {
	runs := uint64(2000)
	if testing.Short() {
		runs = 300
	}
	saw := map[string]int{}
	var scratch daemonset.Scratch
	var last daemonset.Plan
	lastText := mustText(t, last)
	for seed := range runs {
		c := scratchCase(seed)
		want, wantErr := daemonset.Compute(c.Snapshot, c.Options)
		got, err := scratch.Compute(c.Snapshot, c.Options)
		require.Equal(t, wantErr, err, "seed %d", seed)
		require.Equal(t, lastText, mustText(t, last), "seed %d wrote to the plan before it", seed)
		if wantErr != nil {
			saw["refused"]++
			require.Nil(t, scratch.Nodes())
			require.Zero(t, scratch.Wake())
			continue
		}
		require.Nil(t, got.Nodes)
		require.Equal(t, want.Wake(), scratch.Wake(), "seed %d", seed)
		got.Nodes = scratch.Nodes()
		require.Equal(t, want, got, "seed %d", seed)
		require.Equal(t, got.Nodes, scratch.Nodes(), "reports can be read twice")
		last, lastText = got, mustText(t, got)
		tally(saw, got)
	}
	t.Log(saw)
	for _, situation := range []string{"refused", "acts", "rests", "suspends", "stands back", "waits for writes", "collision", "wakes sooner than Next"} {
		assert.NotZero(t, saw[situation], situation)
	}
}

func mustText(t *testing.T, plan daemonset.Plan) string {
	t.Helper()
	text, err := textOf(plan)
	require.NoError(t, err)
	return text
}

func tally(saw map[string]int, plan daemonset.Plan) {
	for situation, is := range map[string]bool{
		"acts":                   len(plan.Creates)+len(plan.Deletes) > 0,
		"rests":                  plan.Empty(),
		"suspends":               len(plan.Suspended) > 0,
		"stands back":            plan.Reason == daemonset.SelectsEverything || plan.Reason == daemonset.SetDeleting,
		"waits for writes":       plan.Reason == daemonset.WritesPending,
		"collision":              plan.Reason == daemonset.RevisionCollision,
		"wakes sooner than Next": plan.Wake() != plan.Next,
	} {
		if is {
			saw[situation]++
		}
	}
}

// TestScratchBeforeUse: a scratch in which no plan was made has nothing to report.
func TestScratchBeforeUse(t *testing.T) {
	var scratch daemonset.Scratch
	assert.Nil(t, scratch.Nodes())
	assert.Equal(t, time.Time{}, scratch.Wake())
}
