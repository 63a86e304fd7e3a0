package gen_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/internal/gen"
)

// TestMakeIsDeterministic: a corpus file has to mean the same case tomorrow.
func TestMakeIsDeterministic(t *testing.T) {
	for seed := range uint64(50) {
		o := gen.Options{Lenient: true, Rewritten: true}
		a, b := gen.Make(gen.Bytes(seed), o), gen.Make(gen.Bytes(seed), o)
		require.Empty(t, cmp.Diff(a.Snapshot, b.Snapshot), "seed %d", seed)
	}
	assert.NotEqual(t, gen.Bytes(1), gen.Bytes(2))
	assert.NotEmpty(t, cmp.Diff(gen.Make(gen.Bytes(1), gen.Options{}).Snapshot, gen.Make(gen.Bytes(2), gen.Options{}).Snapshot))
}

// TestMakePlainest: without bytes every choice is the plainest, and nothing is to be done
// but to write the status.
func TestMakePlainest(t *testing.T) {
	c := gen.Make(nil, gen.Options{})
	plan, err := daemonset.Compute(c.Snapshot, c.Options)
	require.NoError(t, err)
	assert.Empty(t, plan.Creates)
	assert.Empty(t, plan.Deletes)
	assert.Empty(t, plan.Revisions)
	assert.Len(t, plan.Nodes, 1)
}

// TestMakeIsPlannable: what is not hostile is never refused.
func TestMakeIsPlannable(t *testing.T) {
	for seed := range uint64(300) {
		c := gen.Make(gen.Bytes(seed), gen.Options{Lenient: seed%2 == 0, Rewritten: seed%3 == 0})
		_, err := daemonset.Compute(c.Snapshot, c.Options)
		require.NoError(t, err, "seed %d", seed)
	}
}

// TestHostileIsRefusedSometimes: hostile cases that were all planned, or all refused, would test little.
func TestHostileIsRefusedSometimes(t *testing.T) {
	refused, planned := 0, 0
	for seed := range uint64(300) {
		c := gen.Hostile(gen.Bytes(seed), gen.Options{})
		if _, err := daemonset.Compute(c.Snapshot, c.Options); err != nil {
			refused++
		} else {
			planned++
		}
	}
	assert.Greater(t, refused, 30)
	assert.Greater(t, planned, 30)
}
