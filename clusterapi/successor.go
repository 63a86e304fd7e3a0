package clusterapi

import (
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/daemonplan/daemonplan/daemonset"
)

// PatchError is for adapters that guard patches by a UID: it makes a Conflict of what an API
// server of Kubernetes v1.37.2 answers to a patch with another UID than the stored one. The
// server takes that for a change of a field that cannot be changed, which is Invalid. Other
// errors, and nil, are returned as they are. ref is the object that was to be patched.
func PatchError(err error, resource schema.GroupResource, ref daemonset.Ref) error {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return err
	}
	causes := status.Status().Details.Causes
	if !slices.ContainsFunc(causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" }) {
		return err
	}
	return apierrors.NewConflict(resource, ref.Name, fmt.Errorf("it has another UID than %s: %w", ref.UID, err))
}
