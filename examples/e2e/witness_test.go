package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/examples/e2e/witness"
)

// TestWitness sees that what no controller does in the other tests is noticed if one does:
// here the test is a controller that makes two pods for a node and forgets another node.
func TestWitness(t *testing.T) {
	s := newScene(t, thePlane(t), "witness", 2)
	s.allowed = append(s.allowed, witness.Twins, witness.Missing)
	set := s.create()
	for _, name := range []string{"one", "two"} {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: set.Spec.Template.Labels, OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(set, set.GroupVersionKind()),
			}},
			Spec: *set.Spec.Template.Spec.DeepCopy(),
		}
		pod.OwnerReferences[0].APIVersion, pod.OwnerReferences[0].Kind = "apps/v1", "DaemonSet"
		pod.Spec.NodeName = s.node(0)
		_, err := s.client.CoreV1().Pods(s.ns).Create(s.ctx, pod, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	s.quiet()
	var kinds []witness.Kind
	for _, violation := range witness.Check(s.witness.History()) {
		kinds = append(kinds, violation.Kind)
	}
	assert.Equal(t, []witness.Kind{witness.Twins, witness.Missing}, kinds)
	lives := s.witness.History().Lives(set)
	require.Len(t, lives, 2)
	assert.False(t, lives[0].Ready.IsZero())

	require.NoError(t, s.client.CoreV1().Pods(s.ns).Delete(s.ctx, "two", metav1.DeleteOptions{}))
	s.eventually("the witness sees the pod go", func() (bool, string) {
		lives := s.witness.History().Lives(set)
		return !lives[1].Asked.IsZero() && !lives[1].Gone.IsZero(), s.witness.History().String()
	})
}
