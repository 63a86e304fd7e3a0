package placement_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/placement"
)

func BenchmarkEvaluate(b *testing.B) {
	benchmarks := []struct {
		name string
		spec *corev1.PodSpec
		node *corev1.Node
		want placement.Decision
	}{
		{"plain", &corev1.PodSpec{}, node("n", nil), placement.Run},
		{"tainted", &corev1.PodSpec{}, node("n", nil, "node.kubernetes.io/not-ready:NoExecute", "node.kubernetes.io/unschedulable:NoSchedule"), placement.Run},
		{"demanding", demanding(), eligible(), placement.Run},
		{"kept", demanding(), kept(), placement.Keep},
		{"refused", demanding(), node("n", nil), placement.Evict},
	}
	for _, bm := range benchmarks {
		b.Run("node="+bm.name, func(b *testing.B) {
			m := placement.NewMatcher(bm.spec, placement.Options{ComparisonTolerations: true})
			if got := m.Evaluate(bm.node).Decision; got != bm.want {
				b.Fatalf("measures %s, not %s", got, bm.want)
			}
			b.ReportAllocs()
			for b.Loop() {
				m.Evaluate(bm.node)
			}
		})
	}
}

func kept() *corev1.Node {
	n := eligible()
	n.Spec.Taints = append(n.Spec.Taints, taint("spot:NoSchedule"))
	return n
}

func BenchmarkNewMatcher(b *testing.B) {
	benchmarks := []struct {
		name string
		spec *corev1.PodSpec
	}{
		{"plain", &corev1.PodSpec{}},
		{"demanding", demanding()},
	}
	for _, bm := range benchmarks {
		b.Run("spec="+bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				placement.NewMatcher(bm.spec, placement.Options{})
			}
		})
	}
}
