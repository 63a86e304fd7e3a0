package clusterapi_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/clusterapi"
)

// TestPatchError: only the answer that is about the UID means that the object is another one.
func TestPatchError(t *testing.T) {
	invalid := func(field string) error {
		err := apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), "pod", nil)
		err.ErrStatus.Details.Causes = []metav1.StatusCause{{Field: "metadata.name"}, {Field: field}}
		return err
	}
	tests := []struct {
		name     string
		give     error
		conflict bool
	}{
		{"none", nil, false},
		{"UID", invalid("metadata.uid"), true},
		{"UID, wrapped", fmt.Errorf("patch: %w", invalid("metadata.uid")), true},
		{"another field", invalid("metadata.labels"), false},
		{"a field of that name elsewhere", invalid("spec.uid"), false},
		{"another refusal", apierrors.NewBadRequest("metadata.uid"), false},
		{"no answer of a server", errors.New("metadata.uid"), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := clusterapi.PatchError(tt.give, corev1.Resource("pods"), refOf("pod", "uid"))
			require.Equal(t, tt.conflict, apierrors.IsConflict(got))
			if !tt.conflict {
				require.Equal(t, tt.give, got)
			}
		})
	}
}
