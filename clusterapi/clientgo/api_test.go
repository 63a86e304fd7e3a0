package clientgo_test

import (
	"encoding/json"
	"testing"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"

	"github.com/daemonplan/daemonplan/clusterapi/clientgo"
)

func TestNewAPIRefuses(t *testing.T) {
	_, err := clientgo.NewAPI(nil, newCaches(t).Informers, nil)
	require.Error(t, err)
	_, err = clientgo.NewAPI(newClient(), nil, nil)
	require.Error(t, err)
	_, err = clientgo.NewInformers(nil)
	require.Error(t, err)
	_, err = newCaches(t).Handle(nil, nil)
	require.Error(t, err)
}

// TestPatchesNameTheirObject: an API server takes the UID in a patch for a precondition.
func TestPatchesNameTheirObject(t *testing.T) {
	ref := daemonset.Ref{Namespace: "ops", Name: "p", UID: `odd "uid"`}
	tests := []struct{ name, give, want string }{
		{"labels", `{"metadata":{"labels":{"a":null}}}`, `{"metadata":{"labels":{"a":null},"uid":"odd \"uid\""}}`},
		{"a UID", `{"metadata":{"uid":"another","resourceVersion":"9"}}`, `{"metadata":{"uid":"odd \"uid\"","resourceVersion":"9"}}`},
		{"nothing", `{}`, `{"metadata":{"uid":"odd \"uid\""}}`},
		{"null", `{"metadata":null}`, `{"metadata":{"uid":"odd \"uid\""}}`},
		{"large numbers", `{"a":12345678901234567890}`, `{"a":12345678901234567890,"metadata":{"uid":"odd \"uid\""}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			client := newClient(pod("ops", "p", "", ""), &appsv1.ControllerRevision{ObjectMeta: pod("ops", "p", "", "").ObjectMeta})
			api, err := clientgo.NewAPI(client, newCaches(t).Informers, nil)
			require.NoError(t, err)
			_, err = api.PatchPod(t.Context(), ref, []byte(tt.give))
			require.NoError(t, err)
			_, err = api.PatchRevision(t.Context(), ref, []byte(tt.give))
			require.NoError(t, err)
			require.Len(t, client.Actions(), 2)
			for _, action := range client.Actions() {
				patch := action.(clienttesting.PatchAction)
				assert.Equal(t, types.MergePatchType, patch.GetPatchType())
				assert.JSONEq(t, tt.want, string(patch.GetPatch()))
			}
		})
	}
	api := newCaches(t).API
	for _, bad := range []string{`[]`, `{`, `{"metadata":[]}`, `null garbage`} {
		_, err := api.PatchPod(t.Context(), ref, []byte(bad))
		assert.True(t, apierrors.IsBadRequest(err), "%s: %v", bad, err)
		_, err = api.PatchRevision(t.Context(), ref, []byte(bad))
		assert.True(t, apierrors.IsBadRequest(err), "%s: %v", bad, err)
	}
}

func TestDeletesNameTheirObject(t *testing.T) {
	ref := daemonset.Ref{Namespace: "ops", Name: "p", UID: "uid"}
	client := newClient(pod("ops", "p", "", ""), &appsv1.ControllerRevision{ObjectMeta: pod("ops", "p", "", "").ObjectMeta})
	api, err := clientgo.NewAPI(client, newCaches(t).Informers, nil)
	require.NoError(t, err)
	require.NoError(t, api.DeletePod(t.Context(), ref))
	require.NoError(t, api.DeleteRevision(t.Context(), ref))
	require.Len(t, client.Actions(), 2)
	for _, action := range client.Actions() {
		options := action.(clienttesting.DeleteAction).GetDeleteOptions()
		require.NotNil(t, options.Preconditions)
		assert.Equal(t, ref.UID, *options.Preconditions.UID)
		assert.Nil(t, options.GracePeriodSeconds, "deletion is graceful")
	}
}

// TestUpdateStatusReplaces: what the new status leaves out is gone, also counts of zero, and
// nothing but the status is sent.
func TestUpdateStatusReplaces(t *testing.T) {
	set := agentSet()
	set.ResourceVersion = "5"
	set.Status = appsv1.DaemonSetStatus{
		NumberAvailable: 3, NumberUnavailable: 2,
		Conditions: []appsv1.DaemonSetCondition{{Type: "Old", Status: corev1.ConditionTrue}},
	}
	client := newClient(set)
	api, err := clientgo.NewAPI(client, newCaches(t).Informers, nil)
	require.NoError(t, err)
	give := set.DeepCopy()
	give.Labels, give.Spec.MinReadySeconds = map[string]string{"new": "1"}, 9
	give.Status = appsv1.DaemonSetStatus{DesiredNumberScheduled: 5, CollisionCount: new(int32)}
	got, err := api.UpdateStatus(t.Context(), give)
	require.NoError(t, err)
	assert.Equal(t, give.Status, got.Status)
	assert.Equal(t, set.Spec, got.Spec)
	assert.Empty(t, got.Labels)

	patch := client.Actions()[0].(clienttesting.PatchAction)
	assert.Equal(t, "status", patch.GetSubresource())
	var operations []struct{ Path string }
	require.NoError(t, json.Unmarshal(patch.GetPatch(), &operations))
	assert.Len(t, operations, 3)
	assert.Contains(t, string(patch.GetPatch()), `"/metadata/resourceVersion","value":"5"`)
	assert.Contains(t, string(patch.GetPatch()), `"/metadata/uid","value":"set-1"`)
}

func TestRecordEvent(t *testing.T) {
	recorder := record.NewFakeRecorder(1)
	recorder.IncludeObject = true
	api, err := clientgo.NewAPI(newClient(), newCaches(t).Informers, recorder)
	require.NoError(t, err)
	event := daemonset.Event{Type: "Warning", Reason: "FailedDaemonPod", Note: "100% failed: %s"}
	api.RecordEvent(t.Context(), daemonset.Ref{Namespace: "ops", Name: "agent", UID: "set-1"}, event)
	assert.Equal(t, "Warning FailedDaemonPod 100% failed: %s involvedObject{kind=DaemonSet,apiVersion=apps/v1}", <-recorder.Events)

	newCaches(t).RecordEvent(t.Context(), daemonset.Ref{}, event) // nobody records
}
