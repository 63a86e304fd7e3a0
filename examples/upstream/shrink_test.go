package upstream_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/internal/gen"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/examples/upstream"
)

// TestShrink: of a snapshot that differs because of two objects these two are left.
func TestShrink(t *testing.T) {
	shrunk := 0
	for seed := range uint64(200) {
		s := gen.Make(gen.Bytes(seed), gen.Options{}).Snapshot
		if len(s.Objects.Pods) < 3 || len(s.Objects.Nodes) < 3 {
			continue
		}
		shrunk++
		before, err := json.Marshal(s)
		require.NoError(t, err)
		pod, node := s.Objects.Pods[1], s.Objects.Nodes[2].Name
		got := upstream.Shrink(s, func(s daemonset.Snapshot) bool {
			return slices.Contains(s.Objects.Pods, pod) &&
				slices.ContainsFunc(s.Objects.Nodes, func(n *corev1.Node) bool { return n.Name == node })
		})
		require.Equal(t, []*corev1.Pod{pod}, got.Objects.Pods, "seed %d", seed)
		require.Len(t, got.Objects.Nodes, 1)
		require.Equal(t, node, got.Objects.Nodes[0].Name)
		require.Empty(t, got.Objects.Nodes[0].Labels)
		require.Empty(t, got.Objects.Nodes[0].Spec.Taints)
		require.Empty(t, got.Objects.Revisions)
		require.Empty(t, got.Backoff)
		require.Nil(t, got.Objects.DaemonSet.Spec.Template.Spec.Affinity)
		after, err := json.Marshal(s)
		require.NoError(t, err)
		require.JSONEq(t, string(before), string(after), "what is shrunk stays as it is")
	}
	require.Greater(t, shrunk, 20)
}

// TestShrinkKeeps: what is needed as a whole is kept as a whole.
func TestShrinkKeeps(t *testing.T) {
	s := gen.Make(gen.Bytes(7), gen.Options{}).Snapshot
	pods, nodes := len(s.Objects.Pods), len(s.Objects.Nodes)
	got := upstream.Shrink(s, func(s daemonset.Snapshot) bool {
		return len(s.Objects.Pods) == pods && len(s.Objects.Nodes) == nodes
	})
	require.Len(t, got.Objects.Pods, pods)
	require.Len(t, got.Objects.Nodes, nodes)
}
