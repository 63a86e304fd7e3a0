package fake

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func revisionRules() rules[*appsv1.ControllerRevision] {
	r := rulesOf[*appsv1.ControllerRevision](RevisionKind, schema.GroupResource{Group: appsv1.GroupName, Resource: "controllerrevisions"})
	r.validate = func(revision *appsv1.ControllerRevision) field.ErrorList {
		errs := validation.ValidateNonnegativeField(revision.Revision, field.NewPath("revision"))
		var data map[string]any
		switch err := json.Unmarshal(revision.Data.Raw, &data); {
		case len(revision.Data.Raw) == 0 || err == nil && data == nil:
			errs = append(errs, field.Required(field.NewPath("data"), "data is mandatory"))
		case err != nil:
			errs = append(errs, field.Invalid(field.NewPath("data"), "", "not a JSON object: "+err.Error()))
		}
		return errs
	}
	r.transition = func(revision, stored *appsv1.ControllerRevision) field.ErrorList {
		return validation.ValidateImmutableField(revision.Data, stored.Data, field.NewPath("data"))
	}
	return r
}
