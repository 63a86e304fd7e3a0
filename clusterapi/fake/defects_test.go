package fake_test

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
)

// defectVariable names the defect that TestContractOnADefect is to run with.
const defectVariable = "DAEMONPLAN_FAKE_DEFECT"

// TestContractOnADefect runs the contract with one defect, in a process of its own that
// TestContractFindsDefects starts.
func TestContractOnADefect(t *testing.T) {
	name := os.Getenv(defectVariable)
	if name == "" {
		t.Skip("started by TestContractFindsDefects")
	}
	defect, ok := defects()[name]
	require.True(t, ok, "no such defect")
	server := func(t *testing.T) fake.Harness {
		t.Helper()
		h := newHarness(t, inhabited(t), "contract")
		d := &defective{Client: h.adapter}
		defect.bend(h.server, d)
		if defect.plain {
			return plainHarness{Harness: h, api: d}
		}
		return &defectiveHarness{harness: h, api: d}
	}
	if defect.hangs {
		fake.CheckClusterAPIWithin(t, 2*time.Second, server)
		return
	}
	fake.TestClusterAPI(t, server)
}

type defectiveHarness struct {
	*harness

	api clusterapi.ClusterAPI
}

func (h *defectiveHarness) API() clusterapi.ClusterAPI { return h.api }

// plainHarness has only what every harness has.
type plainHarness struct {
	fake.Harness

	api clusterapi.ClusterAPI
}

func (h plainHarness) API() clusterapi.ClusterAPI { return h.api }

func TestContractFindsDefects(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process for each defect")
	}
	for name, defect := range defects() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			part := "^TestContractOnADefect$"
			if defect.found != "" {
				part += "/" + defect.found // others may find it too, or wait
			}
			command := exec.CommandContext(t.Context(), os.Args[0], "-test.run="+part, "-test.count=1", "-test.v")
			command.Env = append(os.Environ(), defectVariable+"="+name)
			output, err := command.CombinedOutput()
			for _, text := range defect.says {
				assert.Contains(t, string(output), text)
			}
			if defect.harmless {
				require.NoError(t, err, "%s", output)
				return
			}
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit, "the contract is met: %s", output)
			assert.Contains(t, string(output), "--- FAIL: TestContractOnADefect/"+defect.found, "another part found it")
			assert.NotContains(t, string(output), "panic:")
		})
	}
}
