package command_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestPlacePods: a pod is bound when it is created, where there is room for it.
func TestPlacePods(t *testing.T) {
	room, full := node(0), node(1)
	room.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}
	full.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}
	client := newClient(t, room, full, daemonSet("agent", ""))
	r := start(t, client, "--place-pods", "--leader-elect=false", "--listen=")
	eventually(t, "an event", func() bool { return len(planEvents(t, client)) == 2 })
	pods, err := client.CoreV1().Pods("ops").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, pods.Items, 1)
	assert.Equal(t, "node-0", pods.Items[0].Spec.NodeName)
	assert.Nil(t, pods.Items[0].Spec.Affinity, "nobody has to be told where it belongs")
	reasons := map[string]string{}
	for _, event := range planEvents(t, client) {
		reasons[event.Reason] = event.Message
	}
	assert.Equal(t, "No pod can be placed on node node-1: pods: 1 asked for, 0 free of 0; 0 are there", reasons["FailedPlacement"])
	assert.Contains(t, reasons, "SuccessfulCreate")
	assert.Len(t, r.log.lines("msg=starting", "placePods=true"), 1)
	require.NoError(t, r.end())
}
