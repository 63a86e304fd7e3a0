package daemonset_test

import (
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/rollout"
)

// setClock is an instant at which the wall clock has been set to another time: what time.Now
// returns then. The monotonic reading goes on as if nothing had happened.
func setClock(now time.Time, by time.Duration) time.Time {
	set := now.Add(by)
	monotonic := (*int64)(unsafe.Add(unsafe.Pointer(&set), unsafe.Sizeof(uint64(0)))) //nolint:gosec // nothing else can set a clock
	*monotonic -= int64(by)
	return set
}

// waitingObjects is a set whose one pod has been ready for less than minReadySeconds.
func waitingObjects(ready time.Time) daemonset.Objects {
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "agent", UID: "set"}}
	set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "agent"}}
	set.Spec.Template.Labels = map[string]string{"app": "agent"}
	set.Spec.MinReadySeconds = 60
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "agent-1", UID: "pod", Labels: set.Spec.Template.Labels,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))},
	}}
	pod.Spec.NodeName = "a"
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(ready)}}
	return daemonset.Objects{
		DaemonSet: set,
		Nodes:     []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "a"}}},
		Pods:      []*corev1.Pod{pod},
	}
}

// TestPlannerClockSet: objects know wall time only, so a wall clock that is set back counts,
// whatever the monotonic reading that time.Now adds says.
func TestPlannerClockSet(t *testing.T) {
	now := time.Now() //nolint:forbidigo // its monotonic reading is the point
	objects := waitingObjects(now.Add(-time.Minute).Round(0))
	planner := daemonset.NewPlanner(daemonset.Options{})
	planner.SetDaemonSet(objects.DaemonSet)
	planner.PutNode(objects.Nodes[0])
	planner.PutPod(objects.Pods[0])
	for _, step := range []struct {
		now  time.Time
		want rollout.Health
	}{
		{now, rollout.Available},
		{setClock(now.Add(time.Second), -30*time.Second), rollout.Ready},
		{setClock(now.Add(2*time.Second), -time.Second), rollout.Available},
		{setClock(now.Add(3*time.Second), -4*time.Second), rollout.Ready},
		{setClock(now.Add(4*time.Second), time.Hour), rollout.Available},
	} {
		plan, err := planner.Plan(daemonset.Moment{Now: step.now})
		require.NoError(t, err)
		want, err := daemonset.Compute(daemonset.Snapshot{Objects: objects, Now: step.now.Round(0)}, daemonset.Options{})
		require.NoError(t, err)
		plan.Nodes = planner.Nodes()
		require.Equal(t, want, plan)
		require.Equal(t, step.want, plan.Nodes[0].Pods[0].Health)
	}
}

// TestPlannerPastWhatJSONHolds: an instant that no plan can name comes all the same.
func TestPlannerPastWhatJSONHolds(t *testing.T) {
	now := time.Date(9999, time.December, 31, 23, 59, 30, 0, time.UTC)
	objects := waitingObjects(now)
	planner := daemonset.NewPlanner(daemonset.Options{})
	planner.SetDaemonSet(objects.DaemonSet)
	planner.PutNode(objects.Nodes[0])
	planner.PutPod(objects.Pods[0])
	for _, step := range []struct {
		passed time.Duration
		want   rollout.Health
	}{{0, rollout.Ready}, {time.Minute - 1, rollout.Ready}, {time.Minute, rollout.Available}} {
		_, err := planner.Plan(daemonset.Moment{Now: now.Add(step.passed)})
		require.NoError(t, err)
		report, _ := planner.Node("a")
		require.Equal(t, step.want, report.Pods[0].Health, step.passed)
	}
}

// TestPlanHoldsNoMonotonicReading: a plan is the same after its snapshot went through JSON,
// which keeps wall time only.
func TestPlanHoldsNoMonotonicReading(t *testing.T) {
	now := time.Now() //nolint:forbidigo // its monotonic reading is the point
	s := daemonset.Snapshot{Objects: waitingObjects(now.Round(0)), Now: now}
	plan, err := daemonset.Compute(s, daemonset.Options{})
	require.NoError(t, err)
	s.Now = now.Round(0)
	want, err := daemonset.Compute(s, daemonset.Options{})
	require.NoError(t, err)
	require.Equal(t, want, plan)
}

// TestBeforeYearOne: without minReadySeconds a pod that is ready is available, at any time.
func TestBeforeYearOne(t *testing.T) {
	objects := waitingObjects(time.Time{})
	objects.DaemonSet.Spec.MinReadySeconds = 0
	plan, err := daemonset.Compute(daemonset.Snapshot{Objects: objects, Now: time.Time{}.Add(-time.Second)}, daemonset.Options{})
	require.NoError(t, err)
	require.Equal(t, rollout.Available, plan.Nodes[0].Pods[0].Health)
}
