package controllerruntime

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/daemonset"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// CreatePod implements clusterapi.Writer.
func (a *API) CreatePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	stored := pod.DeepCopy()
	if err := a.client.Create(ctx, stored); err != nil {
		return nil, err
	}
	return stored, nil
}

// PatchPod implements clusterapi.Writer.
func (a *API) PatchPod(ctx context.Context, ref daemonset.Ref, mergePatch []byte) (*corev1.Pod, error) {
	pod := &corev1.Pod{ObjectMeta: named(ref)}
	if err := a.patch(ctx, pod, ref, mergePatch); err != nil {
		return nil, clusterapi.PatchError(err, corev1.Resource("pods"), ref)
	}
	return pod, nil
}

// DeletePod implements clusterapi.Writer.
func (a *API) DeletePod(ctx context.Context, ref daemonset.Ref) error {
	return a.delete(ctx, &corev1.Pod{ObjectMeta: named(ref)}, ref)
}

// CreateRevision implements clusterapi.Writer.
func (a *API) CreateRevision(ctx context.Context, revision *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
	stored := revision.DeepCopy()
	if err := a.client.Create(ctx, stored); err != nil {
		return nil, err
	}
	return stored, nil
}

// UpdateRevision implements clusterapi.Writer.
func (a *API) UpdateRevision(ctx context.Context, revision *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
	stored := revision.DeepCopy()
	if err := a.client.Update(ctx, stored); err != nil {
		return nil, err
	}
	return stored, nil
}

// PatchRevision implements clusterapi.Writer.
func (a *API) PatchRevision(ctx context.Context, ref daemonset.Ref, mergePatch []byte) (*appsv1.ControllerRevision, error) {
	revision := &appsv1.ControllerRevision{ObjectMeta: named(ref)}
	if err := a.patch(ctx, revision, ref, mergePatch); err != nil {
		return nil, clusterapi.PatchError(err, appsv1.Resource("controllerrevisions"), ref)
	}
	return revision, nil
}

// DeleteRevision implements clusterapi.Writer.
func (a *API) DeleteRevision(ctx context.Context, ref daemonset.Ref) error {
	return a.delete(ctx, &appsv1.ControllerRevision{ObjectMeta: named(ref)}, ref)
}

// UpdateStatus implements clusterapi.Writer.
func (a *API) UpdateStatus(ctx context.Context, set *appsv1.DaemonSet) (*appsv1.DaemonSet, error) {
	stored := set.DeepCopy()
	if err := a.client.SubResource("status").Update(ctx, stored); err != nil {
		return nil, err
	}
	return stored, nil
}

func (a *API) delete(ctx context.Context, obj client.Object, ref daemonset.Ref) error {
	if ref.UID == "" {
		return errNoUID(ref)
	}
	return a.client.Delete(ctx, obj, client.Preconditions{UID: &ref.UID})
}

func (a *API) patch(ctx context.Context, obj client.Object, ref daemonset.Ref, mergePatch []byte) error {
	if ref.UID == "" {
		return errNoUID(ref)
	}
	guarded, err := guardPatch(mergePatch, ref.UID)
	if err != nil {
		return err
	}
	return a.client.Patch(ctx, obj, client.RawPatch(types.MergePatchType, guarded))
}

// errNoUID refuses a write that the server would carry out on whatever has the name.
func errNoUID(ref daemonset.Ref) error {
	return apierrors.NewBadRequest(fmt.Sprintf("the reference to %s/%s has no UID", ref.Namespace, ref.Name))
}

// guardPatch adds the UID to a merge patch, which no API server changes. What it answers to
// one that is not the stored one is for the function successor.
func guardPatch(mergePatch []byte, uid types.UID) ([]byte, error) {
	var patch, metadata map[string]json.RawMessage // raw, so that numbers stay as they are
	if err := json.Unmarshal(mergePatch, &patch); err != nil {
		return nil, errPatch(err)
	}
	if given, ok := patch["metadata"]; ok {
		if err := json.Unmarshal(given, &metadata); err != nil {
			return nil, errPatch(err)
		}
	}
	if metadata == nil {
		metadata = map[string]json.RawMessage{}
	}
	if patch == nil {
		patch = map[string]json.RawMessage{}
	}
	var err error
	if metadata["uid"], err = json.Marshal(uid); err != nil {
		return nil, errPatch(err)
	}
	if patch["metadata"], err = json.Marshal(metadata); err != nil {
		return nil, errPatch(err)
	}
	return json.Marshal(patch)
}

func errPatch(err error) error {
	return apierrors.NewBadRequest("the merge patch is not an object with object metadata: " + err.Error())
}
