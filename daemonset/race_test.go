package daemonset_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/internal/gen"
)

// TestComputeConcurrently plans one snapshot from many goroutines, as a controller with
// several workers on one cache does. It is the race detector that makes it a test of
// reading only; without it, it still checks that the plans are the same.
func TestComputeConcurrently(t *testing.T) {
	const workers = 8
	acted := 0
	for seed := range uint64(40) {
		c := gen.Make(gen.Bytes(seed), gen.Options{Lenient: true, Rewritten: true})
		texts, errs := make([]string, workers), make([]error, workers)
		var group sync.WaitGroup
		for worker := range workers {
			group.Go(func() {
				plan, err := daemonset.Compute(c.Snapshot, c.Options)
				if err == nil {
					texts[worker], err = textOf(plan)
				}
				errs[worker] = err
				for _, create := range plan.Creates {
					plan.Pod(create)
				}
			})
		}
		group.Wait()
		for worker := range workers {
			require.NoError(t, errs[worker])
			require.NoError(t, firstDifference(texts[0], texts[worker]), "seed %d", seed)
		}
		if plan, err := daemonset.Compute(c.Snapshot, c.Options); err == nil && len(plan.Creates)+len(plan.Deletes) > 0 {
			acted++
		}
	}
	assert.Positive(t, acted, "no plan did anything")
}

// TestPodConcurrently builds pods of one plan from many goroutines, as creates in parallel do.
func TestPodConcurrently(t *testing.T) {
	built := 0
	for seed := range uint64(40) {
		c := gen.Make(gen.Bytes(seed), gen.Options{})
		plan, err := daemonset.Compute(c.Snapshot, c.Options)
		require.NoError(t, err)
		var group sync.WaitGroup
		for _, create := range plan.Creates {
			built++
			group.Go(func() { plan.Pod(create).Labels["touched"] = "yes" })
		}
		group.Wait()
		if plan.Template != nil {
			assert.NotContains(t, plan.Template.Labels, "touched")
		}
	}
	assert.Positive(t, built)
}
