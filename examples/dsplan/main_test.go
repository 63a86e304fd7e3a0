package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/examples/dsplan/internal/command"
)

const fleet = "testdata/fleet.yaml"

// outcome is what a command line left behind.
type outcome struct {
	status   int
	out, err string
}

// dsplan runs a command line at noon.
func dsplan(stdin string, args ...string) outcome {
	var out, err bytes.Buffer
	streams := command.Streams{In: strings.NewReader(stdin), Out: &out, Err: &err}
	noon := func() time.Time { return time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC) }
	status := command.Run(args, streams, noon)
	return outcome{status: status, out: out.String(), err: err.String()}
}

// write puts files into a folder of their own and returns their paths.
func write(t *testing.T, files ...string) []string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		require.NoError(t, os.WriteFile(path, []byte(files[i+1]), 0o600))
		paths = append(paths, path)
	}
	return paths
}

// plan is the JSON output for one set, decoded without the command's own types.
type plan struct {
	DaemonSet string
	Revision  struct {
		Name, Hash, Action string
		Number             int64
		Deletes            []string
	}
	Creates                    []struct{ Node, Reason string }
	Deletes                    []struct{ Pod, Node, Reason string }
	Adopts, Releases, Relabels []string
	Status                     map[string]int64
	StatusChanged              bool
	Events                     []struct{ Type, Reason, Message string }
	Deferred                   struct{ Creates, Deletes int }
	RequeueAfter               string
	Nodes                      []struct {
		Name, Decision, Reason string
		Findings               []map[string]any
	}
	Error string
}

// plans decodes JSON output, one object a line.
func plans(t *testing.T, out string) []plan {
	t.Helper()
	var decoded []plan
	for line := range strings.Lines(out) {
		var p plan
		require.NoError(t, json.Unmarshal([]byte(line), &p))
		decoded = append(decoded, p)
	}
	return decoded
}

