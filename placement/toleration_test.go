package placement_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/placement"
)

const (
	noSchedule = corev1.TaintEffectNoSchedule
	noExecute  = corev1.TaintEffectNoExecute
)

func defaults() []corev1.Toleration {
	return []corev1.Toleration{
		exists("node.kubernetes.io/not-ready", noExecute),
		exists("node.kubernetes.io/unreachable", noExecute),
		exists("node.kubernetes.io/disk-pressure", noSchedule),
		exists("node.kubernetes.io/memory-pressure", noSchedule),
		exists("node.kubernetes.io/pid-pressure", noSchedule),
		exists("node.kubernetes.io/unschedulable", noSchedule),
	}
}

func TestTolerations(t *testing.T) {
	own := exists("own", noSchedule)
	timed := exists("node.kubernetes.io/not-ready", noExecute)
	timed.TolerationSeconds = new(int64(300))
	tests := []struct {
		name string
		why  string
		give *corev1.PodSpec
		want []corev1.Toleration
	}{
		{"nil", "a nil spec is the empty spec", nil, defaults()},
		{"empty", "six defaults, in upstream's order", &corev1.PodSpec{}, defaults()},
		{
			"host network", "network-unavailable only with hostNetwork",
			&corev1.PodSpec{HostNetwork: true},
			append(defaults(), exists("node.kubernetes.io/network-unavailable", noSchedule)),
		},
		{
			"own first", "the template's entries come first, as they are",
			&corev1.PodSpec{Tolerations: []corev1.Toleration{own, own}},
			append([]corev1.Toleration{own, own}, defaults()...),
		},
		{
			"replaced in place", "an equal entry is replaced where it stands, its tolerationSeconds is lost",
			&corev1.PodSpec{Tolerations: []corev1.Toleration{timed, own}},
			append([]corev1.Toleration{defaults()[0], own}, defaults()[1:]...),
		},
		{
			"every equal entry", "all of them are replaced, also when one is equal to the default already",
			&corev1.PodSpec{Tolerations: []corev1.Toleration{timed, own, defaults()[0], timed}},
			append([]corev1.Toleration{defaults()[0], own, defaults()[0], defaults()[0]}, defaults()[1:]...),
		},
		{
			"another effect", "an entry of another effect, value or operator is another entry",
			&corev1.PodSpec{Tolerations: []corev1.Toleration{
				{Key: timed.Key, Operator: timed.Operator, TolerationSeconds: timed.TolerationSeconds},
				{Key: timed.Key, Effect: noExecute},
				{Key: timed.Key, Operator: timed.Operator, Effect: noExecute, Value: "x"},
			}},
			append([]corev1.Toleration{
				{Key: timed.Key, Operator: timed.Operator, TolerationSeconds: timed.TolerationSeconds},
				{Key: timed.Key, Effect: noExecute},
				{Key: timed.Key, Operator: timed.Operator, Effect: noExecute, Value: "x"},
			}, defaults()...),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := tt.give.DeepCopy()
			assert.Empty(t, cmp.Diff(tt.want, placement.Tolerations(tt.give)), tt.why)
			assert.Empty(t, cmp.Diff(before, tt.give), "the spec is only read")
		})
	}
}

func TestTolerationsBelongToTheCaller(t *testing.T) {
	seconds := int64(30)
	spec := tolerating(corev1.Toleration{Key: "a", TolerationSeconds: &seconds})
	got := placement.Tolerations(&spec)
	*got[0].TolerationSeconds = 1
	got[0].Key = "b"
	assert.Equal(t, int64(30), seconds)
	assert.Equal(t, "a", spec.Tolerations[0].Key)
}

