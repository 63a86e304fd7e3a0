package script_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/internal/script"
)

// inOrder creates on nodes in the order in which they come.
func inOrder(s daemonset.Snapshot, o daemonset.Options) (daemonset.Plan, error) {
	plan, err := daemonset.Compute(s, o)
	for i := range plan.Creates {
		plan.Creates[i].Node = s.Objects.Nodes[i].Name
	}
	return plan, err
}

// hidden differs with the order in what only the JSON form shows.
func hidden(s daemonset.Snapshot, o daemonset.Options) (daemonset.Plan, error) {
	plan, err := daemonset.Compute(s, o)
	plan.For.UID += s.Objects.Pods[0].UID
	return plan, err
}

// sorter sorts the caller's nodes.
func sorter(s daemonset.Snapshot, o daemonset.Options) (daemonset.Plan, error) {
	slices.Reverse(s.Objects.Nodes)
	return daemonset.Compute(s, o)
}

// marker writes to an object.
func marker(s daemonset.Snapshot, o daemonset.Options) (daemonset.Plan, error) {
	s.Objects.Pods[0].Labels["seen"] = "yes"
	return daemonset.Compute(s, o)
}

// picky fails with a text that depends on the order.
func picky(s daemonset.Snapshot, _ daemonset.Options) (daemonset.Plan, error) {
	return daemonset.Plan{}, errors.New(s.Objects.Nodes[0].Name)
}

func TestPlanChecksThePlanner(t *testing.T) {
	t.Parallel()
	const (
		reordered = "disagreement: another order of the input gives another plan\n"
		changed   = "disagreement: the input was changed\n"
	)
	tests := []struct {
		name, why string
		give      script.Planner
		want      string
	}{
		{
			name: "sound", why: "a planner without fault adds nothing",
			give: daemonset.Compute, want: "create  c  MissingPod\n",
		},
		{
			name: "follows the order of nodes", why: "equal snapshots must give equal plans",
			give: inOrder, want: "create  a  MissingPod\n" + reordered,
		},
		{
			name: "follows the order in JSON only", why: "the text does not show everything",
			give: hidden, want: "create  c  MissingPod\n" + reordered,
		},
		{
			name: "sorts the input", why: "the slice belongs to the caller",
			give: sorter, want: "create  c  MissingPod\n" + changed,
		},
		{
			name: "writes to an object", why: "the objects may come from a shared cache",
			give: marker, want: "create  c  MissingPod\n" + changed,
		},
		{
			name: "fails differently", why: "an error is an answer as well",
			give: picky, want: "error: a\n" + reordered,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			planner := daemonset.Compute
			world := script.NewWorld(func(s daemonset.Snapshot, o daemonset.Options) (daemonset.Plan, error) {
				return planner(s, o)
			})
			for _, command := range []string{
				"nodes a b c", "revision v1", "pod p1 node=a rev=v1 available", "pod p2 node=b rev=v1 available",
			} {
				_, err := world.Run(command)
				require.NoError(t, err)
			}
			planner = tt.give
			got, err := world.Run("plan only=create")
			require.NoError(t, err)
			assert.Equal(t, tt.want, got, tt.why)
		})
	}
}

func TestWorldRefusesMistakes(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, why, give, want string }{
		{"unknown command", "a misspelt command would leave a rule untested", "nodez a", `unknown command`},
		{"unknown option", "so would a misspelt option", "pod p1 nod=a", `unknown option "nod"`},
		{"no such node", "a taint on no node shows nothing", "taint a x:NoSchedule", `no node "a"`},
		{"taint without effect", "it would be no taint of any kind", "taint n x", `taint "x" has no effect`},
		{"number", "a typing mistake must not become 0", "daemonset min-ready=1m", `option "min-ready": strconv.ParseInt: parsing "1m": invalid syntax`},
		{"unknown owner", "it would be this set's pod", "pod p1 owner=nobody", `unknown owner "nobody"`},
		{"unknown data", "it would be an ordinary revision", "revision v1 data=odd", `unknown data "odd"`},
		{"status never written", "there is nothing to take over", "status written", `option "written": the last plan writes no status`},
		{"nothing to remove", "the script means something else", "remove pad p1", `cannot remove "pad"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			world := script.NewWorld(daemonset.Compute)
			_, err := world.Run("nodes n")
			require.NoError(t, err)
			_, err = world.Run(tt.give)
			require.EqualError(t, err, tt.want, tt.why)
		})
	}
}

func TestPlanOnly(t *testing.T) {
	t.Parallel()
	world := script.NewWorld(daemonset.Compute)
	got, err := world.Run("plan only=create")
	require.NoError(t, err)
	assert.Equal(t, "nothing\n", got, "what selects no line says so")
	_, err = world.Run("selector none")
	require.NoError(t, err)
	got, err = world.Run("plan only=create")
	require.NoError(t, err)
	assert.Equal(t, "error: daemonset: invalid daemonSet.spec.selector: is missing\n", got, "an error is never left out")
}
