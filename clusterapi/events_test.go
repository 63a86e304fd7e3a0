package clusterapi_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
)

// told is what a set's users have heard since the last call.
func (w *world) told(from int) []string {
	var out []string
	for _, event := range w.cluster.Recorded()[from:] {
		out = append(out, event.Event.Type+" "+event.Event.Reason+": "+event.Event.Note)
	}
	return out
}

// TestEvents: users are told of each pod that was created or deleted, and why one was not.
func TestEvents(t *testing.T) {
	w := newWorld(t, 3)
	quota := apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("quota"))
	w.client.Inject(fake.Fault{Call: fake.CreatePod, Skip: 1, Err: quota})
	result, err := w.sync()
	require.Error(t, err)
	first, last := result.Writes[1].Ref.Name, result.Writes[3].Ref.Name
	require.Equal(t, []string{
		"Normal SuccessfulCreate: Pod " + first + " was created on node node-00",
		"Warning FailedCreate: Creating a pod on node node-01: " + quota.Error(),
		"Normal SuccessfulCreate: Pod " + last + " was created on node node-02",
	}, w.told(0))

	w.settle(20)
	w.image("registry.example/agent:v2")
	w.deliver()
	heard := len(w.cluster.Recorded())
	w.client.Inject(fake.Fault{Call: fake.DeletePod, Err: apierrors.NewTimeoutError("slow", 0)})
	result, err = w.sync()
	require.Error(t, err)
	gone := result.Plan.Deletes[0].Pod.Name
	require.Equal(t, []string{
		"Warning FailedDelete: Deleting pod " + gone + " on node node-00: Timeout: slow",
	}, w.told(heard))
	heard = len(w.cluster.Recorded())
	w.cluster.Advance(2 * time.Minute)
	result, err = w.sync()
	require.NoError(t, err)
	require.Equal(t, 1, result.Count(clusterapi.DeletePod, clusterapi.Done))
	require.Equal(t, []string{"Normal SuccessfulDelete: Pod " + gone + " was deleted on node node-00"}, w.told(heard))
}
