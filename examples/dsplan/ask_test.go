package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// question is one command line whose output is kept.
type question struct {
	golden string
	args   []string
}

// questions asks about the sample fleet and about every case.
func questions(t *testing.T) []question {
	t.Helper()
	noon := []string{"-now", "2026-03-10T12:00:00Z"}
	about := func(golden, command string, args ...string) question {
		return question{"testdata/golden/" + golden, append(append([]string{command}, noon...), args...)}
	}
	list := []question{
		about("explain-fleet.txt", "explain", "-f", fleet),
		about("explain-fleet.jsonl", "explain", "-f", fleet, "-o", "json"),
		about("explain-nodes.txt", "explain", "-f", fleet, "worker-6", "cp-2", "arm-1", "virtual-1"),
		about("explain-new-node.txt", "explain", "-f", fleet, "-node", "testdata/new-node.yaml"),
		about("status-fleet.txt", "status", "-f", fleet),
		about("status-troubles.txt", "status", "-f", "testdata/troubles.yaml"),
		about("explain-troubles.txt", "explain", "-f", "testdata/troubles.yaml", "edge-1", "edge-2", "edge-3"),
		about("status-fleet.jsonl", "status", "-f", fleet, "-o", "json"),
	}
	for _, name := range []string{"same", "tolerations", "image", "rollback", "ondelete", "new"} {
		list = append(list, about("diff-"+name+".txt", "diff", "-f", fleet, "-with", "testdata/changes/"+name+".yaml"))
	}
	list = append(list,
		about("diff-image.jsonl", "diff", "-f", fleet, "-with", "testdata/changes/image.yaml", "-o", "json"),
		about("diff-dumps.txt", "diff", "-f", fleet, "-with", "testdata/cases/I01-noschedule-taint-keeps-running.yaml"),
	)
	files, err := filepath.Glob("testdata/cases/*.yaml")
	require.NoError(t, err)
	require.Len(t, files, 14)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		w, err := readWishes(string(text))
		require.NoError(t, err)
		require.Equal(t, noon[1], w.now, "the questions are asked at the time of the case")
		name := strings.TrimSuffix(filepath.Base(file), ".yaml") + ".txt"
		list = append(list,
			about("explain-"+name, "explain", "-f", file), about("status-"+name, "status", "-f", file),
			about("diff-"+name, "diff", "-f", file, "-with", "testdata/changes/demo-agent.yaml"),
		)
	}
	return list
}

// TestQuestions compares the answers with those that were looked at. UPDATE_GOLDEN=1 writes
// them anew.
func TestQuestions(t *testing.T) {
	statuses := map[int]int{}
	for _, q := range questions(t) {
		t.Run(filepath.Base(q.golden), func(t *testing.T) {
			got := dsplan("", q.args...)
			require.Empty(t, got.err)
			statuses[got.status]++
			if os.Getenv("UPDATE_GOLDEN") != "" {
				require.NoError(t, os.MkdirAll(filepath.Dir(q.golden), 0o750))
				require.NoError(t, os.WriteFile(q.golden, []byte(got.out), 0o600))
			}
			want, err := os.ReadFile(q.golden)
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(string(want), got.out))
		})
	}
	assert.NotZero(t, statuses[0])
	assert.NotZero(t, statuses[3], "something is under way")
	assert.NotZero(t, statuses[4], "something is stuck")
	assert.Zero(t, statuses[1]+statuses[2])
}

// TestExplainAgreesWithPlan: each create and delete that plan prints for the fleet is told of
// its node, and nothing else is.
func TestExplainAgreesWithPlan(t *testing.T) {
	planned := plans(t, dsplan("", "plan", "-f", fleet, "-o", "json").out)
	i := 0
	for line := range strings.Lines(dsplan("", "explain", "-f", fleet, "-o", "json").out) {
		var told struct {
			DaemonSet string
			Nodes     []struct {
				Node, Reason string
				Actions      []struct{ Verb, Pod, Reason string }
			}
			Groups []struct {
				Count int
				Nodes []string
			}
		}
		require.NoError(t, json.Unmarshal([]byte(line), &told))
		p := planned[i]
		i++
		require.Equal(t, p.DaemonSet, told.DaemonSet)
		creates, deletes, grouped := 0, 0, 0
		for j, node := range told.Nodes {
			assert.Equal(t, p.Nodes[j].Name, node.Node)
			assert.Equal(t, p.Nodes[j].Reason, node.Reason)
			for _, a := range node.Actions {
				if a.Verb == "create" {
					creates++
					assert.Contains(t, p.Creates, struct{ Node, Reason string }{node.Node, a.Reason})
					continue
				}
				deletes++
				assert.Contains(t, p.Deletes, struct{ Pod, Node, Reason string }{a.Pod, node.Node, a.Reason})
			}
		}
		for _, g := range told.Groups {
			assert.Len(t, g.Nodes, g.Count)
			grouped += g.Count
		}
		assert.Len(t, p.Creates, creates)
		assert.Len(t, p.Deletes, deletes)
		assert.Len(t, p.Nodes, grouped)
	}
	assert.Len(t, planned, i)
}

// TestREADME keeps what the README says that a question is answered with.
func TestREADME(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	asked := 0
	for _, command := range []string{"explain", "status", "diff"} {
		for _, rest := range strings.Split(string(readme), "\n    go run ./examples/dsplan "+command+" ")[1:] {
			line, rest, _ := strings.Cut(rest, "\n")
			_, rest, _ = strings.Cut(rest, "```\n")
			want, _, closed := strings.Cut(rest, "```\n")
			require.True(t, closed, line)
			args := strings.Fields(strings.ReplaceAll(line, "examples/dsplan/testdata/", "testdata/"))
			assert.Equal(t, want, dsplan("", append([]string{command}, args...)...).out, line)
			asked++
		}
	}
	assert.GreaterOrEqual(t, asked, 3)
}

