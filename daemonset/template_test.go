package daemonset_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/daemonset"
)

// TestHoldsTemplate: what is the same value is equal however it is written, and nothing else
// ever is.
func TestHoldsTemplate(t *testing.T) {
	set := &appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{Template: corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "a"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}}}
	const (
		meta = `"metadata":{"labels":{"app":"a"}}`
		spec = `"spec":{"containers":[{"image":"i","name":"c","resources":{}}]}`
	)
	template := func(parts ...string) string {
		return `{"spec":{"template":{` + strings.Join(parts, ",") + `}}}`
	}
	replace := `"$patch":"replace"`
	tests := []struct {
		name string
		give string
		want bool
	}{
		{"as Kubernetes writes it", template(replace, meta, spec), true},
		{"another key order", template(spec, meta, replace), true},
		{"a null that says nothing", template(replace, `"metadata":{"creationTimestamp":null,"labels":{"app":"a"}}`, spec), true},
		{"a null of an unknown field", template(replace, meta, spec, `"retired":null`), true},
		{"another image", template(replace, meta, strings.Replace(spec, `"i"`, `"j"`, 1)), false},
		{"an unknown field", template(replace, meta, spec, `"new":false`), false},
		{"a field in wrong case", template(replace, meta, `"Spec":{"containers":[{"image":"i","name":"c"}]}`), false},
		{"no directive", template(meta, spec), false},
		{"another directive", template(`"$patch":"delete"`, meta, spec), false},
		{"a directive that is taken back", template(replace, meta, spec, `"$patch":"merge"`), false},
		{"a spec that is taken back", template(replace, meta, spec, `"spec":{}`), false},
		{"a spec that becomes null", template(replace, meta, spec, `"spec":null`), false},
		{"metadata that is taken back", template(replace, meta, spec, `"metadata":{}`), false},
		{"labels that are taken back", template(replace, `"metadata":{"labels":{"app":"a"},"labels":{}}`, spec), false},
		{"containers that come twice", template(replace, meta, `"spec":{"containers":[{"image":"i","name":"c"}],"containers":[{"name":"c"}]}`), false},
		{"an image that becomes null", template(replace, meta, `"spec":{"containers":[{"image":"i","image":null,"name":"c"}]}`), false},
		{"the whole patch taken back", strings.TrimSuffix(template(replace, meta, spec), "}") + `,"spec":{}}`, false},
		{"an image that is corrected", template(replace, meta, `"spec":{"containers":[{"image":"x","image":"i","name":"c"}]}`), true},
		{"more after it", template(replace, meta, spec) + "{}", false},
		{"no JSON", "{", false},
		{"nothing", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			revision := &appsv1.ControllerRevision{}
			revision.Data.Raw = []byte(tt.give)
			got, _ := daemonset.HoldsTemplate(set, revision)
			require.Equal(t, tt.want, got, tt.give)
		})
	}
	_, err := daemonset.HoldsTemplate(nil, nil)
	require.Error(t, err)
	_, err = daemonset.HoldsTemplate(set, nil)
	require.Error(t, err)
}
