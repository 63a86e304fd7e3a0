package upstream_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemonplan/daemonplan/examples/upstream"
)

// BenchmarkSideBySide makes stock syncs and plans of the same snapshot by turns, and reports
// how many times the plan's time, bytes and allocations a stock sync takes: of a plan made in
// a Scratch whose reports nobody reads, and of one with all that Compute gives.
//
// The turns are some calls long and begin with a garbage collection, so that each side pays
// for its own garbage. Of each side the shortest turn counts, because whatever else the
// machine does makes turns longer and none shorter.
func BenchmarkSideBySide(b *testing.B) {
	for _, state := range []string{"steady", "update"} {
		for _, affinity := range []string{"none", "exclusion"} {
			for _, nodes := range []int{100, 1000, 5000} {
				b.Run(fmt.Sprintf("state=%s/affinity=%s/nodes=%d", state, affinity, nodes), func(b *testing.B) {
					sideBySide(b, fleet(b, nodes, state == "update", affinity == "exclusion"))
				})
			}
		}
	}
}

func sideBySide(b *testing.B, s daemonset.Snapshot) {
	b.Helper()
	// A sync that acts makes the controller wait for its own writes, so that each one
	// needs a controller that has not acted yet.
	renew := func() *upstream.Controller {
		c, err := upstream.New(b.Context(), s, daemonset.DefaultBurst)
		require.NoError(b, err)
		return c
	}
	var scratch daemonset.Scratch
	controllers := make([]*upstream.Controller, turn)
	stock := side{call: func(i int) error { return controllers[i].Sync(b.Context()) }}
	plan := side{call: func(int) error { _, err := scratch.Compute(s, daemonset.Options{}); return err }}
	reported := side{call: func(int) error { _, err := daemonset.Compute(s, daemonset.Options{}); return err }}
	acts := len(s.Objects.Revisions) > 1
	c := renew()
	for b.Loop() {
		b.StopTimer()
		for i := range controllers {
			if controllers[i] = c; acts {
				controllers[i] = renew()
			}
		}
		b.StartTimer()
		stock.turn(b)
		plan.turn(b)
		reported.turn(b)
	}
	for suffix, our := range map[string]side{"": plan, "-with-reports": reported} {
		b.ReportMetric(stock.least.time.Seconds()/our.least.time.Seconds(), "times-faster"+suffix)
		b.ReportMetric(float64(stock.least.bytes)/float64(our.least.bytes), "times-fewer-bytes"+suffix)
		b.ReportMetric(float64(stock.least.allocs)/float64(our.least.allocs), "times-fewer-allocs"+suffix)
	}
	b.ReportMetric(stock.least.time.Seconds()*1e6/turn, "stock-µs")
	b.ReportMetric(plan.least.time.Seconds()*1e6/turn, "plan-µs")
}

// turn is how many calls one side makes before it is the other's turn.
const turn = 5

// side is one of those that are compared, with the least that a turn of it cost.
type side struct {
	call  func(i int) error
	least spent
}

// spent is what a turn takes.
type spent struct {
	time          time.Duration
	bytes, allocs uint64
}

func (s *side) turn(b *testing.B) {
	b.Helper()
	runtime.GC()
	from := soFar(b)
	for i := range turn {
		require.NoError(b, s.call(i))
	}
	to := soFar(b)
	s.least.time = least(s.least.time, to.time-from.time)
	s.least.bytes = least(s.least.bytes, to.bytes-from.bytes)
	s.least.allocs = least(s.least.allocs, to.allocs-from.allocs)
}

