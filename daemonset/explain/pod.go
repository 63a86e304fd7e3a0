package explain

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/internal/plain"
	"github.com/daemonplan/daemonplan/placement"
	"github.com/daemonplan/daemonplan/rollout"
)

// Pod is one pod of the set on a node, and what it counts as.
type Pod struct {
	Name    string             `json:"name"`
	Current bool               `json:"current"` // carries the current revision
	State   daemonset.PodState `json:"state"`
	Health  rollout.Health     `json:"health"`
	Counts  string             `json:"counts"`        // what it counts as, in words
	Why     string             `json:"why,omitempty"` // what its object says about that; empty for a pod at rest
}

// pod explains the pod with number i of a node.
func (t *teller) pod(report *daemonset.NodeReport, i int) Pod {
	on := report.Pods[i]
	p := Pod{Name: on.Ref.Name, Current: on.Current, State: on.State, Health: on.Health}
	p.Counts = counts(report, i)
	if obj := t.pods[on.Ref]; obj != nil {
		p.Why = why(on, obj)
	}
	return p
}

// counts says where a pod turns up in the set's status.
func counts(report *daemonset.NodeReport, i int) string {
	on := report.Pods[i]
	age := "outdated"
	if on.Current {
		age = "up to date"
	}
	switch {
	case i > 0:
		return age + ", not counted in status: the first pod of the node is"
	case report.Verdict.Decision == placement.Keep, report.Verdict.Decision == placement.Evict:
		return age + ", counted as misscheduled only"
	}
	return "counted as " + age + " and " + healthText(on.Health)
}

func healthText(h rollout.Health) string {
	switch h {
	case rollout.Available:
		return "available"
	case rollout.Ready:
		return "ready, not yet available"
	case rollout.Unhealthy:
	}
	return "not ready"
}

// why says what the pod's object gives as a cause for not being well.
func why(on daemonset.PodReport, obj *corev1.Pod) string {
	switch on.State {
	case daemonset.Terminating:
		return "its deletion was to be complete by " + instant(obj.DeletionTimestamp.Time)
	case daemonset.Failed, daemonset.Succeeded:
		return strings.Join(plain.NonEmpty("phase "+string(obj.Status.Phase), obj.Status.Reason, obj.Status.Message), ", ")
	case daemonset.Live:
	}
	switch on.Health {
	case rollout.Available:
		return ""
	case rollout.Ready:
		return "ready since " + instant(conditionSince(obj, corev1.PodReady))
	case rollout.Unhealthy:
	}
	return unready(obj)
}

// unready says why a pod is not ready: no node, a container that does not start, or a
// condition.
func unready(obj *corev1.Pod) string {
	if obj.Spec.NodeName == "" {
		text := "the scheduler has not bound it to the node"
		if c := condition(obj, corev1.PodScheduled); c != nil && c.Message != "" {
			text += ": " + plain.Clip(c.Message)
		}
		return text
	}
	for _, statuses := range [...][]corev1.ContainerStatus{obj.Status.InitContainerStatuses, obj.Status.ContainerStatuses} {
		for i := range statuses {
			if w := statuses[i].State.Waiting; w != nil && w.Reason != "" {
				text := fmt.Sprintf("container %s waits: %s", statuses[i].Name, w.Reason)
				if w.Message != "" {
					text += " (" + plain.Clip(w.Message) + ")"
				}
				return text
			}
		}
	}
	c := condition(obj, corev1.PodReady)
	if c == nil {
		return "it has no condition Ready"
	}
	return strings.Join(plain.NonEmpty("not ready since "+instant(c.LastTransitionTime.Time), plain.Clip(c.Reason), plain.Clip(c.Message)), ", ")
}

func condition(obj *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range obj.Status.Conditions {
		if c := &obj.Status.Conditions[i]; c.Type == kind {
			return c
		}
	}
	return nil
}

func conditionSince(obj *corev1.Pod, kind corev1.PodConditionType) time.Time {
	if c := condition(obj, kind); c != nil {
		return c.LastTransitionTime.Time
	}
	return time.Time{}
}

func instant(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.UTC().Format(time.RFC3339)
}
