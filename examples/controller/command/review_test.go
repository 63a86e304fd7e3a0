package command_test

import (
	"io"
	"net/http"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

// readReview returns the right that a review asks about: "create pods".
func readReview(r *http.Request) string {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err.Error()
	}
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
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
