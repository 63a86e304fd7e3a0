package controllerruntime

import (
	"fmt"
	"slices"

	"github.com/daemonplan/daemonplan/daemonset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// successor makes a Conflict of what an API server of v1.37.2 answers to a patch with
// another UID than the stored one. It takes that for a change of a field that cannot be
// changed, which is Invalid. Other errors are returned as they are.
func successor(err error, resource schema.GroupResource, ref daemonset.Ref) error {
	status, ok := err.(apierrors.APIStatus)
	if !ok || !apierrors.IsInvalid(err) || status.Status().Details == nil {
		return err
	}
	causes := status.Status().Details.Causes
	if !slices.ContainsFunc(causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" }) {
		return err
	}
	return apierrors.NewConflict(resource, ref.Name, fmt.Errorf("it has another UID than %s: %w", ref.UID, err))
}
