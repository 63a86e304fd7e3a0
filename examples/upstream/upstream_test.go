package upstream_test

import (
	"testing"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/internal/conformance"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/examples/upstream"
)

const corpusFile = "../../daemonset/testdata/conformance/upstream-v1.37.2.jsonl.gz"

// TestRecordRepeatsCorpus shows that what is recorded here is what the corpus was made of:
// plans must agree with a fresh pass of the stock controller over every snapshot of it.
func TestRecordRepeatsCorpus(t *testing.T) {
	total := 0
	for c, err := range conformance.Read(corpusFile) {
		require.NoError(t, err)
		s := daemonset.Snapshot{Objects: c.Snapshot, Now: c.Now}
		fresh, err := upstream.Record(t.Context(), c.ID, s, c.Burst)
		require.NoError(t, err)
		total++
		if diff, _ := fresh.Compare(); diff != "" {
			t.Errorf("%s: differs (-upstream +plan):\n%s", c.ID, diff)
		}
	}
	require.NotZero(t, total)
	t.Logf("%d snapshots, all planned as the stock controller acts", total)
}