func TestUsage(t *testing.T) {
	tests := []struct {
		name    string
		args    []string
		status  int
		out     string // contained in standard output; empty means that there is none
		err     string // contained in standard error; empty means that there is none
		because string
	}{
		{"nothing", nil, 2, "", "Usage:", "there is nothing to do"},
		{"-h", []string{"-h"}, 0, "Usage:", "", "help that is asked for is output"},
		{"--help", []string{"--help"}, 0, "Usage:", "", "help that is asked for is output"},
		{"help", []string{"help"}, 0, "Usage:", "", "help that is asked for is output"},
		{"plan -h", []string{"plan", "-h"}, 0, "-burst N", "", "help that is asked for is output"},
		{"unknown command", []string{"apply"}, 2, "", `dsplan: unknown command "apply"`, ""},
		{"no file", []string{"plan"}, 2, "", "dsplan: -f is missing", ""},
		{"empty file name", []string{"plan", "-f", ""}, 2, "", "dsplan: -f is empty", ""},
		{"unknown flag", []string{"plan", "-f", fleet, "-x"}, 2, "", "dsplan: flag provided but not defined: -x", ""},
		{"argument", []string{"plan", "-f", fleet, "more"}, 2, "", `dsplan: unexpected argument "more"`, "a file without -f would be ignored silently"},
		{"burst 0", []string{"plan", "-f", fleet, "-burst", "0"}, 2, "", "dsplan: -burst is 0; want at least 1", "the library takes 0 for its default"},
		{"burst x", []string{"plan", "-f", fleet, "-burst", "x"}, 2, "", `invalid value "x" for flag -burst`, ""},
		{"now", []string{"plan", "-f", fleet, "-now", "noon"}, 2, "", `dsplan: invalid value "noon" for flag -now: want a time`, ""},
		{"output", []string{"plan", "-f", fleet, "-o", "yaml"}, 2, "", `dsplan: -o is "yaml"; want text or json`, ""},
		{"ds without namespace", []string{"plan", "-f", fleet, "-ds", "node-agent"}, 0, "# kube-system/node-agent\n", "", "people have the name at hand, not the namespace"},
		{"ds without namespace that is not there", []string{"plan", "-f", fleet, "-ds", "agent"}, 1, "", "dsplan: testdata/fleet.yaml: has no DaemonSet agent\n", "the end of a name is not the name"},
		{"file without -f", []string{"plan", fleet}, 2, "", "dsplan: -f is missing; files are given as -f testdata/fleet.yaml", ""},
		{"help for a command", []string{"help", "status"}, 0, "-deadline DURATION", "", ""},
		{"help for a reason", []string{"help", "NodeStepFirst"}, 0, "NodeStepFirst: The pod is outdated, and updates wait", "", ""},
		{"help for a finding", []string{"help", "NodeAffinityMismatch"}, 0, "NodeAffinityMismatch: The template's required node affinity", "", ""},
		{"help for nothing", []string{"help", "nonsense"}, 2, "", `dsplan: "nonsense" is no command, reason or finding; see "dsplan help"`, ""},
		{"another day", []string{"plan", "-f", fleet, "-now", "2026-03-20T12:00:00Z"}, 0, "# kube-system", "last heard of at 2026-03-10T11:57:12Z, 10 days from", "a dump does not tell its time, and waits depend on it"},
		{"an earlier hour", []string{"plan", "-f", fleet, "-now", "2026-03-10T09:00:00Z"}, 0, "# kube-system", "2h57m0s from", ""},
		{"empty ds", []string{"plan", "-f", fleet, "-ds", ""}, 2, "", `dsplan: invalid value "" for flag -ds: want namespace/name, or a name`, "as from a variable that is not set"},
		{"two sets", []string{"plan", "-f", fleet, "-ds", "a/b", "-ds", "c/d"}, 2, "", `dsplan: invalid value "c/d" for flag -ds: it is given twice`, ""},
		{"empty now", []string{"plan", "-f", fleet, "-now", ""}, 2, "", `dsplan: invalid value "" for flag -now: want a time`, ""},
		{"ds with too much", []string{"plan", "-f", fleet, "-ds", "a/b/c"}, 2, "", `dsplan: invalid value "a/b/c" for flag -ds: want namespace/name`, ""},
		{"standard input twice", []string{"plan", "-f", "-", "-f", "-"}, 2, "", "dsplan: -f - is given twice", "the second would be empty"},
		{"missing file", []string{"plan", "-f", "testdata/none.yaml"}, 1, "", "dsplan: open testdata/none.yaml: ", ""},
		{"folder", []string{"plan", "-f", "testdata"}, 1, "", "dsplan: testdata: read testdata: ", ""},
		{"set that is not there", []string{"plan", "-f", fleet, "-ds", "demo/agent"}, 1, "", "dsplan: testdata/fleet.yaml: has no DaemonSet demo/agent\n", ""},
		{"no sets", []string{"plan", "-f", "-"}, 1, "", "dsplan: standard input: has no DaemonSets\n", "what was asked for has no answer; a kubectl that failed leaves the same"},
		{"no sets, one asked for", []string{"plan", "-f", "-", "-ds", "demo/agent"}, 1, "", "dsplan: standard input: has no DaemonSet demo/agent\n", ""},
		{"set", []string{"plan", "-f", fleet, "-ds", "device-plugins/gpu-device-plugin"}, 0, "# device-plugins/gpu-device-plugin\ndaemonset ", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := dsplan("", tt.args...)
			assert.Equal(t, tt.status, got.status, tt.because)
			assert.Contains(t, got.out, tt.out, tt.because)
			assert.Contains(t, got.err, tt.err, tt.because)
			assert.Equal(t, tt.out == "", got.out == "", "%q", got.out)
			assert.Equal(t, tt.err == "", got.err == "", "%q", got.err)
		})
	}
}

func TestOnlyTheSetThatIsAskedForIsPlanned(t *testing.T) {
	got := dsplan("", "plan", "-f", fleet, "-ds", "kube-system/node-agent", "-o", "json")
	require.Equal(t, 0, got.status, got.err)
	require.Len(t, plans(t, got.out), 1)
	assert.Equal(t, "kube-system/node-agent", plans(t, got.out)[0].DaemonSet)
}

