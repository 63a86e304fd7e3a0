package plantest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/plantest"
)

// recorder is a test that is told of failures and goes on.
type recorder struct{ errors, fatals []string }

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.fatals = append(r.fatals, fmt.Sprintf(format, args...))
}

func TestGoldenText(t *testing.T) {
	file := filepath.Join(t.TempDir(), "folder", "a.txt")
	t.Setenv("UPDATE_GOLDEN", "")
	r := &recorder{}
	plantest.GoldenText(r, file, "one\ntwo\n")
	require.Len(t, r.fatals, 1)
	assert.Contains(t, r.fatals[0], "UPDATE_GOLDEN=1 writes it")
	assert.NoFileExists(t, file)

	t.Setenv("UPDATE_GOLDEN", "1")
	r = &recorder{}
	plantest.GoldenText(r, file, "one\ntwo\n")
	assert.Equal(t, &recorder{}, r)
	assert.FileExists(t, file)

	t.Setenv("UPDATE_GOLDEN", "")
	plantest.GoldenText(r, file, "one\ntwo\n")
	assert.Equal(t, &recorder{}, r)
	plantest.GoldenText(r, file, "one\nzwei\n")
	require.Len(t, r.errors, 1)
	assert.Regexp(t, `-[\s\x{a0}]+"two"`, r.errors[0])
	assert.Regexp(t, `\+[\s\x{a0}]+"zwei"`, r.errors[0])
	assert.NotRegexp(t, `[-+][\s\x{a0}]+"one"`, r.errors[0], "what is the same is not marked")

	require.NoError(t, os.WriteFile(file, []byte("one\r\ntwo\r\n"), 0o600))
	r = &recorder{}
	plantest.GoldenText(r, file, "one\ntwo\n")
	assert.Equal(t, &recorder{}, r, "line ends of another system")
}

// TestBuilders plans what the builders make: everything fits together.
func TestBuilders(t *testing.T) {
	v1 := plantest.Set("demo/agent", plantest.MaxUnavailable("1"))
	v2 := plantest.Set("demo/agent", plantest.MaxUnavailable("1"), plantest.Image("registry.example/agent:v2"), plantest.Generation(2))
	tests := []struct {
		name string
		give daemonset.Snapshot
		want string
	}{
		{"at rest", plantest.Snapshot(v1, v1, plantest.Node("a"), plantest.Pod(v1, "a")), "rest"},
		{"a set that is new", plantest.Snapshot(v1, plantest.Node("a"), plantest.Node("b", plantest.Taint("x=y:NoSchedule"))), "new"},
		{"an update", plantest.Snapshot(v2, v1, v2, plantest.Node("a"), plantest.Node("b"), plantest.Pod(v1, "a"), plantest.Pod(v1, "b")), "update"},
		{"pods of all kinds", plantest.Snapshot(
			plantest.Set("demo/agent", plantest.MinReady(time.Minute), plantest.Tolerate("dedicated=gpu:NoSchedule")),
			plantest.Node("a"), plantest.Node("b"), plantest.Node("c"), plantest.Node("d", plantest.Unreachable()),
			plantest.Node("e", plantest.Taint("dedicated=gpu:NoSchedule"), plantest.Zone("z"), plantest.Label("k", "v")),
			plantest.Pod(v1, "a", plantest.Starting()), plantest.Pod(v1, "a", plantest.Named("second"), plantest.Terminating()),
			plantest.Pod(v1, "b", plantest.Failed()), plantest.Pod(v1, "c", plantest.NotReady()),
			plantest.Pod(v1, "d", plantest.ReadyFor(10*time.Second)), plantest.Pod(v1, "gone"),
		), "kinds"},
		{"surge", plantest.Snapshot(plantest.Set("demo/agent", plantest.MaxSurge("50%"), plantest.Image("i:v2")),
			plantest.Node("a"), plantest.Node("b"), plantest.Pod(v1, "a"), plantest.Pod(v1, "b")), "surge"},
		{"OnDelete and a selector", plantest.Snapshot(plantest.Set("demo/agent", plantest.OnDelete(), plantest.Select("disk", "ssd")),
			v1, plantest.Node("a"), plantest.Node("b", plantest.Label("disk", "ssd")), plantest.Pod(v1, "b")), "ondelete"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plantest.Golden(t, "testdata/"+tt.want+".txt", plantest.Compute(t, tt.give))
		})
	}
	rest := plantest.Compute(t, tests[0].give)
	assert.True(t, rest.Empty(), "nothing is to be done at rest")
}

func TestMistakesPanic(t *testing.T) {
	assert.PanicsWithValue(t, `plantest: "agent" is not namespace/name`, func() { plantest.Set("agent") })
	assert.PanicsWithValue(t, `plantest: "x" is no taint; want key=value:Effect or key:Effect`, func() { plantest.Node("a", plantest.Taint("x")) })
	assert.Panics(t, func() { plantest.Node("a", plantest.Taint("x:Never")) })
	assert.Panics(t, func() { plantest.Snapshot(plantest.Set("a/b", plantest.MaxUnavailable("many"))) })
}

// TestCompute: an error ends the test.
func TestCompute(t *testing.T) {
	s := plantest.Snapshot(plantest.Set("a/b"))
	s.Objects.DaemonSet.Spec.Selector = nil
	r := &recorder{}
	plantest.Compute(r, s)
	require.Len(t, r.fatals, 1)
	assert.Contains(t, r.fatals[0], "selector")
}
