package daemonset

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/placement"
	"github.com/daemonplan/daemonplan/rollout"
)

// legacyGenerationLabel is the label that pods carry since extensions/v1beta1.
const legacyGenerationLabel = "pod-template-generation"

// nowhere is the node number of a pod whose node cannot be told.
const nowhere int32 = -1

// pod is one pod of the set with what is looked at later of every one, so that each object is
// read once. In a large cluster, going back to the objects costs more than all the rest.
type pod struct {
	obj     *corev1.Pod
	node    int32 // number in the fleet, or nowhere
	state   PodState
	health  rollout.Health
	bound   bool // and not only pinned, or neither
	over    bool // finished, and being deleted: it holds no node
	hashed  bool // carries the current revision's hash
	current bool // carries that hash or the set's legacy generation
}

func (p *pod) ref() Ref      { return refTo(&p.obj.ObjectMeta) }
func (p *pod) unbound() bool { return !p.bound }
func (p *pod) staying() bool { return p.state != Terminating }
func (p *pod) ended() bool   { return p.state == Failed || p.state == Succeeded }
func (p *pod) placed() bool  { return p.node != nowhere && !p.over }

// read takes down a pod at the time of the pass.
func (p *pass) read(obj *corev1.Pod, f *fleet) pod {
	number := nowhere
	if name, ok := placement.TargetNode(obj); ok {
		number = f.number(name)
	}
	return p.readOn(obj, number)
}

// readOn is read for a pod whose node is known.
func (p *pass) readOn(obj *corev1.Pod, number int32) pod {
	hashed := hashOf(obj.Labels) == p.revision.Hash && p.revision.Hash != ""
	return pod{
		obj:     obj,
		node:    number,
		state:   stateOf(obj),
		health:  p.healthOf(obj),
		bound:   obj.Spec.NodeName != "",
		over:    over(obj),
		hashed:  hashed,
		current: hashed || p.set.generation != "" && obj.Labels[legacyGenerationLabel] == p.set.generation,
	}
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

// over reports whether a pod is finished and being deleted: it holds no node.
func over(obj *corev1.Pod) bool {
	return obj.DeletionTimestamp != nil && finished(obj)
}

func finished(obj *corev1.Pod) bool {
	return obj.Status.Phase == corev1.PodFailed || obj.Status.Phase == corev1.PodSucceeded
}

func (p *pass) healthOf(obj *corev1.Pod) rollout.Health {
	ready := readyCondition(obj)
	switch {
	case ready == nil:
		return rollout.Unhealthy
	case p.set.minReady == 0: // at any time, even before the one that availableAt gives
		return rollout.Available
	}
	if at, ok := p.availableAt(ready); !ok || at.After(p.now) {
		return rollout.Ready
	}
	return rollout.Available
}

// availableAt is when a pod that is ready has been so for minReadySeconds. A condition that
// does not say since when never gets there once minReadySeconds is set, as in Kubernetes
// v1.37.2; ok is then false.
func (p *pass) availableAt(ready *corev1.PodCondition) (at time.Time, ok bool) {
	if p.set.minReady == 0 {
		return time.Time{}, true
	}
	since := ready.LastTransitionTime
	return since.Add(p.set.minReady), !since.IsZero()
}

// readyUntil is when a pod that is ready becomes available; zero if it does not by time
// alone.
func (p *pass) readyUntil(obj *corev1.Pod) time.Time {
	if at, ok := p.availableAt(readyCondition(obj)); ok {
		return instantOf(at)
	}
	return time.Time{}
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

// carriedHashes counts the pods of each revision. A pod that is on no node does
// not count, as in Kubernetes v1.37.2.
func carriedHashes(pods []pod) map[string]int {
	carried := map[string]int{}
	for i := range pods {
		if pods[i].node != nowhere {
			carried[hashOf(pods[i].obj.Labels)]++
		}
	}
	return carried
}
