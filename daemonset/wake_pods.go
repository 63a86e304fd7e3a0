package daemonset

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/placement"
)

// NodePods holds pods by the node that they are bound or pinned to, as [SetIndex.NodeChanged]
// wants them, for callers whose caches have no index of that kind. Its zero value is empty
// and ready. It keeps the pods it was given, and needs exclusive access for Changed.
type NodePods struct {
	nodes map[string]map[types.NamespacedName]*corev1.Pod
}

// Changed takes a pod's event: a nil prev means added, a nil cur deleted. What prev was last
// known as is not needed, but its node is: a pod that moves leaves the node of prev.
func (n *NodePods) Changed(prev, cur *corev1.Pod) {
	if node, ok := placement.TargetNode(prev); ok {
		key := keyOf(&prev.ObjectMeta)
		if delete(n.nodes[node], key); len(n.nodes[node]) == 0 {
			delete(n.nodes, node)
		}
	}
	if node, ok := placement.TargetNode(cur); ok {
		if n.nodes == nil {
			n.nodes = map[string]map[types.NamespacedName]*corev1.Pod{}
		}
		if n.nodes[node] == nil {
			n.nodes[node] = map[types.NamespacedName]*corev1.Pod{}
		}
		n.nodes[node][keyOf(&cur.ObjectMeta)] = cur
	}
}

// On returns the pods of a node, by namespace and name. The slice belongs to the caller.
func (n *NodePods) On(node string) []*corev1.Pod {
	pods := n.nodes[node]
	if len(pods) == 0 {
		return nil
	}
	out := make([]*corev1.Pod, 0, len(pods))
	for _, key := range slices.SortedFunc(maps.Keys(pods), compareKeys) {
		out = append(out, pods[key])
	}
	return out
}
