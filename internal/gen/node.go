package gen

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func nodeName(i int) string { return fmt.Sprintf("node-%02d", i) }

func (w *world) makeNodes(limit int) {
	if limit <= 0 {
		limit = defaultNodes
	}
	count := 1 + w.below(min(limit, 255))
	if w.oneIn(60) {
		count = 0
	}
	for i := range count {
		w.nodes = append(w.nodes, w.node(i))
	}
}

func (w *world) node(i int) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: nodeName(i), UID: types.UID("uid-" + nodeName(i)),
		CreationTimestamp: at(epoch().Add(-72 * time.Hour)),
	}}
	if !w.odd() {
		node.Labels = map[string]string{
			corev1.LabelHostname: node.Name,
			zoneLabel:            pick(&w.source, "a", "a", "a", "b", "c"),
			coresLabel:           pick(&w.source, "4", "8", "2", "many"),
		}
	}
	if w.oneIn(8) || w.odd() {
		node.Spec.Taints = append(node.Spec.Taints, w.taint())
	}
	if w.odd() {
		node.Spec.Taints = append(node.Spec.Taints, w.taint())
	}
	if w.oneIn(10) {
		node.Spec.Unschedulable = true
		if w.oneIn(2) {
			node.Spec.Taints = append(node.Spec.Taints, taint(corev1.TaintNodeUnschedulable, "", corev1.TaintEffectNoSchedule))
		}
	}
	return node
}

func (w *world) taint() corev1.Taint {
	t := pick(&w.source,
		taint(dedicated, "db", corev1.TaintEffectNoSchedule),
		taint(dedicated, "db", corev1.TaintEffectNoSchedule),
		taint(corev1.TaintNodeNotReady, "", corev1.TaintEffectNoExecute),
		taint(corev1.TaintNodeNotReady, "", corev1.TaintEffectNoSchedule),
		taint(corev1.TaintNodeDiskPressure, "", corev1.TaintEffectNoSchedule),
		taint(corev1.TaintNodeNetworkUnavailable, "", corev1.TaintEffectNoSchedule),
		taint(dedicated, "gpu", corev1.TaintEffectPreferNoSchedule),
		taint(dedicated, "gpu", corev1.TaintEffectNoExecute),
		taint(coresLabel, "8", corev1.TaintEffectNoSchedule),
	)
	if w.oneIn(4) {
		t.TimeAdded = new(at(w.now.Add(-time.Minute)))
	}
	return t
}

func taint(key, value string, effect corev1.TaintEffect) corev1.Taint {
	return corev1.Taint{Key: key, Value: value, Effect: effect}
}
