package simulate_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/simulate"
)

// BenchmarkRun brings 5,000 nodes to a new template, and reports beside the time how many
// times as long it takes as one plan of the whole fleet in the middle of it: both are run in
// turn, so that what else the machine does falls on both.
func BenchmarkRun(b *testing.B) {
	for _, tt := range []struct {
		name     string
		strategy strategy
	}{
		{"maxUnavailable=10%", strategy{unavailable: "10%"}},
		{"maxUnavailable=1", strategy{unavailable: "1"}},
		{"maxSurge=10%", strategy{surge: "10%"}},
	} {
		for _, nodes := range []int{500, 5_000} {
			b.Run(fmt.Sprintf("%s/nodes=%d", tt.name, nodes), func(b *testing.B) {
				s := updated(fleet(nodes, tt.strategy))
				o := simulate.Options{Model: simulate.DefaultModel()}
				var running, planning time.Duration
				var r simulate.Result
				for b.Loop() {
					before := b.Elapsed()
					var err error
					r, err = simulate.Run(s, o)
					require.NoError(b, err)
					middle := b.Elapsed()
					_, err = daemonset.Compute(s, o.Plan)
					require.NoError(b, err)
					running += middle - before
					planning += b.Elapsed() - middle
				}
				require.Equal(b, simulate.Complete, r.Outcome)
				b.ReportMetric(float64(r.Passes), "passes")
				b.ReportMetric(float64(running)/float64(planning), "run/plan")
				b.ReportMetric(running.Seconds()/float64(b.N), "s/run")
			})
		}
	}
}
