package daemonset_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/daemonset"
)

// TestAdoptedRevisionHasOneReference: a revision that names the set as an owner, not as its
// controller, and that is adopted and rewritten in one plan, ends with one reference to it.
func TestAdoptedRevisionHasOneReference(t *testing.T) {
	_, sets := crowd(1)
	snapshot := daemonset.Snapshot{Objects: daemonset.Objects{DaemonSet: sets[0]}, Now: time.Unix(0, 0)}
	plan, err := daemonset.Compute(snapshot, daemonset.Options{})
	require.NoError(t, err)
	require.Len(t, plan.Revisions, 1)

	revision := plan.Revisions[0].Revision
	revision.UID = "revision"
	delete(revision.Labels, appsv1.ControllerRevisionHashLabelKey)
	other := metav1.OwnerReference{APIVersion: "v1", Kind: "Else", Name: "else", UID: "else"}
	ours := revision.OwnerReferences[0]
	plain := ours
	plain.Controller, plain.BlockOwnerDeletion = nil, nil
	revision.OwnerReferences = []metav1.OwnerReference{plain, other}
	snapshot.Objects.Revisions = []*appsv1.ControllerRevision{revision}

	plan, err = daemonset.Compute(snapshot, daemonset.Options{})
	require.NoError(t, err)
	require.Len(t, plan.Claims, 1)
	require.Len(t, plan.Revisions, 1)
	require.Equal(t, []metav1.OwnerReference{other, ours}, plan.Revisions[0].Revision.OwnerReferences)
	require.Equal(t, []metav1.OwnerReference{plain, other}, revision.OwnerReferences, "the snapshot is only read")
}
