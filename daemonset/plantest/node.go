package plantest

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// NodeOption changes a node that is being built.
type NodeOption func(*corev1.Node)

// Node builds a node that is ready, has no taints, and room for 110 pods, 4 CPUs and 16 GiB.
// Its labels are its host name and its system.
func Node(name string, options ...NodeOption) *corev1.Node {
	node := &corev1.Node{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID("node-" + name),
			Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux"},
		},
		Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			Capacity:   room(), Allocatable: room(),
		},
	}
	for _, option := range options {
		option(node)
	}
	return node
}

func room() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("4"),
		corev1.ResourceMemory: resource.MustParse("16Gi"),
		corev1.ResourcePods:   resource.MustParse("110"),
	}
}

// Label gives a node a label.
func Label(key, value string) NodeOption {
	return func(node *corev1.Node) { node.Labels[key] = value }
}

// Zone puts a node into a zone.
func Zone(zone string) NodeOption { return Label(corev1.LabelTopologyZone, zone) }

// Taint gives a node a taint, written as kubectl has it: "key=value:Effect" or "key:Effect".
func Taint(taint string) NodeOption {
	return func(node *corev1.Node) { node.Spec.Taints = append(node.Spec.Taints, parseTaint(taint)) }
}

// Unreachable is a node whose kubelet does not answer: its Ready condition is Unknown, and it
// has the taints that go with it.
func Unreachable() NodeOption {
	return func(node *corev1.Node) {
		node.Status.Conditions[0].Status = corev1.ConditionUnknown
		node.Spec.Taints = append(node.Spec.Taints,
			corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule},
			corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute})
	}
}

func parseTaint(text string) corev1.Taint {
	rest, effect, ok := strings.Cut(text, ":")
	key, value, _ := strings.Cut(rest, "=")
	switch corev1.TaintEffect(effect) {
	case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
	default:
		ok = false
	}
	if !ok || key == "" {
		panic(fmt.Sprintf("plantest: %q is no taint; want key=value:Effect or key:Effect", text))
	}
	return corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}
}
