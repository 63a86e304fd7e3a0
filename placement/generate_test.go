package placement_test

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/placement"
)

// dice turns bytes into choices, so that random bytes, and those that the fuzzer finds, make
// specs and nodes. When the bytes are used up every choice is the first one.
type dice struct{ data []byte }

func (d *dice) roll(sides int) int {
	if len(d.data) == 0 {
		return 0
	}
	rolled := int(d.data[0]) % sides
	d.data = d.data[1:]
	return rolled
}

func pick[T any](d *dice, from ...T) T { return from[d.roll(len(from))] }

// some makes up to most of a thing.
func some[T any](d *dice, most int, one func() T) []T {
	var made []T
	for range d.roll(most + 1) {
		made = append(made, one())
	}
	return made
}

// The vocabulary is small, so that things meet, and holds what is not valid anywhere.

func (d *dice) name() string { return pick(d, "n1", "n2", "") }

func (d *dice) key() string {
	return pick(d, "a", "b", pick(d, "c", "example.com/long", "", "not a key", "-a"))
}

func (d *dice) value() string {
	odd := pick(d, "x", "", "-2", "+3", "007", "-0", "9223372036854775807", "9223372036854775808", "0x1", "1_0", "not a value", "\xff")
	return pick(d, "1", "2", "10", odd)
}

func (d *dice) labels() map[string]string {
	labels := map[string]string{}
	for range d.roll(5) {
		labels[d.key()] = d.value()
	}
	return labels
}

func (d *dice) requirement(keys ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{
		Key:      pick(d, keys...),
		Operator: pick(d, in, notIn, has, hasNot, gt, lt, "", "in", "Equals"),
		Values:   some(d, 3, d.value),
	}
}

func (d *dice) term() corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{
		MatchExpressions: some(d, 3, func() corev1.NodeSelectorRequirement { return d.requirement("a", "b", "c", d.key()) }),
		MatchFields: some(d, 1, func() corev1.NodeSelectorRequirement {
			r := d.requirement("metadata.name", "metadata.name", "metadata.name", "metadata.uid")
			r.Operator = pick(d, in, notIn, r.Operator)
			r.Values = some(d, 2, d.name)
			return r
		}),
	}
}

func (d *dice) affinity() *corev1.Affinity {
	switch d.roll(8) {
	case 0, 1, 2:
		return nil
	case 3:
		return &corev1.Affinity{}
	case 4:
		return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Preference: d.term()}},
		}}
	}
	return requiring(some(d, 3, d.term)...).Affinity
}

func (d *dice) effect() corev1.TaintEffect {
	return pick(d, noSchedule, noExecute, corev1.TaintEffectPreferNoSchedule, "", "Odd")
}

func (d *dice) taintKey() string {
	return pick(d, "a", "b", "", pick(d, "node.kubernetes.io/not-ready", "node.kubernetes.io/unschedulable", "node.kubernetes.io/network-unavailable"))
}

func (d *dice) toleration() corev1.Toleration {
	t := corev1.Toleration{
		Key: d.taintKey(),
		Operator: pick(d, corev1.TolerationOpExists, corev1.TolerationOpEqual, "",
			corev1.TolerationOpGt, corev1.TolerationOpLt, "Odd"),
		Value:  d.value(),
		Effect: pick(d, d.effect(), ""),
	}
	if d.roll(2) == 1 {
		t.TolerationSeconds = new(int64(d.roll(300)))
	}
	return t
}

func (d *dice) spec() *corev1.PodSpec {
	spec := &corev1.PodSpec{
		HostNetwork: d.roll(2) == 1,
		Tolerations: some(d, 3, d.toleration),
		Affinity:    d.affinity(),
	}
	if d.roll(4) == 3 {
		spec.NodeName = d.name()
	}
	if d.roll(4) == 3 {
		spec.NodeSelector = map[string]string{d.key(): d.value()}
	}
	return spec
}

func (d *dice) node() *corev1.Node {
	n := node(d.name(), d.labels())
	n.Spec.Taints = some(d, 3, func() corev1.Taint {
		return corev1.Taint{Key: d.taintKey(), Value: d.value(), Effect: d.effect()}
	})
	return n
}

func (d *dice) options() placement.Options {
	return placement.Options{ComparisonTolerations: d.roll(2) == 1}
}
