package script

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// addNodes adds nodes without labels and taints: "nodes a b c", or "nodes n*3" for n1, n2
// and n3. A name that is there already is added once more.
func (w *World) addNodes(words []string) error {
	for _, word := range words {
		prefix, count, many := strings.Cut(word, "*")
		if !many {
			w.addNode(word)
			continue
		}
		n := 0
		if err := integer(&n)(count); err != nil {
			return err
		}
		for i := range n {
			w.addNode(fmt.Sprintf("%s%d", prefix, i+1))
		}
	}
	return someWords(words)
}

func (w *World) addNode(name string) {
	w.snapshot.Objects.Nodes = append(w.snapshot.Objects.Nodes, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
			{Type: corev1.NodeReady, Status: corev1.ConditionTrue},
		}},
	})
}

// changeNode sets what is not a label or taint: "node a unschedulable not-ready
// memory-pressure" sets the field and the conditions of that name, without the taints that
// a real cluster adds, and "node a allocatable=cpu:2,memory:4Gi,pods:10" what it can hold.
func (w *World) changeNode(words []string) error {
	return w.withNode(words, func(node *corev1.Node, words []string) error {
		setCondition := func(kind corev1.NodeConditionType, status corev1.ConditionStatus) func(string) error {
			return func(string) error {
				node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{Type: kind, Status: status})
				return nil
			}
		}
		return options{
			"unschedulable":   flag(&node.Spec.Unschedulable),
			"allocatable":     amounts(&node.Status.Allocatable),
			"memory-pressure": setCondition(corev1.NodeMemoryPressure, corev1.ConditionTrue),
			"disk-pressure":   setCondition(corev1.NodeDiskPressure, corev1.ConditionTrue),
			"not-ready": func(string) error {
				node.Status.Conditions = nil
				return setCondition(corev1.NodeReady, corev1.ConditionFalse)("")
			},
		}.read(words)
	})
}

// labelNode sets labels: "label a zone=west disk=ssd".
func (w *World) labelNode(words []string) error {
	return w.withNode(words, func(node *corev1.Node, words []string) error {
		if node.Labels == nil {
			node.Labels = map[string]string{}
		}
		for _, word := range words {
			maps.Copy(node.Labels, pairs(word))
		}
		return nil
	})
}

// taintNode adds taints: "taint a dedicated=db:NoSchedule".
func (w *World) taintNode(words []string) error {
	return w.withNode(words, func(node *corev1.Node, words []string) error {
		for _, word := range words {
			taint, err := readTaint(word)
			if err != nil {
				return err
			}
			node.Spec.Taints = append(node.Spec.Taints, taint)
		}
		return nil
	})
}

// untaintNode takes all taints from a node: "untaint a".
func (w *World) untaintNode(words []string) error {
	return w.withNode(words, func(node *corev1.Node, _ []string) error {
		node.Spec.Taints = nil
		return nil
	})
}

// withNode finds the node that the first word names.
func (w *World) withNode(words []string, do func(*corev1.Node, []string) error) error {
	if err := someWords(words); err != nil {
		return err
	}
	nodes := w.snapshot.Objects.Nodes
	i := slices.IndexFunc(nodes, func(n *corev1.Node) bool { return n.Name == words[0] })
	if i < 0 {
		return fmt.Errorf("no node %q", words[0])
	}
	return do(nodes[i], words[1:])
}
