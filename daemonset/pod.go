package daemonset

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/rollout"
)

// legacyGenerationLabel is the label that pods carry since extensions/v1beta1.
const legacyGenerationLabel = "pod-template-generation"

// read judges one pod at the time of the pass.
func (p *pass) read(obj *corev1.Pod) pod {
	hash := hashOf(obj.Labels)
	hashed := hash != "" && hash == p.revision.Hash
	current := hashed || p.set.generation != "" && obj.Labels[legacyGenerationLabel] == p.set.generation
	return pod{obj: obj, state: stateOf(obj), hashed: hashed, current: current, health: p.healthOf(obj)}
}

func stateOf(obj *corev1.Pod) PodState {
	switch {
	case obj.DeletionTimestamp != nil:
		return Terminating
	case obj.Status.Phase == corev1.PodFailed:
		return Failed
	case obj.Status.Phase == corev1.PodSucceeded:
		return Succeeded
	}
	return Live
}

func finished(obj *corev1.Pod) bool {
	return obj.Status.Phase == corev1.PodFailed || obj.Status.Phase == corev1.PodSucceeded
}

func (p *pass) healthOf(obj *corev1.Pod) rollout.Health {
	at, ok := p.availableAt(obj)
	switch {
	case !ok:
		if readyCondition(obj) != nil {
			return rollout.Ready
		}
		return rollout.Unhealthy
	case at.After(p.now):
		return rollout.Ready
	}
	return rollout.Available
}

// availableAt is when a ready pod has been ready for minReadySeconds; ok is false for a
// pod that will not get there by time alone. A ready pod that does not say since when
// never counts as available once minReadySeconds is set, as in Kubernetes v1.37.2.
func (p *pass) availableAt(obj *corev1.Pod) (at time.Time, ok bool) {
	ready := readyCondition(obj)
	if ready == nil {
		return time.Time{}, false
	}
	if p.set.minReady == 0 {
		return time.Time{}, true
	}
	since := ready.LastTransitionTime
	if since.IsZero() {
		return time.Time{}, false
	}
	return since.Add(p.set.minReady), true
}

// readyCondition is the pod's Ready condition if it is true, else nil.
func readyCondition(obj *corev1.Pod) *corev1.PodCondition {
	for i := range obj.Status.Conditions {
		if c := &obj.Status.Conditions[i]; c.Type == corev1.PodReady {
			if c.Status != corev1.ConditionTrue {
				return nil
			}
			return c
		}
	}
	return nil
}
