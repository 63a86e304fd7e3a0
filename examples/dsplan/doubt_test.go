package main_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDumpsThatAreNotWhole: what people leave out of a dump is named, and scripts do not take
// the answer for one.
func TestDumpsThatAreNotWhole(t *testing.T) {
	whole, err := os.ReadFile(fleet)
	require.NoError(t, err)
	without := func(kind string) string { return strings.ReplaceAll(string(whole), "kind: "+kind, "kind: Left"+kind) }
	const wanted = ", and by the status of its DaemonSets there are some; what follows is wrong. " +
		"A dump is: kubectl get daemonsets,nodes,pods,controllerrevisions -A -o yaml\n"
	for _, tt := range []struct{ name, dump, want string }{
		{"no nodes", without("Node"), "dsplan: standard input: has no Nodes" + wanted},
		{"no pods", without("Pod"), "dsplan: standard input: has no Pods" + wanted},
		{"no revisions", without("ControllerRevision"), "dsplan: standard input: has no ControllerRevisions" + wanted},
		{
			"only sets", strings.NewReplacer("kind: Node", "kind: LeftNode", "kind: Pod", "kind: LeftPod", "kind: ControllerRevision", "kind: LeftRevision").Replace(string(whole)),
			"dsplan: standard input: has no Nodes and no Pods and no ControllerRevisions" + wanted,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, args := range [][]string{{"plan"}, {"explain"}, {"status"}, {"simulate"}, {"diff", "-with", "testdata/changes/rollback.yaml"}} {
				got := dsplan(tt.dump, append(args, "-f", "-", "-now", noon)...)
				assert.Equal(t, 1, got.status, args)
				err := strings.Replace(got.err, "dsplan: the dump: ", "dsplan: standard input: ", 2)
				assert.Equal(t, tt.want, err, args)
				assert.NotEmpty(t, got.out, args)
			}
		})
	}
}

// TestDumpsOfOtherForms: each is answered, or says what to do.
func TestDumpsOfOtherForms(t *testing.T) {
	old := strings.Replace(healthySet, "apps/v1", "extensions/v1beta1", 1)
	got := dsplan(old+healthyNode, "status", "-f", "-")
	assert.Equal(t, outcome{
		status: 1,
		out: "# demo/agent\nerror: standard input: document 1: DaemonSet demo/agent: " +
			"is of extensions/v1beta1, which Kubernetes stopped serving in v1.16; want apps/v1\n",
	}, got)

	lines := write(t, "items.jsonl", healthySet+"\n"+healthyNode+"\n"+podNamed("a", "")+"\n")[0]
	got = dsplan("", "plan", "-f", lines)
	assert.Equal(t, 0, got.status)
	assert.Equal(t, "dsplan: "+lines+": snapshots without DaemonSets: 2; each line is a snapshot by itself, unless the file is named *.json\n", got.err)
	counted := strings.TrimSuffix(healthySet, "}") + `,"status":{"desiredNumberScheduled":3}}`
	got = dsplan("", "status", "-f", write(t, "counted.jsonl", counted+"\n"+counted+"\n")[0])
	assert.Equal(t, 1, got.status, "it is not complete")
	assert.Contains(t, got.err, "counted.jsonl: snapshots that lack Nodes, Pods or ControllerRevisions which the status of their DaemonSets counts: 2; ")

	one := write(t, "items.json", healthySet+"\n"+healthyNode+"\n"+podNamed("a", "")+"\n")[0]
	assert.Contains(t, dsplan("", "plan", "-f", one).out, "create  node-a  MissingPod")
}
