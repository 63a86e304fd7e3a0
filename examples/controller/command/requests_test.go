package command_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// readReview returns the right that a review asks about: "create pods".
func readReview(r *http.Request) string {
	object, err := decode(r)
	if err != nil {
		return err.Error()
	}
	review, ok := object.(*authorizationv1.SelfSubjectAccessReview)
	if !ok || review.Spec.ResourceAttributes == nil {
		return "no review"
	}
	a := review.Spec.ResourceAttributes
	resource := a.Resource
	if a.Subresource != "" {
		resource += "/" + a.Subresource
	}
	return a.Verb + " " + resource
}

// decode reads the object that a request brings, in whatever form.
func decode(r *http.Request) (runtime.Object, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	return object, err
}

// readObject is decode for objects with metadata.
func readObject(t *testing.T, r *http.Request) metav1.Object {
	t.Helper()
	object, err := decode(r)
	if !assert.NoError(t, err) {
		return &metav1.ObjectMeta{}
	}
	described, ok := object.(metav1.Object)
	if !assert.True(t, ok) {
		return &metav1.ObjectMeta{}
	}
	return described
}
