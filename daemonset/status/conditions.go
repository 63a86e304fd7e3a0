package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The types of the conditions.
const (
	// ConditionAvailable: no more nodes are without an available pod than maxUnavailable lets
	// an update make so; with maxSurge, and with OnDelete, none.
	ConditionAvailable = "Available"
	// ConditionProgressing: something moves, by itself or by the controller.
	ConditionProgressing = "Progressing"
	// ConditionStalled: the set is stuck.
	ConditionStalled = "Stalled"
)

// Conditions returns the report as conditions, in the order Available, Progressing, Stalled,
// each with a reason, which for the last two is the phase. One that has the same status in
// previous keeps its transition time; the others changed at the time of the snapshot. Previous
// may hold other conditions, and is only read.
func (r Report) Conditions(previous []metav1.Condition) []metav1.Condition {
	enough, reason := metav1.ConditionTrue, "EnoughPods"
	if r.Counts.Unavailable > r.budget {
		enough, reason = metav1.ConditionFalse, "TooFewPods"
	}
	progressing, stalled := metav1.ConditionFalse, metav1.ConditionFalse
	switch r.Phase {
	case Progressing, Waiting:
		progressing = metav1.ConditionTrue
	case Stuck:
		stalled = metav1.ConditionTrue
	case Complete, Paused, Terminating:
	}
	wanted := []metav1.Condition{
		{Type: ConditionAvailable, Status: enough, Reason: reason},
		{Type: ConditionProgressing, Status: progressing, Reason: string(r.Phase)},
		{Type: ConditionStalled, Status: stalled, Reason: string(r.Phase)},
	}
	for i := range wanted {
		c := &wanted[i]
		c.ObservedGeneration = r.Generation
		c.Message = r.Message
		c.LastTransitionTime = metav1.NewTime(r.At)
		for _, before := range previous {
			if before.Type == c.Type && before.Status == c.Status && !before.LastTransitionTime.IsZero() {
				c.LastTransitionTime = before.LastTransitionTime
			}
		}
	}
	return wanted
}
