package placement_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/placement"
)

// sample is one judgement and what it was made from.
type sample struct {
	spec    *corev1.PodSpec
	node    *corev1.Node
	opts    placement.Options
	matcher *placement.Matcher
	verdict placement.Verdict
}

// judge makes a spec and a node from data and holds the verdict on them to the twin's.
func judge(t *testing.T, data []byte) sample {
	t.Helper()
	d := &dice{data: data}
	s := sample{spec: d.spec(), node: d.node(), opts: d.options()}
	spec, n := s.spec.DeepCopy(), s.node.DeepCopy()

	s.matcher = placement.NewMatcher(s.spec, s.opts)
	s.verdict = s.matcher.Evaluate(s.node)
	require.Equal(t, s.verdict.Decision, s.matcher.Decide(s.node), "bytes %q", data)
	wantDecision, wantFound := twin(s.spec, s.opts, s.node)
	require.Equal(t, wantDecision, s.verdict.Decision, "bytes %q", data)
	require.Equal(t, wantFound, places(s.verdict.Findings), "bytes %q", data)
	for _, f := range s.verdict.Findings {
		require.NotEmpty(t, f.Detail, "every finding has its evidence")
	}

	require.Empty(t, cmp.Diff(spec, s.spec), "the spec is only read")
	require.Empty(t, cmp.Diff(n, s.node), "the node is only read")
	return s
}

// places says of findings what the twin says.
func places(findings []placement.Finding) []string {
	var out []string
	for _, f := range findings {
		place := string(f.Code) + " " + f.Field
		if f.Field == "spec.tolerations" {
			place += " " + f.Taint.ToString()
		}
		out = append(out, place)
	}
	return out
}

func FuzzEvaluate(f *testing.F) {
	f.Add([]byte{})
	random := rand.New(rand.NewPCG(2, 2))
	for range 20 {
		f.Add(randomBytes(random))
	}
	f.Fuzz(func(t *testing.T, data []byte) { judge(t, data) })
}

func randomBytes(random *rand.Rand) []byte {
	data := make([]byte, 250)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	return data
}

// TestEvaluateAgainstTwin does the same on random bytes, and counts the cases that make the
// comparison worth something.
func TestEvaluateAgainstTwin(t *testing.T) {
	runs := 5_000
	if testing.Short() {
		runs = 2_000
	}
	came := map[string]int{}
	count := func(what string, did bool) {
		if did {
			came[what]++
		} else if _, known := came[what]; !known {
			came[what] = 0
		}
	}
	random := rand.New(rand.NewPCG(1, 1))
	for range runs {
		s := judge(t, randomBytes(random))
		run := s.verdict.Decision == placement.Run
		required := s.spec.Affinity != nil && s.spec.Affinity.NodeAffinity != nil &&
			s.spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil
		codes := map[placement.Code]int{}
		for _, f := range s.verdict.Findings {
			codes[f.Code]++
		}

		count("run", run)
		count("keep", s.verdict.Decision == placement.Keep)
		count("evict", s.verdict.Decision == placement.Evict)
		count("run by required affinity", run && required)
		count("run by node selector", run && len(s.spec.NodeSelector) > 0)
		count("run by bound node name", run && s.spec.NodeName != "")
		count("run in spite of taints", run && len(s.node.Spec.Taints) > 1)
		count("run in spite of a term that does not parse", run && s.matcher.Err() != nil)
		count("required affinity on a node without a name", run && required && s.node.Name == "")
		count("findings of four codes", len(codes) >= 4)
		count("decided by a comparing toleration", s.opts.ComparisonTolerations &&
			placement.NewMatcher(s.spec, placement.Options{}).Evaluate(s.node).Decision != s.verdict.Decision)
		for _, code := range []placement.Code{
			placement.NodeNameMismatch, placement.NodeSelectorMismatch, placement.NodeAffinityMismatch,
			placement.InvalidNodeAffinity, placement.UntoleratedNoScheduleTaint, placement.UntoleratedNoExecuteTaint,
		} {
			count(string(code), codes[code] > 0)
		}
	}
	for what, times := range came {
		assert.Positive(t, times, "%s never came up in %d runs", what, runs)
	}
	t.Log(came)
}

// TestTolerationsProperties: what Tolerations returns tolerates what is carried, is found
// again unchanged by a second call, and has every default once it is asked for.
func TestTolerationsProperties(t *testing.T) {
	replaced, appended := 0, 0
	random := rand.New(rand.NewPCG(3, 3))
	for range 2_000 {
		d := &dice{data: randomBytes(random)}
		spec := d.spec()
		if d.roll(2) == 1 {
			spec.Tolerations = append(spec.Tolerations, pick(d, defaults()...))
			spec.Tolerations[len(spec.Tolerations)-1].TolerationSeconds = new(int64(1))
		}
		got := placement.Tolerations(spec)
		require.GreaterOrEqual(t, len(got), len(spec.Tolerations))
		for i, own := range spec.Tolerations {
			require.Empty(t, cmp.Diff(own, got[i], cmpopts.IgnoreFields(corev1.Toleration{}, "TolerationSeconds")))
		}
		for _, want := range defaults() {
			require.Contains(t, got, want)
		}
		again := spec.DeepCopy()
		again.Tolerations = got
		require.Empty(t, cmp.Diff(got, placement.Tolerations(again)), "a second call changes nothing")

		added := len(defaults())
		if spec.HostNetwork {
			added++
		}
		if len(got) < len(spec.Tolerations)+added {
			replaced++
		} else {
			appended++
		}
	}
	assert.Positive(t, replaced)
	assert.Positive(t, appended)
}
