package hygiene_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/internal/hygiene"
)

var (
	noIO = []hygiene.Ban{
		{Path: "context", Why: "planning does no I/O"},
		{Path: "os", Why: "planning does no I/O"},
		{Path: "net", Why: "planning does no I/O"},
		{Path: "log", Why: "planning returns reasons"},
		// The package rand of k8s.io/apimachinery is not meant: it holds the alphabet of
		// revision hashes, and the linter forbids the rest of it.
		{Path: "math/rand", Why: "plans are deterministic"},
		{Path: "crypto/rand", Why: "plans are deterministic"},
	}
	pure = append(slices.Clip(noIO), hygiene.Ban{Path: "sync", Why: "planning holds no shared state"})
)

// table says who may import whom. A new package of the library gets a row here.
var table = hygiene.Table{
	Module: module,
	Layers: []hygiene.Layer{
		{Package: "placement", Never: pure},
		{Package: "rollout", Never: pure},
		{Package: "backoff", Never: noIO},
		{Package: "expectations", Never: noIO},
		{Package: "daemonset/internal/plain", Never: pure},
		{Package: "daemonset/internal/roster", Never: pure},
		{Package: "daemonset", Own: []string{"daemonset/internal/plain", "daemonset/internal/roster", "placement", "rollout", "backoff", "expectations"}, Never: pure},
		{Package: "daemonset/explain", Own: []string{"daemonset", "daemonset/internal/plain", "placement", "rollout"}, Never: pure},
		{Package: "daemonset/diff", Own: []string{"daemonset", "daemonset/internal/plain", "daemonset/explain", "placement", "rollout"}, Never: pure},
		{Package: "daemonset/status", Own: []string{"daemonset", "daemonset/internal/plain", "rollout", "backoff"}, Never: pure},
		{
			Package: "daemonset/simulate",
			Own:     []string{"daemonset", "placement", "rollout", "backoff", "expectations"},
			Never:   pure,
		},
		{Package: "daemonset/plantest", Own: []string{"daemonset"}, Support: true},
		// Not placement and rollout: it applies plans, it does not judge.
		{Package: "clusterapi", Own: []string{"daemonset", "backoff", "expectations"}, Never: []hygiene.Ban{
			{Path: "k8s.io/client-go", Why: "adapters are in nested modules"},
			{Path: "math/rand", Why: "a pass can be repeated"},
		}},
		{
			Package: "clusterapi/fake",
			Own:     []string{"clusterapi", "daemonset", "placement", "rollout", "backoff", "expectations"},
			Support: true,
		},
	},
	Production: []hygiene.Ban{
		{Path: "testing", Why: "it is for tests only"},
		{Path: "github.com/google/go-cmp", Why: "it is for tests only"},
		{Path: "github.com/stretchr/testify", Why: "it is for tests only"},
		{Path: "k8s.io/klog", Why: "it would be a fifth direct dependency"},
		{Path: "k8s.io/utils", Why: "it would be a fifth direct dependency"},
		{Path: "sigs.k8s.io", Why: "it would be a fifth direct dependency"},
	},
	TestOnly: []string{"internal"},
	Free:     []string{"examples"},
}

func TestImportsOfThisModule(t *testing.T) {
	report(t, table.Check(packages(t)))
}

func TestTableCheck(t *testing.T) {
	layers := hygiene.Table{
		Module:     "example.com/m",
		Layers:     []hygiene.Layer{{Package: "low"}, {Package: "fake", Support: true}, {Package: "high", Own: []string{"low"}, Never: []hygiene.Ban{{Path: "os", Why: "no I/O"}, {Path: "str", Why: "not this one"}}}},
		Production: []hygiene.Ban{{Path: "testing", Why: "test only"}},
		TestOnly:   []string{"internal"},
		Free:       []string{"examples"},
	}
	tests := []struct {
		name, why string
		give      map[string]string
		want      []string
	}{
		{
			name: "allowed",
			why:  "a path that only starts alike is another package",
			give: map[string]string{"high/high.go": "package high\n\nimport (\n\t_ \"example.com/m/low\"\n\t_ \"strings\"\n)\n"},
		},
		{
			name: "upwards",
			why:  "a lower layer must not know a higher one",
			give: map[string]string{
				"low/low.go":   "package low\n\nimport _ \"example.com/m/high\"\n",
				"high/high.go": "package high\n",
			},
			want: []string{"low must not import high"},
		},
		{
			name: "banned for its layer",
			why:  "what is below a banned path is banned too, and the reason is given",
			give: map[string]string{"high/high.go": "package high\n\nimport _ \"os/exec\"\n"},
			want: []string{"high must not import os/exec: no I/O"},
		},
		{
			name: "banned itself",
			why:  "a ban is not only for what is below",
			give: map[string]string{"high/high.go": "package high\n\nimport _ \"os\"\n"},
			want: []string{"high must not import os: no I/O"},
		},
		{
			name: "not banned for another layer",
			why:  "each layer has its own list",
			give: map[string]string{"low/low.go": "package low\n\nimport _ \"os\"\n"},
		},
		{
			name: "banned in production",
			why:  "examples are built by users as well",
			give: map[string]string{
				"low/low.go":      "package low\n\nimport _ \"testing\"\n",
				"examples/e/e.go": "package e\n\nimport _ \"testing/fstest\"\n",
			},
			want: []string{"examples/e must not import testing/fstest: test only", "low must not import testing: test only"},
		},
		{
			name: "test support in production",
			why:  "what only tests need must not be built into users' programs",
			give: map[string]string{"examples/e/e.go": "package e\n\nimport _ \"example.com/m/internal/i\"\n"},
			want: []string{"examples/e must not import internal/i"},
		},
		{
			name: "test support",
			why:  "internal serves tests and may import what they do",
			give: map[string]string{"internal/i/i.go": "package i\n\nimport (\n\t_ \"testing\"\n\n\t_ \"example.com/m/high\"\n)\n"},
		},
		{
			name: "support",
			why:  "a fake for users' tests may know testing, and still has its place in the layers",
			give: map[string]string{"fake/fake.go": "package fake\n\nimport (\n\t_ \"testing\"\n\n\t_ \"example.com/m/low\"\n)\n"},
			want: []string{"fake must not import low"},
		},
		{
			name: "tests",
			why:  "test files are not production",
			give: map[string]string{"low/low_test.go": "package low\n\nimport (\n\t_ \"os\"\n\t_ \"testing\"\n)\n"},
		},
		{
			name: "no row",
			why:  "a new package must say where it belongs",
			give: map[string]string{"middle/middle.go": "package middle\n"},
			want: []string{"middle is not in the import table"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{
				"low/low.go":      "package low\n",
				"high/high.go":    "package high\n",
				"fake/fake.go":    "package fake\n",
				"internal/i/i.go": "package i\n",
				"examples/e/e.go": "package e\n",
			}
			maps.Copy(files, tt.give)
			list, err := hygiene.List(sample(t, files))
			require.NoError(t, err)
			requireProblems(t, layers.Check(list), tt.want)
		})
	}
}

func TestTableCheckMissingPackage(t *testing.T) {
	layers := hygiene.Table{Module: "example.com/m", Layers: []hygiene.Layer{{Package: "gone"}}}
	list, err := hygiene.List(sample(t, map[string]string{"examples/e/e.go": "package e\n"}))
	require.NoError(t, err)
	layers.Free = []string{"examples"}
	requireProblems(t, layers.Check(list), []string{"gone is in the import table and does not exist"})
}
