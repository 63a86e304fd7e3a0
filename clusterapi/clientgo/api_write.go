package clientgo

import (
	"context"
	"encoding/json"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/daemonset"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// CreatePod creates the pod.
func (a *API) CreatePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	sent := *pod // client-go writes to what it encodes, for a while
	return a.client.CoreV1().Pods(pod.Namespace).Create(ctx, &sent, metav1.CreateOptions{})
}

// PatchPod patches the pod's metadata.
func (a *API) PatchPod(ctx context.Context, pod daemonset.Ref, mergePatch []byte) (*corev1.Pod, error) {
	guarded, err := guard(mergePatch, pod.UID)
	if err != nil {
		return nil, err
	}
	stored, err := a.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, guarded, metav1.PatchOptions{})
	return stored, clusterapi.PatchError(err, corev1.Resource("pods"), pod)
}

// DeletePod asks for the pod's deletion.
func (a *API) DeletePod(ctx context.Context, pod daemonset.Ref) error {
	return a.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, only(pod.UID))
}

// CreateRevision creates the revision.
func (a *API) CreateRevision(ctx context.Context, revision *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
	sent := *revision // as in CreatePod
	return a.client.AppsV1().ControllerRevisions(revision.Namespace).Create(ctx, &sent, metav1.CreateOptions{})
}

// UpdateRevision replaces the revision. One without managed fields keeps those that are
// stored, as Kubernetes v1.37.2 has it.
func (a *API) UpdateRevision(ctx context.Context, revision *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
	sent := *revision // as in CreatePod
	return a.client.AppsV1().ControllerRevisions(revision.Namespace).Update(ctx, &sent, metav1.UpdateOptions{})
}

// PatchRevision patches the revision's metadata.
func (a *API) PatchRevision(ctx context.Context, revision daemonset.Ref, mergePatch []byte) (*appsv1.ControllerRevision, error) {
	guarded, err := guard(mergePatch, revision.UID)
	if err != nil {
		return nil, err
	}
	stored, err := a.client.AppsV1().ControllerRevisions(revision.Namespace).
		Patch(ctx, revision.Name, types.MergePatchType, guarded, metav1.PatchOptions{})
	return stored, clusterapi.PatchError(err, appsv1.Resource("controllerrevisions"), revision)
}

// DeleteRevision removes the revision.
func (a *API) DeleteRevision(ctx context.Context, revision daemonset.Ref) error {
	return a.client.AppsV1().ControllerRevisions(revision.Namespace).Delete(ctx, revision.Name, only(revision.UID))
}

// UpdateStatus replaces the DaemonSet's status. It is a patch, because with an update of the
// status an API server of v1.37.2 takes over labels and annotations as well; and a JSON
// patch, because a merge patch could not take away what the new status leaves out.
func (a *API) UpdateStatus(ctx context.Context, set *appsv1.DaemonSet) (*appsv1.DaemonSet, error) {
	patch, err := json.Marshal([]operation{
		{"add", "/metadata/uid", set.UID},
		{"add", "/metadata/resourceVersion", set.ResourceVersion},
		{"add", "/status", set.Status},
	})
	if err != nil {
		return nil, err
	}
	stored, err := a.client.AppsV1().DaemonSets(set.Namespace).
		Patch(ctx, set.Name, types.JSONPatchType, patch, metav1.PatchOptions{}, "status")
	return stored, clusterapi.PatchError(err, appsv1.Resource("daemonsets"), daemonset.Ref{Namespace: set.Namespace, Name: set.Name, UID: set.UID})
}

// operation is one step of a JSON patch (RFC 6902). "add" replaces what is there.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// RecordEvent hands the event to the recorder, which sends it when it can.
func (a *API) RecordEvent(_ context.Context, about daemonset.Ref, event daemonset.Event) {
	if a.recorder == nil {
		return
	}
	a.recorder.Event(&corev1.ObjectReference{
		APIVersion: appsv1.SchemeGroupVersion.String(),
		Kind:       string(daemonset.DaemonSetKind),
		Namespace:  about.Namespace,
		Name:       about.Name,
		UID:        about.UID,
	}, event.Type, event.Reason, event.Note)
}

// only keeps a delete from hitting a successor: with another UID it is a Conflict.
func only(uid types.UID) metav1.DeleteOptions {
	return *metav1.NewPreconditionDeleteOptions(string(uid))
}

// guard keeps a merge patch from hitting a successor: no API server changes a UID, and what
// it answers then is for the function successor.
func guard(mergePatch []byte, uid types.UID) ([]byte, error) {
	patch, meta := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if err := json.Unmarshal(mergePatch, &patch); err != nil {
		return nil, apierrors.NewBadRequest("the merge patch is no JSON object: " + err.Error())
	}
	if raw, ok := patch["metadata"]; ok {
		if err := json.Unmarshal(raw, &meta); err != nil {
			return nil, apierrors.NewBadRequest("the metadata of the merge patch is no JSON object: " + err.Error())
		}
	}
	quoted, err := json.Marshal(uid)
	if err != nil {
		return nil, err
	}
	if meta == nil {
		meta = map[string]json.RawMessage{}
	}
	meta["uid"] = quoted
	if patch["metadata"], err = json.Marshal(meta); err != nil {
		return nil, err
	}
	return json.Marshal(patch)
}
