package upstream_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/daemonplan/daemonplan/placement"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuretesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/kubernetes/pkg/features"

	"github.com/daemonplan/daemonplan/examples/upstream"
)

// fitPairs is the number of generated pods and nodes, a tenth of that with -short.
const fitPairs = 100_000

// odd says why an answer may differ from the stock scheduler's on purpose.
type odd struct {
	name, why string
	in        func(*fitCase) bool
}

// oddities are all differences there are. A pair is compared without mercy unless one of
// them is in it.
var oddities = []odd{
	{
		name: "critical",
		why:  "resources are not judged for critical pods, as the DaemonSet controller of v1.12 did; the scheduler evicts for them",
		in:   func(c *fitCase) bool { return c.critical },
	},
	{
		name: "not admitted",
		why:  "a negative request or a name that is no resource is a finding; the scheduler, which never sees one, passes over it",
		in:   func(c *fitCase) bool { return c.notAdmitted },
	},
	{
		name: "beyond int64",
		why:  "a quantity that an int64 cannot hold is counted as the largest; the scheduler counts zero or the low bits",
		in:   func(c *fitCase) bool { return c.beyond },
	},
	{
		name: "negative pod",
		why:  "another pod with a negative request holds nothing; with the scheduler it makes room",
		in:   func(c *fitCase) bool { return c.negativeOther },
	},
}

// TestFitLikeStockScheduler compares the answers, and in them what was asked for, free and
// allocatable of each resource, with those of the stock scheduler's filters.
func TestFitLikeStockScheduler(t *testing.T) {
	// Off, the defaults of a pod's own requests are among the other defaults; on, they come
	// when the pod is stored, which does not happen here.
	featuretesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.PodLevelResourcesFixDefaulting, false)
	scheduler, err := upstream.NewFilters(t.Context())
	require.NoError(t, err)
	pairs := fitPairs
	if testing.Short() {
		pairs /= 10
	}
	random := rand.New(rand.NewPCG(5, 37))
	came, differs := map[string]int{}, map[string]int{}
	for i := range pairs {
		c := newFitCase(random)
		want, err := scheduler.Judge(t.Context(), upstream.Question{Pod: c.pod, Node: c.node, Others: c.others, Claims: c.volumes})
		require.NoError(t, err)
		got := ours(c)
		for _, what := range want {
			came[firstWord(what)]++
		}
		if len(want) == 0 {
			came["fits"]++
		}
		if slices.Equal(want, got) {
			continue
		}
		at := slices.IndexFunc(oddities, func(o odd) bool { return o.in(c) })
		if at < 0 {
			t.Fatalf("pair %d differs\nstock %q\nours  %q\npod %s\nnode %s\nothers %s", i, want, got, asJSON(c.pod), asJSON(c.node), asJSON(c.others))
		}
		differs[oddities[at].name]++
	}
	for _, o := range oddities {
		assert.Positive(t, differs[o.name], "%s: never differs, so it needs no excuse", o.name)
	}
	for _, what := range []string{"fits", "pods", "cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "example.com/gpu", "HostPort", "NodeAffinity", "Taint", "VolumeConflict", "VolumeZone"} {
		assert.Greater(t, came[what], pairs/200, "%q came up too rarely", what)
	}
	t.Logf("%d pairs; what stood in the way: %v; explained differences: %v", pairs, came, differs)
}

// ours brings findings into the form of the stock answer.
func ours(c *fitCase) []string {
	fitter := placement.NewFitter(&c.template, placement.FitOptions{Namespace: c.pod.Namespace, PersistentVolumes: c.volumes.Volumes})
	verdict := fitter.Fit(c.node, placement.NewOccupancy(c.others...))
	var lines []string
	for _, f := range verdict.Findings {
		line := upstream.FilterName(f)
		if line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	if (len(lines) == 0) != (verdict.Decision == placement.Run) {
		lines = append(lines, "decision "+verdict.Decision.String())
	}
	return lines
}