func TestStandardInputIsOneOfTheFiles(t *testing.T) {
	text, err := os.ReadFile(fleet)
	require.NoError(t, err)
	want := dsplan("", "plan", "-f", fleet)
	assert.Equal(t, want, dsplan(string(text), "plan", "-f", "-"))
	assert.Equal(t, want, dsplan(string(text), "plan", "-f", fleet, "-f", "-"), "files may overlap")
}

func TestTimeIsAskedForOnlyIfNotTold(t *testing.T) {
	// The agent's new pod on worker-2 becomes available ten seconds after 11:59:56.
	args := []string{"plan", "-f", fleet, "-ds", "kube-system/node-agent", "-o", "json", "-now"}
	surging := func(got outcome) bool { return strings.Contains(got.out, `"SurgeWaiting"`) }
	assert.True(t, surging(dsplan("", args[:len(args)-1]...)))
	assert.True(t, surging(dsplan("", append(args, "2026-03-10T12:00:05Z")...)))
	assert.False(t, surging(dsplan("", append(args, "2026-03-10T12:00:06Z")...)))
	assert.False(t, surging(dsplan("", append(args, "2026-03-10T13:00:06+01:00")...)))
}

func TestBurstCutsAndTells(t *testing.T) {
	got := plans(t, dsplan("", "plan", "-f", fleet, "-ds", "kube-system/node-agent", "-burst", "2", "-o", "json").out)
	require.Len(t, got, 1)
	assert.Len(t, got[0].Creates, 2)
	assert.Equal(t, 3, got[0].Deferred.Creates)
}

func TestBrokenFilesSpoilTheirSnapshotOnly(t *testing.T) {
	text, err := os.ReadFile("testdata/cases/I01-noschedule-taint-keeps-running.yaml")
	require.NoError(t, err)
	set := `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"lines","namespace":"demo"},` +
		`"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}}}}}`
	paths := write(t, "whole.yaml", string(text), "cut.yaml", string(text[:bytes.LastIndex(text, []byte("kind: List"))]), "b.jsonl", set+"\n{\n\n"+set+"\n", "a.jsonl", set)
	whole, cut, many, more := paths[0], paths[1], paths[2], paths[3]

	got := dsplan("", "plan", "-f", many, "-f", whole, "-f", cut, "-f", more)
	assert.Equal(t, 1, got.status)
	assert.Equal(t, "dsplan: "+cut+": document 1: has no kind; it may be cut off\n"+
		"dsplan: "+many+": document 2: line 2, column 1: unexpected end of JSON input\n", got.err)
	assert.NotContains(t, got.out, "demo/agent", "a plan from half of the pods would create them again")
	assert.Equal(t, []string{
		"# demo/lines in " + many + ": document 1", "# demo/lines in " + many + ": document 3", "# demo/lines in " + more + ": document 1",
	}, titles(got.out), "the files of many come in the order in which they are given")

	got = dsplan("", "plan", "-f", many, "-f", whole)
	assert.Equal(t, 1, got.status)
	assert.Equal(t, []string{"# demo/agent", "# demo/lines in " + many + ": document 1", "# demo/lines in " + many + ": document 3"}, titles(got.out))

	got = dsplan("", "plan", "-f", more, "-ds", "demo/agent")
	assert.Equal(t, outcome{status: 1, err: "dsplan: " + more + ": document 1: has no DaemonSet demo/agent\n"}, got)
}

// titles are the lines that begin a plan.
func titles(out string) []string {
	var found []string
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "# ") {
			found = append(found, strings.TrimSuffix(line, "\n"))
		}
	}
	return found
}

// full is a disk without space.
type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestOutputThatCannotBeWrittenIsAnError(t *testing.T) {
	for _, args := range [][]string{{"plan", "-f", fleet}, {"plan", "-f", fleet, "-o", "json"}, {"help"}, {"plan", "-h"}} {
		var err bytes.Buffer
		noon := func() time.Time { return time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC) }
		status := command.Run(args, command.Streams{In: strings.NewReader(""), Out: full{}, Err: &err}, noon)
		assert.Equal(t, 1, status, args)
		assert.Equal(t, "dsplan: no space left\n", err.String(), args)
	}
	assert.Equal(t, 2, command.Run(nil, command.Streams{Out: full{}, Err: full{}}, time.Now), "nor does it panic")
}
