package fake

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// life is what the cluster's parts remember besides the objects.
type life struct {
	timing Timing
	choose func(pod *corev1.Pod) Fate
	fateOn map[string]Fate
	lost   map[string]time.Time // nodes that were there and are not
	health map[string]condition // nodes that are not healthy, or were not
	stages map[types.UID]since  // of pods
}

// since is a stage of a pod's life and when it began, to the nanosecond: objects only have
// whole seconds.
type since struct {
	stage stage
	at    time.Time
}

func newLife() life {
	return life{
		timing: DefaultTiming(),
		fateOn: map[string]Fate{},
		lost:   map[string]time.Time{},
		health: map[string]condition{},
		stages: map[types.UID]since{},
	}
}

// stage is where a pod is in its life, as far as something happens to it next.
type stage uint8

const (
	unbound stage = iota
	bound
	running
	ready
	ended
	stopping // being deleted, containers running
	stopped  // being deleted, containers ended
)

func stageOf(pod *corev1.Pod) stage {
	deleted := pod.DeletionTimestamp != nil
	switch {
	case deleted && finished(pod):
		return stopped
	case deleted:
		return stopping
	case finished(pod):
		return ended
	case pod.Spec.NodeName == "":
		return unbound
	case isReady(pod):
		return ready
	case pod.Status.Phase == corev1.PodRunning:
		return running
	}
	return bound
}

// note remembers when a pod came to its stage.
func (l *life) note(old, pod *corev1.Pod, now time.Time) {
	if old != nil && (pod == nil || old.UID != pod.UID) {
		delete(l.stages, old.UID)
	}
	if pod == nil {
		return
	}
	current := stageOf(pod)
	if before, ok := l.stages[pod.UID]; !ok || before.stage != current {
		l.stages[pod.UID] = since{stage: current, at: now}
	}
}

func isReady(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == corev1.PodReady {
			return pod.Status.Conditions[i].Status == corev1.ConditionTrue
		}
	}
	return false
}
