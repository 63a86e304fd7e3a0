package daemonset_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
)

func podNamed(name, node string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: name}, Spec: corev1.PodSpec{NodeName: node}}
}

func TestNodePods(t *testing.T) {
	var table daemonset.NodePods
	assert.Empty(t, table.On("a"))
	table.Changed(nil, nil)

	free, b := podNamed("free", ""), podNamed("b", "a")
	pinned := podNamed("a", "")
	pinned.Spec.Affinity = placement.PinTo(nil, "a")
	table.Changed(nil, free)
	table.Changed(nil, b)
	table.Changed(nil, pinned)
	assert.Equal(t, []*corev1.Pod{pinned, b}, table.On("a"), "pinned counts like bound, and the order is that of names")
	assert.Empty(t, table.On(""), "a pod without a node is on none")

	bound := podNamed("free", "a")
	table.Changed(free, bound)
	again := podNamed("b", "a")
	table.Changed(b, again)
	assert.Equal(t, []*corev1.Pod{pinned, again, bound}, table.On("a"))
	assert.Same(t, again, table.On("a")[1], "the newer state")

	table.On("a")[0] = nil
	assert.Same(t, pinned, table.On("a")[0], "the slice is the caller's")

	table.Changed(again, nil)
	table.Changed(bound, nil)
	table.Changed(pinned, nil)
	table.Changed(pinned, nil)
	assert.Empty(t, table.On("a"))
}
