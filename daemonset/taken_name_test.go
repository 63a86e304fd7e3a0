package daemonset_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemonplan/daemonplan/daemonset"
)

// TestTakenName: the name of the revision that is to be created belongs to an object that is
// not ours, or is ours and holds another template.
func TestTakenName(t *testing.T) {
	other := func(r *appsv1.ControllerRevision) {
		r.Data.Raw = bytes.Replace(r.Data.Raw, []byte(":v3"), []byte(":v9"), 1)
	}
	stranger := func(r *appsv1.ControllerRevision) { r.OwnerReferences[0].UID = "uid-stranger" }
	tests := []struct {
		name       string
		why        string
		give       []func(r *appsv1.ControllerRevision)
		wantReason daemonset.Reason
	}{
		{
			"a stranger's of the same template", "two sets of one name and template name it alike; it serves both",
			[]func(*appsv1.ControllerRevision){stranger},
			"",
		},
		{
			"a stranger's of another template", "pods could not be told apart by its hash",
			[]func(*appsv1.ControllerRevision){stranger, other},
			daemonset.RevisionCollision,
		},
		{
			"ours of another template", "the hash collides with that of an old revision",
			[]func(*appsv1.ControllerRevision){other},
			daemonset.RevisionCollision,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := fleetCase(1, rolling(intstr.FromInt32(1), intstr.FromInt32(0)), currentPods)
			revisions := c.Snapshot.Objects.Revisions
			taken := revisions[len(revisions)-1]
			for _, change := range tt.give {
				change(taken)
			}
			plan, err := daemonset.Compute(c.Snapshot, c.Options)
			require.NoError(t, err)
			assert.Equal(t, tt.wantReason, plan.Reason, tt.why)
			assert.Empty(t, plan.Deletes)
			for _, change := range plan.Revisions {
				assert.NotEqual(t, daemonset.CreateRevision, change.Op)
			}
			if tt.wantReason == "" {
				assert.Equal(t, taken.Name, plan.Revision.Name)
				return
			}
			require.NotNil(t, plan.Status)
			require.NotNil(t, plan.Status.CollisionCount)
			assert.EqualValues(t, 1, *plan.Status.CollisionCount)
		})
	}
}
