package placement_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/placement"
)

func pinned(name string) *corev1.NodeSelector {
	return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
		fieldTerm(req("metadata.name", in, name)),
	}}
}

func TestPinTo(t *testing.T) {
	preferred := []corev1.PreferredSchedulingTerm{{Weight: 5, Preference: expressions(req("zone", in, "a"))}}
	podAffinity := &corev1.PodAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "zone"}},
	}
	antiAffinity := &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "host"}},
	}
	required := requiring(expressions(req("zone", in, "a")), expressions(req("zone", in, "b"))).Affinity.NodeAffinity
	tests := []struct {
		name string
		why  string
		give *corev1.Affinity
		want *corev1.Affinity
	}{
		{
			name: "nil",
			why:  "a nil affinity gives a new one",
			want: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: pinned("n")}},
		},
		{
			name: "required",
			why:  "every term of the required node affinity is replaced by the single one",
			give: &corev1.Affinity{NodeAffinity: required},
			want: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: pinned("n")}},
		},
		{
			name: "the rest",
			why:  "preferred node affinity, pod affinity and anti-affinity are kept",
			give: &corev1.Affinity{
				NodeAffinity: &corev1.NodeAffinity{
					RequiredDuringSchedulingIgnoredDuringExecution:  required.RequiredDuringSchedulingIgnoredDuringExecution,
					PreferredDuringSchedulingIgnoredDuringExecution: preferred,
				},
				PodAffinity:     podAffinity,
				PodAntiAffinity: antiAffinity,
			},
			want: &corev1.Affinity{
				NodeAffinity: &corev1.NodeAffinity{
					RequiredDuringSchedulingIgnoredDuringExecution:  pinned("n"),
					PreferredDuringSchedulingIgnoredDuringExecution: preferred,
				},
				PodAffinity:     podAffinity,
				PodAntiAffinity: antiAffinity,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := tt.give.DeepCopy()
			got := placement.PinTo(tt.give, "n")
			assert.Empty(t, cmp.Diff(tt.want, got), tt.why)
			scribble(got)
			assert.Empty(t, cmp.Diff(before, tt.give), "the argument is only read, and shares nothing with the result")
		})
	}
}

// scribble overwrites what is deepest in an affinity.
func scribble(a *corev1.Affinity) {
	for i := range a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
		a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution[i].Preference.MatchExpressions[0].Values[0] = "scribbled"
	}
	if a.PodAffinity != nil {
		a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey = "scribbled"
	}
	if a.PodAntiAffinity != nil {
		a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey = "scribbled"
	}
}

func TestTargetNode(t *testing.T) {
	name := func(operator corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorTerm {
		return fieldTerm(req("metadata.name", operator, values...))
	}
	bound := requiring(name(in, "pinned"))
	bound.NodeName = "bound"
	tests := []struct {
		name string
		why  string
		give corev1.PodSpec
		want string
		ok   bool
	}{
		{"neither", "a pod without either is on no node", corev1.PodSpec{}, "", false},
		{"bound", "spec.nodeName", corev1.PodSpec{NodeName: "bound"}, "bound", true},
		{"bound and pinned", "spec.nodeName comes first", bound, "bound", true},
		{"pinned", "else the field term", requiring(name(in, "pinned")), "pinned", true},
		{"later term", "terms are gone through in order", requiring(expressions(req("zone", has)), name(in, "pinned"), name(in, "other")), "pinned", true},
		{"later field", "so are the fields of a term", requiring(fieldTerm(req("metadata.name", notIn, "x"), req("metadata.uid", in, "x"), req("metadata.name", in, "pinned"))), "pinned", true},
		{"label of that name", "an expression is no field", requiring(expressions(req("metadata.name", in, "x"))), "", false},
		{"two names", "not a single name: no target, also if a later one would do", requiring(name(in, "a", "b"), name(in, "c")), "", false},
		{"no names", "not a single name: no target, also if a later one would do", requiring(name(in), name(in, "c")), "", false},
		{"empty name", "a name is not checked", requiring(name(in, "")), "", true},
		{"no required affinity", "absent", corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}}, "", false},
		{"no node affinity", "absent", corev1.PodSpec{Affinity: &corev1.Affinity{}}, "", false},
		{"no terms", "absent", requiring(), "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := placement.TargetNode(&corev1.Pod{Spec: tt.give})
			assert.Equal(t, tt.want, got, tt.why)
			assert.Equal(t, tt.ok, ok, tt.why)
		})
	}
	got, ok := placement.TargetNode(nil)
	assert.Equal(t, "", got)
	assert.False(t, ok, "no pod, no target")
}

// TestTargetNodeReadsPinTo: what is pinned is read back, and admits that node only.
func TestTargetNodeReadsPinTo(t *testing.T) {
	spec := requiring(expressions(req("zone", in, "a")))
	spec.Affinity = placement.PinTo(spec.Affinity, "n")
	got, ok := placement.TargetNode(&corev1.Pod{Spec: spec})
	assert.True(t, ok)
	assert.Equal(t, "n", got)
	m := placement.NewMatcher(&spec, placement.Options{})
	assert.Equal(t, placement.Run, m.Evaluate(node("n", nil)).Decision)
	assert.Equal(t, placement.Evict, m.Evaluate(node("m", set{"zone": "a"})).Decision)
}
