package daemonset_test

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// changeSet changes one thing of the set.
func (s *sequence) changeSet() string {
	if s.set == nil || s.random.IntN(4) == 0 {
		s.putSet(s.from().DaemonSet)
		return "another set"
	}
	if s.random.IntN(12) == 0 {
		s.putSet(nil)
		return "no set"
	}
	set := s.set.DeepCopy()
	defer func() { s.putSet(set) }()
	switch s.random.IntN(14) {
	case 0:
		set.Status.ObservedGeneration = set.Generation - int64(s.random.IntN(2))
	case 1:
		set.Status.CollisionCount = new(int32(s.random.IntN(3)))
	case 2:
		set.Status.NumberReady++
	case 3:
		set.Generation++
	case 4:
		set.Spec.MinReadySeconds = int32(10 * s.random.IntN(3))
		return "other minReadySeconds"
	case 5:
		if containers := set.Spec.Template.Spec.Containers; len(containers) > 0 {
			containers[0].Image = fmt.Sprintf("registry.example/agent:v%d", s.random.IntN(6))
		}
		return "another template"
	case 6:
		set.Annotations = map[string]string{appsv1.DeprecatedTemplateGeneration: []string{"6", "7", "seven"}[s.random.IntN(3)]}
		return "other annotations"
	case 7:
		if s.plan.Status != nil {
			set.Status = *s.plan.Status.DeepCopy()
		}
	case 8:
		set.DeletionTimestamp = new(metav1.NewTime(s.moment.Now.Truncate(time.Second)))
		return "the set is being deleted"
	case 9, 10:
		set.Spec.UpdateStrategy = s.strategy()
		return "another strategy"
	case 11:
		set.Spec.Selector = s.selector()
		return "another selector"
	case 12:
		set.UID = types.UID(fmt.Sprintf("another-%d", s.random.IntN(2)))
		return "another UID"
	case 13:
		set.Spec.RevisionHistoryLimit = new(int32(s.random.IntN(3)))
		return "another history limit"
	}
	return "another status"
}

// strategy is OnDelete, or has budgets that a few nodes make something of.
func (s *sequence) strategy() appsv1.DaemonSetUpdateStrategy {
	if s.random.IntN(4) == 0 {
		return appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
	}
	budget := func() *intstr.IntOrString {
		text := []string{"0", "1", "3", "0%", "1%", "34%", "50%", "100%"}[s.random.IntN(8)]
		return new(intstr.Parse(text))
	}
	rolling := &appsv1.RollingUpdateDaemonSet{MaxUnavailable: budget()}
	if s.random.IntN(2) == 0 {
		rolling = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: new(intstr.FromInt32(0)), MaxSurge: budget()}
	}
	return appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: rolling}
}

// selector matches the template, all that have its label, or everything.
func (s *sequence) selector() *metav1.LabelSelector {
	switch s.random.IntN(6) {
	case 0:
		return &metav1.LabelSelector{}
	case 1, 2:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}}}
	}
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": "agent"}}
}
