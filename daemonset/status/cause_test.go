package status_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/status"
)

func noon() time.Time { return time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC) }

func ago(d time.Duration) metav1.Time { return metav1.NewTime(noon().Add(-d)) }

// world is one node with one pod of a set that has one revision.
func world(t *testing.T, change func(pod *corev1.Pod, node *corev1.Node)) daemonset.Snapshot {
	t.Helper()
	labels := map[string]string{"app": "agent"}
	set := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "agent", UID: "uid", Generation: 1},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}},
		},
		Status: appsv1.DaemonSetStatus{ObservedGeneration: 1},
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", CreationTimestamp: ago(100 * time.Hour)}}
	plan, err := daemonset.Compute(daemonset.Snapshot{Objects: daemonset.Objects{DaemonSet: set}}, daemonset.Options{})
	require.NoError(t, err)
	revision := plan.Revisions[0].Revision
	revision.CreationTimestamp = ago(100 * time.Hour)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "demo", Name: "p", UID: "p", CreationTimestamp: ago(time.Hour),
			Labels:          map[string]string{"app": "agent", appsv1.ControllerRevisionHashLabelKey: plan.Revision.Hash},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))},
		},
		Spec: corev1.PodSpec{NodeName: "a"},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, StartTime: new(ago(time.Hour)),
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: ago(time.Hour), Reason: "ContainersNotReady"}},
		},
	}
	change(pod, node)
	return daemonset.Snapshot{Now: noon(), Objects: daemonset.Objects{
		DaemonSet: set, Nodes: []*corev1.Node{node}, Pods: []*corev1.Pod{pod}, Revisions: []*appsv1.ControllerRevision{revision},
	}}
}

func waiting(reason string) func(*corev1.Pod, *corev1.Node) {
	return func(pod *corev1.Pod, _ *corev1.Node) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{
			{Name: "fine"},
			{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "so it is"}}},
		}
	}
}

func TestCauses(t *testing.T) {
	tests := []struct {
		name, why string
		change    func(*corev1.Pod, *corev1.Node)
		cause     status.Cause
		text      string
		since     time.Duration // ago
		again     bool
		counts    func(status.Counts) int // is 1
	}{
		{name: "crash loop", change: waiting("CrashLoopBackOff"), cause: status.CrashLoop, text: "container main: CrashLoopBackOff: so it is", since: time.Hour, counts: func(c status.Counts) int { return c.CrashLoop }},
		{name: "image", change: waiting("ImagePullBackOff"), cause: status.ImagePull, text: "container main: ImagePullBackOff: so it is", since: time.Hour, counts: func(c status.Counts) int { return c.ImagePull }},
		{name: "config", change: waiting("CreateContainerConfigError"), cause: status.BadConfig, text: "container main: CreateContainerConfigError: so it is", since: time.Hour},
		{name: "creating", why: "that is on its way, and says nothing", change: waiting("ContainerCreating"), cause: status.NotReady, text: "ContainersNotReady", since: time.Hour},
		{
			name: "init container", why: "what comes first counts first", since: time.Hour, cause: status.ImagePull, text: "container init: ErrImagePull",
			change: func(pod *corev1.Pod, _ *corev1.Node) {
				pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "init", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull"}}}}
			},
		},
		{
			name: "pending", since: time.Hour, cause: status.NotStarted,
			change: func(pod *corev1.Pod, _ *corev1.Node) { pod.Status.Phase = corev1.PodPending },
		},
		{
			name: "was ready", why: "the condition changed after the kubelet took the pod over", since: 20 * time.Minute, again: true, cause: status.NotReady, text: "ContainersNotReady",
			change: func(pod *corev1.Pod, _ *corev1.Node) {
				pod.Status.Conditions[0].LastTransitionTime = ago(20 * time.Minute)
			},
			counts: func(c status.Counts) int { return c.Lost },
		},
		{
			name: "node down", why: "nothing on a dead node is the pod's fault", since: time.Hour, cause: status.NodeDown, text: "the node's condition Ready is Unknown, NodeStatusUnknown",
			change: func(_ *corev1.Pod, node *corev1.Node) {
				node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown"}}
			},
			counts: func(c status.Counts) int { return c.NodesDown },
		},
		{
			name: "unscheduled", since: time.Hour, cause: status.Unscheduled, text: "Unschedulable: 0/1 nodes are available",
			change: func(pod *corev1.Pod, _ *corev1.Node) {
				pod.Spec = corev1.PodSpec{Affinity: pinnedTo("a")}
				pod.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
					{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/1 nodes are available"},
				}}
			},
			counts: func(c status.Counts) int { return c.Unscheduled },
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := status.Of(world(t, tt.change), status.Options{})
			require.NoError(t, err)
			require.Len(t, r.Troubles, 1)
			got := r.Troubles[0]
			assert.Equal(t, tt.cause, got.Cause, tt.why)
			assert.Equal(t, tt.text, got.Text)
			assert.Equal(t, noon().Add(-tt.since), got.Since)
			assert.Equal(t, tt.again, got.Again)
			assert.True(t, got.Over)
			assert.Equal(t, status.Stuck, r.Phase)
			assert.Equal(t, status.Repairing, r.Activity)
			if tt.counts != nil {
				assert.Equal(t, 1, tt.counts(r.Counts))
			}
			one := status.Describe(r, 0)
			assert.Contains(t, one, "and 1 more in trouble")
		})
	}
}

func pinnedTo(node string) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
			{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}},
		}}},
	}}}
}

// TestANodeThatIsNewLostNothing, and one that has been there for long did.
func TestANodeThatIsNewLostNothing(t *testing.T) {
	for age, want := range map[time.Duration]int{9 * time.Minute: 0, 10 * time.Minute: 1} {
		s := world(t, func(_ *corev1.Pod, node *corev1.Node) { node.CreationTimestamp = ago(age) })
		s.Objects.Pods = nil
		r, err := status.Of(s, status.Options{})
		require.NoError(t, err)
		assert.Equal(t, want, r.Counts.Lost)
		assert.Equal(t, status.Progressing, r.Phase)
		assert.Equal(t, status.Repairing, r.Activity)
	}
}
