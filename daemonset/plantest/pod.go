package plantest

import (
	"maps"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/daemonset"
)

// Now is the time of every snapshot.
func Now() time.Time { return time.Date(2026, time.March, 10, 12, 0, 0, 0, time.UTC) }

// anHourAgo is when whatever has no other age began.
func anHourAgo() metav1.Time { return metav1.NewTime(Now().Add(-time.Hour)) }

// PodOption changes a pod that is being built.
type PodOption func(*corev1.Pod)

// Pod builds a pod as the set would have created it, bound to the node, which need not exist.
// It is an hour old and has been ready nearly as long. Its name is the set's and the node's,
// with "-" between them. A pod of another state of the set, of another image say, is of
// another revision.
func Pod(of *appsv1.DaemonSet, node string, options ...PodOption) *corev1.Pod {
	name := of.Name + "-" + node
	labels := maps.Clone(of.Spec.Template.Labels)
	labels[appsv1.ControllerRevisionHashLabelKey] = revisionOf(of).Labels[appsv1.ControllerRevisionHashLabelKey]
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: of.Namespace, Name: name, UID: types.UID("pod-" + name), Labels: labels, CreationTimestamp: anHourAgo(),
			OwnerReferences: []metav1.OwnerReference{daemonset.Ref{Name: of.Name, UID: of.UID}.ControllerReference()},
		},
		Spec: *of.Spec.Template.Spec.DeepCopy(),
	}
	pod.Spec.NodeName = node
	ReadyFor(time.Hour - time.Minute)(pod)
	for _, option := range options {
		option(pod)
	}
	return pod
}

// Named gives a pod another name, such as for the second one on a node.
func Named(name string) PodOption {
	return func(pod *corev1.Pod) { pod.Name, pod.UID = name, types.UID("pod-"+name) }
}

// ReadyFor is a pod that has been ready for that long.
func ReadyFor(d time.Duration) PodOption {
	return func(pod *corev1.Pod) {
		pod.Status.Phase = corev1.PodRunning
		pod.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(Now().Add(-d)),
		}}
	}
}

// Starting is a pod that was created a moment ago and is not ready.
func Starting() PodOption {
	return func(pod *corev1.Pod) {
		pod.CreationTimestamp = metav1.NewTime(Now().Add(-time.Second))
		unready(corev1.PodPending)(pod)
	}
}

// NotReady is a pod that runs and is not ready any more.
func NotReady() PodOption { return unready(corev1.PodRunning) }

// Failed is a pod that has ended badly.
func Failed() PodOption { return unready(corev1.PodFailed) }

func unready(phase corev1.PodPhase) PodOption {
	return func(pod *corev1.Pod) {
		pod.Status.Phase = phase
		pod.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: pod.CreationTimestamp,
		}}
	}
}

// Terminating is a pod that somebody has deleted and that has 30 seconds left.
func Terminating() PodOption {
	return func(pod *corev1.Pod) {
		at := metav1.NewTime(Now().Add(30 * time.Second))
		pod.DeletionTimestamp = &at
	}
}