// least is the lesser of two costs, where zero stands for none yet.
func least[T ~int64 | ~uint64](a, b T) T {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// soFar is what the process has spent since some instant.
func soFar(b *testing.B) spent {
	b.Helper()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return spent{time: b.Elapsed(), bytes: memory.TotalAlloc, allocs: memory.Mallocs}
}

// fleet is a cluster with one available pod a node; outdated says that the pods carry an
// older revision, so that an update is due.
func fleet(b *testing.B, nodes int, outdated, affine bool) daemonset.Snapshot {
	b.Helper()
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	s := daemonset.Snapshot{Now: now}
	s.Objects.DaemonSet = daemonSet()
	if affine {
		s.Objects.DaemonSet.Spec.Template.Spec.Affinity = exclusion()
	}
	s.Objects.Revisions = []*appsv1.ControllerRevision{revisionOf(b, s)}
	hash := s.Objects.Revisions[0].Labels[appsv1.ControllerRevisionHashLabelKey]
	if outdated {
		s.Objects.DaemonSet.Spec.Template.Spec.Containers[0].Image = "registry.example/agent:v2"
		next := revisionOf(b, s)
		next.Revision = 2
		s.Objects.Revisions = append(s.Objects.Revisions, next)
	}
	for i := range nodes {
		name := fmt.Sprintf("node-%06d", i)
		s.Objects.Nodes = append(s.Objects.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Labels: map[string]string{
				"kubernetes.io/arch":               "amd64",
				"kubernetes.io/hostname":           name,
				"kubernetes.io/os":                 "linux",
				"node.kubernetes.io/instance-type": "m5.xlarge",
				"topology.kubernetes.io/region":    "region-1",
				"topology.kubernetes.io/zone":      fmt.Sprintf("zone-%d", i%3),
			},
		}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "pool", Value: "spot", Effect: corev1.TaintEffectNoSchedule}}}})
		s.Objects.Pods = append(s.Objects.Pods, pod(s.Objects.DaemonSet, name, hash, now))
	}
	plan, err := daemonset.Compute(s, daemonset.Options{})
	require.NoError(b, err)
	if plan.Status != nil {
		s.Objects.DaemonSet.Status = *plan.Status
	}
	if outdated {
		require.Len(b, plan.Deletes, min(daemonset.DefaultBurst, (nodes+9)/10), "the update must be under way")
	} else {
		require.Empty(b, plan.Deletes)
	}
	return s
}

func daemonSet() *appsv1.DaemonSet {
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "agent", UID: "set", Generation: 1}}
	labels := map[string]string{"app": "agent"}
	history := int32(10)
	unavailable, surge := percent("10%"), percent("0%")
	set.Spec = appsv1.DaemonSetSpec{
		Selector:             &metav1.LabelSelector{MatchLabels: labels},
		RevisionHistoryLimit: &history,
		UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
			Type:          appsv1.RollingUpdateDaemonSetStrategyType,
			RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &unavailable, MaxSurge: &surge},
		},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Tolerations: []corev1.Toleration{{Key: "pool", Operator: "Exists"}}, Containers: []corev1.Container{{Name: "agent", Image: "registry.example/agent:v1"}}},
		},
	}
	return set
}

func revisionOf(b *testing.B, s daemonset.Snapshot) *appsv1.ControllerRevision {
	b.Helper()
	s.Objects.Revisions = nil
	plan, err := daemonset.Compute(s, daemonset.Options{})
	require.NoError(b, err)
	return plan.Revisions[0].Revision
}

func pod(set *appsv1.DaemonSet, node, hash string, now time.Time) *corev1.Pod {
	owner := metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ops", Name: "agent-" + node, UID: types.UID("pod-" + node),
			Labels:            map[string]string{"app": "agent", appsv1.ControllerRevisionHashLabelKey: hash},
			OwnerReferences:   []metav1.OwnerReference{*owner},
			CreationTimestamp: metav1.NewTime(now.Add(-time.Hour)),
		},
		Spec: corev1.PodSpec{NodeName: node},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{
			Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-time.Hour)),
		}}},
	}
}

func percent(text string) intstr.IntOrString { return intstr.FromString(text) }

// exclusion keeps a set off a few kinds of node, as log shippers and node agents do.
func exclusion() *corev1.Affinity {
	term := corev1.NodeSelectorTerm{}
	for _, key := range []string{"example.com/a", "example.com/b", "example.com/c", "d", "e", "f"} {
		term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{
			Key: key, Operator: corev1.NodeSelectorOpNotIn, Values: []string{"true"},
		})
	}
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}},
	}}
}
