package rollout_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/rollout"
)

// parseNodes reads nodes in the notation of decideRow. Pods are named after their node and
// their place on it.
func parseNodes(t *testing.T, texts ...string) []rollout.Node {
	t.Helper()
	nodes := make([]rollout.Node, 0, len(texts))
	for _, text := range texts {
		words := strings.Fields(text)
		name, barred := strings.CutSuffix(words[0], "!")
		n := rollout.Node{Name: name, Eligible: !barred}
		for i, word := range words[1:] {
			revision, health, _ := strings.Cut(word, ":")
			id := name + "-" + string(rune('0'+i))
			p := rollout.Pod{Name: id, UID: types.UID("uid-" + id), Current: revision == "new"}
			require.Contains(t, []string{"old", "new"}, revision)
			require.NoError(t, p.Health.UnmarshalText([]byte(health)))
			n.Pods = append(n.Pods, p)
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// lines is one line a step: deletes, surges, holds.
func lines(r rollout.Result) []string {
	var out []string
	for _, d := range r.Deletes {
		out = append(out, "delete "+d.Node+"/"+d.Pod.Name+" "+string(d.Reason))
	}
	for _, s := range r.Surges {
		out = append(out, "surge "+s.Node+" "+string(s.Reason))
	}
	for _, h := range r.Holds {
		out = append(out, "hold "+h.Node+" "+string(h.Reason))
	}
	return out
}
