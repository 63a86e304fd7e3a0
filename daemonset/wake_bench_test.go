package daemonset_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
)

// crowd is an index of count sets over ten namespaces, each with a node selector, and some
// with required affinity and tolerations.
func crowd(count int) (*daemonset.SetIndex, []*appsv1.DaemonSet) {
	index := daemonset.NewSetIndex(placement.Options{})
	sets := make([]*appsv1.DaemonSet, count)
	for i := range sets {
		set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{
			Namespace: fmt.Sprintf("team-%d", i%10),
			Name:      fmt.Sprintf("agent-%04d", i),
			UID:       types.UID(fmt.Sprintf("set-%04d", i)),
		}}
		labels := map[string]string{"app": set.Name}
		set.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		set.Spec.Template.Labels = labels
		set.Spec.Template.Spec.NodeSelector = map[string]string{"kubernetes.io/os": "linux"}
		if i%2 == 0 {
			set.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
		}
		sets[i] = set
		index.Put(set)
	}
	return index, sets
}

func daemonPod(set *appsv1.DaemonSet) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: set.Namespace, Name: set.Name + "-n", UID: types.UID("pod-" + set.Name),
			Labels:          set.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))},
		},
		Spec: corev1.PodSpec{NodeName: "n"},
	}
}

func linuxNode(taints ...corev1.Taint) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "node-n", Labels: map[string]string{
			"kubernetes.io/os": "linux", "kubernetes.io/hostname": "n", "kubernetes.io/arch": "amd64",
		}},
		Spec: corev1.NodeSpec{Taints: taints},
	}
}

func BenchmarkNodeChanged(b *testing.B) {
	index, sets := crowd(1000)
	var pods []*corev1.Pod
	for _, set := range sets {
		pods = append(pods, daemonPod(set))
	}
	dedicated := corev1.Taint{Key: "dedicated", Value: "db", Effect: corev1.TaintEffectNoSchedule}
	windows := linuxNode()
	windows.Labels["kubernetes.io/os"] = "windows"
	benchmarks := []struct {
		name string
		node *corev1.Node
		pods []*corev1.Pod
		want int
	}{
		{"settled", linuxNode(), pods, 0},
		{"new", linuxNode(), nil, 1000},
		{"tainted", linuxNode(dedicated), pods[:100], 450},
		{"unsuitable", windows, nil, 0},
		{"unsuitable-full", windows, pods, 1000},
	}
	for _, bm := range benchmarks {
		b.Run("sets=1000/node="+bm.name, func(b *testing.B) {
			require.Len(b, index.NodeChanged(nil, bm.node, bm.pods).Sets, bm.want)
			b.ReportAllocs()
			for b.Loop() {
				index.NodeChanged(nil, bm.node, bm.pods)
			}
		})
	}
}

// BenchmarkNodeChangedForFew is a node's event that affects ten sets of a thousand, for each
// of the ways in which sets keep to some of the nodes.
func BenchmarkNodeChangedForFew(b *testing.B) {
	type edit func(spec *corev1.PodSpec, pool string)
	required := func(operator corev1.NodeSelectorOperator, key string, values ...string) *corev1.Affinity {
		return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: operator, Values: values}}}},
		}}}
	}
	for _, bm := range []struct {
		name string
		edit edit
	}{
		{"selector", func(spec *corev1.PodSpec, pool string) { spec.NodeSelector["pool"] = pool }},
		{"affinity", func(spec *corev1.PodSpec, pool string) {
			spec.Affinity = required(corev1.NodeSelectorOpIn, "pool", pool, pool+"-spare")
		}},
		{"key", func(spec *corev1.PodSpec, pool string) { spec.Affinity = required(corev1.NodeSelectorOpExists, pool) }},
		{"taint", func(spec *corev1.PodSpec, pool string) {
			spec.NodeSelector = nil
			spec.Tolerations = []corev1.Toleration{{Key: pool, Operator: corev1.TolerationOpExists}}
		}},
	} {
		b.Run("sets=1000/by="+bm.name, func(b *testing.B) {
			_, sets := crowd(1000)
			index := daemonset.NewSetIndex(placement.Options{})
			for i, set := range sets {
				bm.edit(&set.Spec.Template.Spec, fmt.Sprintf("pool-%02d", i/10))
				index.Put(set)
			}
			before, after := linuxNode(), linuxNode(corev1.Taint{Key: "pool-42", Effect: corev1.TaintEffectNoSchedule})
			after.Labels["pool"], after.Labels["pool-42"] = "pool-42", "yes"
			if bm.name != "taint" {
				after.Spec.Taints = nil
			}
			require.Len(b, index.NodeChanged(before, after, nil).Sets, 10)
			b.ReportAllocs()
			for b.Loop() {
				index.NodeChanged(before, after, nil)
			}
		})
	}
}