func TestDefaultTolerationsAreInForce(t *testing.T) {
	tests := []struct {
		why         string
		taint       string
		hostNetwork bool
		want        placement.Decision
	}{
		{"not-ready NoExecute", "node.kubernetes.io/not-ready:NoExecute", false, placement.Run},
		{"not-ready NoSchedule is not among them", "node.kubernetes.io/not-ready:NoSchedule", false, placement.Keep},
		{"unreachable NoExecute", "node.kubernetes.io/unreachable:NoExecute", false, placement.Run},
		{"unreachable NoSchedule is not among them", "node.kubernetes.io/unreachable:NoSchedule", false, placement.Keep},
		{"disk-pressure", "node.kubernetes.io/disk-pressure:NoSchedule", false, placement.Run},
		{"memory-pressure", "node.kubernetes.io/memory-pressure:NoSchedule", false, placement.Run},
		{"pid-pressure", "node.kubernetes.io/pid-pressure:NoSchedule", false, placement.Run},
		{"unschedulable", "node.kubernetes.io/unschedulable:NoSchedule", false, placement.Run},
		{"unschedulable NoExecute is not among them", "node.kubernetes.io/unschedulable:NoExecute", false, placement.Evict},
		{"network-unavailable only with hostNetwork", "node.kubernetes.io/network-unavailable:NoSchedule", false, placement.Keep},
		{"network-unavailable with hostNetwork", "node.kubernetes.io/network-unavailable:NoSchedule", true, placement.Run},
		{"out-of-service is not among them", "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute", false, placement.Evict},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			spec := &corev1.PodSpec{HostNetwork: tt.hostNetwork}
			got := placement.NewMatcher(spec, placement.Options{}).Evaluate(node("n", nil, tt.taint))
			assert.Equal(t, tt.want, got.Decision)
		})
	}
}

