package upstream_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/expectations"
	"github.com/daemonplan/daemonplan/internal/conformance"
	"github.com/daemonplan/daemonplan/internal/gen"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/examples/upstream"
)

// TestDifferential plans generated snapshots and lets the stock controller act on the same.
// DAEMONPLAN_SECONDS says how long it goes on, DAEMONPLAN_SEED where it starts; a
// difference names the seed that repeats it, and is shown on the smallest snapshot that has one.
func TestDifferential(t *testing.T) {
	deadline := time.Now().Add(time.Duration(number(t, "DAEMONPLAN_SECONDS", 20)) * time.Second)
	seed := uint64(number(t, "DAEMONPLAN_SEED", 1))
	total, acted, errors := 0, 0, 0
	for ; time.Now().Before(deadline) && errors < 10; seed++ {
		c := gen.Make(gen.Bytes(seed), gen.Options{Lenient: seed%2 == 0})
		c.Snapshot.Pending = expectations.Pending{}
		record := func(s daemonset.Snapshot) (conformance.Case, error) {
			return upstream.Record(t.Context(), fmt.Sprintf("seed-%d", seed), s, burst(c))
		}
		recorded, err := record(c.Snapshot)
		require.NoError(t, err, "seed %d", seed)
		total++
		if recorded.Want.CreateOnNodes.Count+recorded.Want.DeletePods.Count > 0 {
			acted++
		}
		if diff, _ := recorded.Compare(); diff != "" {
			errors++
			smallest, err := record(upstream.Shrink(c.Snapshot, func(s daemonset.Snapshot) bool {
				shrunk, err := record(s)
				diff, _ := shrunk.Compare()
				return err == nil && diff != ""
			}))
			require.NoError(t, err)
			diff, _ := smallest.Compare()
			raw, err := json.Marshal(smallest)
			require.NoError(t, err)
			t.Errorf("seed %d differs; the smallest snapshot that does (-upstream +plan):\n%s\n%s", seed, diff, raw)
		}
	}
	require.NotZero(t, acted, "no snapshot made the controller act")
	t.Logf("%d snapshots, %d of them made the stock controller create or delete", total, acted)
}

func burst(c gen.Case) int {
	if c.Options.Burst > 0 {
		return c.Options.Burst
	}
	return 250
}

func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, name)
	return n
}
