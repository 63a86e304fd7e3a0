package diff_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/diff"
)

// manifest is a set as it is written by hand.
func manifest() *appsv1.DaemonSet {
	labels := map[string]string{"app": "agent"}
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "agent"},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Image: "agent:1"}}},
			},
		},
	}
}

// stored is what a server made of the manifest, and what others did to it since.
func stored(t *testing.T) *appsv1.DaemonSet {
	t.Helper()
	set, err := diff.Apply(nil, manifest())
	require.NoError(t, err)
	set.UID, set.Generation, set.ResourceVersion = "uid-agent", 3, "7"
	set.Labels = map[string]string{"team": "a"}
	set.Annotations = map[string]string{appsv1.DeprecatedTemplateGeneration: "2", "note": "kept"}
	set.Spec.Template.Annotations = map[string]string{"kubectl.kubernetes.io/restartedAt": "today", "other": "x"}
	set.Status.NumberReady = 5
	return set
}

const lastApplied = `{"metadata":{"labels":{"team":"a"}},"spec":{"template":{"metadata":{"annotations":{"other":"x"}}}}}`

func TestApply(t *testing.T) {
	tests := []struct {
		name, why string
		stored    func(*appsv1.DaemonSet)
		manifest  func(*appsv1.DaemonSet)
		check     func(t *testing.T, got, was *appsv1.DaemonSet)
	}{
		{
			name: "annotations of the template without a note of what was applied",
			why:  "a rolling restart survives, what the manifest does not have goes",
			check: func(t *testing.T, got, _ *appsv1.DaemonSet) {
				t.Helper()
				assert.Equal(t, map[string]string{"kubectl.kubernetes.io/restartedAt": "today"}, got.Spec.Template.Annotations)
				assert.EqualValues(t, 4, got.Generation)
				assert.Equal(t, "3", got.Annotations[appsv1.DeprecatedTemplateGeneration], "the template is another")
			},
		},
		{
			name:   "annotations and labels with such a note",
			why:    "what was applied and is not in the manifest any more goes, what others wrote stays",
			stored: func(s *appsv1.DaemonSet) { s.Annotations[corev1.LastAppliedConfigAnnotation] = lastApplied },
			check: func(t *testing.T, got, _ *appsv1.DaemonSet) {
				t.Helper()
				assert.Empty(t, got.Labels)
				assert.Equal(t, map[string]string{"kubectl.kubernetes.io/restartedAt": "today"}, got.Spec.Template.Annotations)
				assert.Equal(t, "kept", got.Annotations["note"])
			},
		},
		{
			name: "a note that others' annotations are not in",
			why:  "an annotation of the template that no manifest had stays, and so nothing changes",
			stored: func(s *appsv1.DaemonSet) {
				s.Annotations[corev1.LastAppliedConfigAnnotation] = `{"spec":{}}`
			},
			check: func(t *testing.T, got, was *appsv1.DaemonSet) {
				t.Helper()
				assert.Equal(t, was.Spec, got.Spec)
				assert.EqualValues(t, 3, got.Generation)
				assert.Equal(t, "2", got.Annotations[appsv1.DeprecatedTemplateGeneration])
			},
		},
		{
			name: "identity and status",
			why:  "they are the server's",
			manifest: func(m *appsv1.DaemonSet) {
				m.UID, m.Generation, m.Status.NumberReady = "other", 99, 1
				m.Annotations = map[string]string{appsv1.DeprecatedTemplateGeneration: "77"}
			},
			check: func(t *testing.T, got, was *appsv1.DaemonSet) {
				t.Helper()
				assert.Equal(t, was.UID, got.UID)
				assert.Equal(t, was.ResourceVersion, got.ResourceVersion)
				assert.Equal(t, was.Status, got.Status)
				assert.Equal(t, "3", got.Annotations[appsv1.DeprecatedTemplateGeneration])
				assert.Equal(t, map[string]string{"team": "a"}, got.Labels, "without a note labels stay")
			},
		},
		{
			name:   "only the strategy",
			why:    "the generation counts every spec, the template generation templates only",
			stored: func(s *appsv1.DaemonSet) { s.Spec.Template.Annotations = nil },
			manifest: func(m *appsv1.DaemonSet) {
				m.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType
			},
			check: func(t *testing.T, got, _ *appsv1.DaemonSet) {
				t.Helper()
				assert.EqualValues(t, 4, got.Generation)
				assert.Equal(t, "2", got.Annotations[appsv1.DeprecatedTemplateGeneration])
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			was, given := stored(t), manifest()
			if tt.stored != nil {
				tt.stored(was)
			}
			if tt.manifest != nil {
				tt.manifest(given)
			}
			wasCopy, givenCopy := was.DeepCopy(), given.DeepCopy()
			got, err := diff.Apply(was, given)
			require.NoError(t, err, tt.why)
			tt.check(t, got, was)
			assert.Equal(t, wasCopy, was, "the stored set is only read")
			assert.Equal(t, givenCopy, given, "the manifest is only read")
		})
	}
}

func TestApplyRefuses(t *testing.T) {
	was := stored(t)
	other := manifest()
	other.Spec.Selector.MatchLabels = map[string]string{"app": "other"}
	_, err := diff.Apply(was, other)
	require.ErrorContains(t, err, "spec.selector of demo/agent differs")
	other = manifest()
	other.Name = "other"
	_, err = diff.Apply(was, other)
	require.ErrorContains(t, err, "the manifest is of demo/other")
	_, err = diff.Apply(was, nil)
	require.Error(t, err)
	got, err := diff.Apply(nil, manifest())
	require.NoError(t, err)
	assert.EqualValues(t, 1, got.Generation)
	assert.Equal(t, corev1.PullIfNotPresent, got.Spec.Template.Spec.Containers[0].ImagePullPolicy)
}

// TestFieldsLeaveDefaultsOut: a set that was built in code has no defaults, the applied one has.
func TestFieldsLeaveDefaultsOut(t *testing.T) {
	was, given := manifest(), manifest()
	given.Spec.Template.Spec.Containers[0].Image = "agent:2"
	applied, err := diff.Apply(was, given)
	require.NoError(t, err)
	r, err := diff.Snapshots(
		daemonset.Snapshot{Objects: daemonset.Objects{DaemonSet: was}},
		daemonset.Snapshot{Objects: daemonset.Objects{DaemonSet: applied}}, daemonset.Options{},
	)
	require.NoError(t, err)
	assert.Equal(t, []diff.Field{{Path: "spec.template.spec.containers[agent].image", Before: `"agent:1"`, After: `"agent:2"`}}, r.Spec)
	assert.True(t, r.Template.Changed)
}
