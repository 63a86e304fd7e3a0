package main_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGolden compares what is printed for the sample with what was. UPDATE_GOLDEN=1 writes
// it anew; read the difference before it is committed.
func TestGolden(t *testing.T) {
	tests := []struct {
		name   string
		golden string
		args   []string
	}{
		{"text", "testdata/fleet.golden.txt", nil},
		{"JSON", "testdata/fleet.golden.jsonl", []string{"-o", "json"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args := append([]string{"plan", "-f", fleet, "-now", "2026-03-10T12:00:00Z"}, tt.args...)
			got := dsplan("", args...)
			require.Equal(t, 0, got.status)
			require.Empty(t, got.err)
			if os.Getenv("UPDATE_GOLDEN") != "" {
				require.NoError(t, os.WriteFile(tt.golden, []byte(got.out), 0o600))
			}
			want, err := os.ReadFile(tt.golden)
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(string(want), got.out))
		})
	}
}

// TestTheSampleIsTrue holds the sample to what a cluster would hold: its revisions are the
// ones that Kubernetes would have written, and the updates are under way.
func TestTheSampleIsTrue(t *testing.T) {
	got := plans(t, dsplan("", "plan", "-f", fleet, "-o", "json").out)
	require.Len(t, got, 3)
	for _, p := range got {
		assert.Equal(t, "none", p.Revision.Action, p.DaemonSet)
		assert.Empty(t, p.Error, p.DaemonSet)
		assert.Len(t, p.Nodes, 20, p.DaemonSet)
	}
	plugin, agent, shipper := got[0], got[1], got[2]
	assert.Len(t, plugin.Creates, 1)
	assert.NotEmpty(t, agent.Creates)
	assert.Empty(t, agent.Deletes)
	assert.NotEmpty(t, shipper.Deletes)
	assert.Empty(t, shipper.Creates)
}

// TestTheSamplesHashesAreTrue plans each set anew, without history: the revision that is
// then created must be the one in the sample.
func TestTheSamplesHashesAreTrue(t *testing.T) {
	text, err := os.ReadFile(fleet)
	require.NoError(t, err)
	withoutHistory := strings.ReplaceAll(string(text), "kind: ControllerRevision", "kind: Nothing")
	first := plans(t, dsplan("", "plan", "-f", fleet, "-o", "json").out)
	anew := plans(t, dsplan(withoutHistory, "plan", "-f", "-", "-o", "json").out)
	require.Len(t, anew, len(first))
	for i := range anew {
		assert.Equal(t, "create", anew[i].Revision.Action)
		assert.Equal(t, first[i].Revision.Hash, anew[i].Revision.Hash)
		assert.Equal(t, first[i].Revision.Name, anew[i].Revision.Name)
	}
}

// TestJSONHasItsFieldsInOrder spells out the fields, because scripts lean on them.
func TestJSONHasItsFieldsInOrder(t *testing.T) {
	planned := `{"daemonSet":"","revision":{"name":"","hash":"","number":0,"action":"","deletes":[]},"creates":[],"deletes":[],"adopts":[],` +
		`"releases":[],"relabels":[],"status":{},"statusChanged":false,"events":[],"deferred":{"creates":0,"deletes":0},"requeueAfter":"","nodes":[]`
	broken := `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"a","namespace":"b"},"spec":{"selector":7}}`
	got := dsplan(broken, "plan", "-f", "-", "-f", fleet, "-o", "json")
	assert.Equal(t, 1, got.status)
	lines := strings.Split(strings.TrimSuffix(got.out, "\n"), "\n")
	require.Len(t, lines, 4)
	assert.Equal(t, keys(t, planned+`,"error":""}`), keys(t, lines[0]))
	for _, line := range lines[1:] {
		assert.Equal(t, keys(t, planned+"}"), keys(t, line))
		assert.NotContains(t, line, ":null")
	}
	assert.Equal(t, `{"daemonSet":"b/a","revision":{"name":"","hash":"","number":0,"action":"none","deletes":[]},"creates":[],"deletes":[],"adopts":[],`+
		`"releases":[],"relabels":[],"status":{"currentNumberScheduled":0,"numberMisscheduled":0,"desiredNumberScheduled":0,"numberReady":0},"statusChanged":false,`+
		`"events":[],"deferred":{"creates":0,"deletes":0},"requeueAfter":"","nodes":[],"error":"standard input: document 1: DaemonSet b/a: `+
		`spec.selector: number where v1.LabelSelector belongs"}`, lines[0])
}

// keys are the names in an object, in order.
func keys(t *testing.T, object string) []string {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(object))
	_, err := decoder.Token()
	require.NoError(t, err)
	var names []string
	for decoder.More() {
		name, err := decoder.Token()
		require.NoError(t, err)
		var value json.RawMessage
		require.NoError(t, decoder.Decode(&value))
		names = append(names, name.(string))
		if name == "revision" || name == "deferred" {
			names = append(names, keys(t, string(value))...)
		}
	}
	return names
}