func TestTolerationMatching(t *testing.T) {
	const equal, gt, lt = corev1.TolerationOpEqual, corev1.TolerationOpGt, corev1.TolerationOpLt
	const anyOp = corev1.TolerationOpExists
	compare := placement.Options{ComparisonTolerations: true}
	tests := []struct {
		name  string
		why   string
		give  corev1.Toleration
		taint string
		opts  placement.Options
		want  bool
	}{
		{name: "exact", why: "key, value and effect agree", give: corev1.Toleration{Key: "k", Operator: equal, Value: "v", Effect: noSchedule}, taint: "k=v:NoSchedule", want: true},
		{name: "default operator", why: "the default operator is Equal", give: corev1.Toleration{Key: "k", Value: "v"}, taint: "k=v:NoSchedule", want: true},
		{name: "default operator, other value", why: "the default operator is Equal", give: corev1.Toleration{Key: "k"}, taint: "k=v:NoSchedule"},
		{name: "other value", why: "Equal compares the value", give: corev1.Toleration{Key: "k", Operator: equal, Value: "w"}, taint: "k=v:NoSchedule"},
		{name: "other key", why: "the key is compared", give: exists("l", ""), taint: "k=v:NoSchedule"},
		{name: "other effect", why: "the effect is compared", give: exists("k", noExecute), taint: "k=v:NoSchedule"},
		{name: "empty effect", why: "an empty effect covers all effects", give: exists("k", ""), taint: "k=v:NoExecute", want: true},
		{name: "Exists", why: "Exists covers every value", give: exists("k", noSchedule), taint: "k=v:NoSchedule", want: true},
		{name: "Exists with a value", why: "Exists does not look at its value", give: corev1.Toleration{Key: "k", Operator: anyOp, Value: "w"}, taint: "k=v:NoSchedule", want: true},
		{name: "empty key, Exists", why: "an empty key with Exists covers all keys", give: exists("", ""), taint: "k=v:NoExecute", want: true},
		{name: "empty key, Exists, effect", why: "an empty key with Exists covers all keys of the effect only", give: exists("", noExecute), taint: "k=v:NoSchedule"},
		{name: "empty key, Equal", why: "the API server refuses it, upstream's code compares the value alone", give: corev1.Toleration{Operator: equal, Value: "v"}, taint: "k=v:NoSchedule", want: true},
		{name: "unknown operator", why: "an operator that is not known tolerates nothing", give: corev1.Toleration{Key: "k", Operator: "Like", Value: "v"}, taint: "k=v:NoSchedule"},
		{name: "Gt off", why: "Gt is off by default", give: corev1.Toleration{Key: "k", Operator: gt, Value: "1"}, taint: "k=2:NoSchedule"},
		{name: "Lt off", why: "Lt is off by default", give: corev1.Toleration{Key: "k", Operator: lt, Value: "3"}, taint: "k=2:NoSchedule"},
		{name: "Gt", why: "the taint is greater than the toleration", give: corev1.Toleration{Key: "k", Operator: gt, Value: "9"}, taint: "k=10:NoSchedule", opts: compare, want: true},
		{name: "Gt equal", why: "Gt is strict", give: corev1.Toleration{Key: "k", Operator: gt, Value: "10"}, taint: "k=10:NoSchedule", opts: compare},
		{name: "Gt negative", why: "negative integers compare too", give: corev1.Toleration{Key: "k", Operator: gt, Value: "-10"}, taint: "k=-9:NoSchedule", opts: compare, want: true},
		{name: "Lt", why: "the taint is less than the toleration", give: corev1.Toleration{Key: "k", Operator: lt, Value: "10"}, taint: "k=9:NoSchedule", opts: compare, want: true},
		{name: "Lt equal", why: "Lt is strict", give: corev1.Toleration{Key: "k", Operator: lt, Value: "10"}, taint: "k=10:NoSchedule", opts: compare},
		{name: "Lt word", why: "a taint that is no integer is not tolerated", give: corev1.Toleration{Key: "k", Operator: lt, Value: "10"}, taint: "k=v:NoSchedule", opts: compare},
		{name: "Lt of a word", why: "a toleration that is no integer tolerates nothing, it is not 0", give: corev1.Toleration{Key: "k", Operator: lt, Value: "v"}, taint: "k=-1:NoSchedule", opts: compare},
		{name: "leading zero", why: "taints are read strictly, unlike labels", give: corev1.Toleration{Key: "k", Operator: lt, Value: "10"}, taint: "k=09:NoSchedule", opts: compare},
		{name: "plus sign", why: "taints are read strictly, unlike labels", give: corev1.Toleration{Key: "k", Operator: lt, Value: "10"}, taint: "k=+9:NoSchedule", opts: compare},
		{name: "negative zero", why: "taints are read strictly, unlike labels", give: corev1.Toleration{Key: "k", Operator: lt, Value: "10"}, taint: "k=-0:NoSchedule", opts: compare},
		{name: "zero", why: "zero is an integer", give: corev1.Toleration{Key: "k", Operator: lt, Value: "1"}, taint: "k=0:NoSchedule", opts: compare, want: true},
		{name: "largest", why: "64 bits", give: corev1.Toleration{Key: "k", Operator: gt, Value: "9223372036854775806"}, taint: "k=9223372036854775807:NoSchedule", opts: compare, want: true},
		{name: "too large", why: "beyond 64 bits is no integer", give: corev1.Toleration{Key: "k", Operator: gt, Value: "0"}, taint: "k=9223372036854775808:NoSchedule", opts: compare},
		{name: "smallest", why: "64 bits", give: corev1.Toleration{Key: "k", Operator: lt, Value: "-9223372036854775807"}, taint: "k=-9223372036854775808:NoSchedule", opts: compare, want: true},
		{name: "too small", why: "beyond 64 bits is no integer", give: corev1.Toleration{Key: "k", Operator: lt, Value: "0"}, taint: "k=-9223372036854775809:NoSchedule", opts: compare},
		{name: "wraps around", why: "beyond 64 bits is no integer, also where arithmetic wraps to a small one", give: corev1.Toleration{Key: "k", Operator: gt, Value: "0"}, taint: "k=18446744073709551617:NoSchedule", opts: compare},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			spec := tolerating(tt.give)
			got := placement.NewMatcher(&spec, tt.opts).Evaluate(node("n", nil, tt.taint))
			assert.Equal(t, tt.want, got.Decision == placement.Run, tt.why)
		})
	}
}

// TestSecondTolerationIsEnough: one toleration of several has to cover a taint, and each
// taint may have another one.
func TestSecondTolerationIsEnough(t *testing.T) {
	spec := tolerating(exists("a", noSchedule), exists("b", noExecute))
	m := placement.NewMatcher(&spec, placement.Options{})
	assert.Equal(t, placement.Run, m.Evaluate(node("n", nil, "b:NoExecute", "a:NoSchedule")).Decision)
	got := m.Evaluate(node("n", nil, "b:NoExecute", "c:NoSchedule"))
	require.Len(t, got.Findings, 1)
	assert.Equal(t, "c", got.Findings[0].Taint.Key)
}