func TestQuestionUsage(t *testing.T) {
	done := `{"apiVersion":"v1","kind":"List","items":[` + strings.Join([]string{setWith(`"updateStrategy":{"type":"OnDelete"}`)}, ",") + "]}"
	tests := []struct {
		name     string
		stdin    string
		args     []string
		status   int
		out, err string // contained; empty means that there is none
	}{
		{"explain -h", "", []string{"explain", "-h"}, 0, "-node FILE", ""},
		{"status -h", "", []string{"status", "-h"}, 0, "4 if one is stuck", ""},
		{"diff -h", "", []string{"diff", "-h"}, 0, "Restarts", ""},
		{"diff, no manifest", "", []string{"diff", "-f", fleet}, 2, "", "dsplan: -with is missing"},
		{"diff, no file", "", []string{"diff", "-with", fleet}, 2, "", "dsplan: -f is missing"},
		{"diff, argument", "", []string{"diff", "-f", fleet, "-with", fleet, "x"}, 2, "", `dsplan: unexpected argument "x"`},
		{"diff, many snapshots", "", []string{"diff", "-f", "a.jsonl", "-with", fleet}, 2, "", "holds many snapshots"},
		{"diff, standard input", "", []string{"diff", "-f", fleet, "-with", "-"}, 2, "", "only -f reads standard input"},
		{"diff, missing file", "", []string{"diff", "-f", fleet, "-with", "testdata/none.yaml"}, 1, "", "dsplan: open testdata/none.yaml: "},
		{"diff, nothing in it", "", []string{"diff", "-f", fleet, "-with", "testdata/new-node.yaml", "-ds", "a/b"}, 1, "", "anything to compare of a/b"},
		{"diff, another selector", strings.ReplaceAll(done, `"agent"`, `"node-agent"`), []string{"diff", "-f", "-", "-with", "testdata/changes/demo-agent.yaml"}, 0, "the DaemonSet is new", "has no Nodes"},
		{"diff, the same dump", "", []string{"diff", "-f", fleet, "-with", fleet, "-ds", "logging/log-shipper"}, 0, "unchanged: 20 nodes", ""},
		{"explain, no file", "", []string{"explain"}, 2, "", `dsplan: -f is missing; want a file, or - for standard input; see "dsplan explain -h"`},
		{"status, argument", "", []string{"status", "-f", fleet, "node"}, 2, "", `dsplan: unexpected argument "node"`},
		{"status, deadline", "", []string{"status", "-f", fleet, "-deadline", "0s"}, 2, "", "dsplan: -deadline is 0s; want more than 0"},
		{"explain, missing node", "", []string{"explain", "-f", fleet, "-ds", "logging/log-shipper", "nowhere"}, 1, "", "dsplan: there is no node nowhere in the dump; -node FILE explains one that is not there yet\n"},
		{"explain, missing node beside one that is there", "", []string{"explain", "-f", fleet, "-ds", "log-shipper", "nowhere", "cp-1"}, 1, "# logging/log-shipper\nnode cp-1", "dsplan: there is no node nowhere"},
		{"explain, flags behind nodes", "", []string{"explain", "cp-1", "-f", fleet, "-ds", "logging/log-shipper"}, 0, "node cp-1 takes a pod", ""},
		{"explain, node file that is none", "", []string{"explain", "-f", fleet, "-node", "testdata/none.yaml"}, 1, "", "dsplan: open testdata/none.yaml: "},
		{"explain, node file without nodes", "", []string{"explain", "-f", fleet, "-node", "ask_test.go"}, 1, "", "ask_test.go"},
		{"status, broken set", `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"a","namespace":"b"},"spec":{"selector":7}}`, []string{"status", "-f", "-", "-o", "json"}, 1, `"error":"standard input`, ""},
		{"explain, broken set", `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"a","namespace":"b"},"spec":{"selector":7}}`, []string{"explain", "-f", "-", "-o", "json"}, 1, `"nodes":[],"groups":[],"error":"standard input`, ""},
		{"status, under way", "", []string{"status", "-f", fleet}, 3, "Progressing (RollingOut)", ""},
		{"status, a node that is down for long", "", []string{"status", "-f", "testdata/cases/I30-dead-node-consumes-maxunavailable.yaml"}, 4, "Stuck (RollingOut)", ""},
		{"status, a longer deadline", "", []string{"status", "-f", "testdata/cases/I39-surge-host-port-deadlock.yaml", "-deadline", "3h"}, 3, "has until 2026-03-10T13:00:05Z", ""},
		{"status, no nodes", done, []string{"status", "-f", "-"}, 0, "Complete (Idle)", "dsplan: standard input: has no Nodes, so that no pod is wanted anywhere\n"},
		{"status, nothing at all", "", []string{"status", "-f", "-"}, 1, "", "dsplan: standard input: has no DaemonSets\n"},
		{"status, deadline without a unit", "", []string{"status", "-f", fleet, "-deadline", "5"}, 2, "", "want a duration such as 90s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := dsplan(tt.stdin, tt.args...)
			assert.Equal(t, tt.status, got.status)
			assert.Contains(t, got.out, tt.out)
			assert.Contains(t, got.err, tt.err)
			assert.Equal(t, tt.out == "", got.out == "", "%q", got.out)
			assert.Equal(t, tt.err == "", got.err == "", "%q", got.err)
		})
	}
}
