package script

import (
	"errors"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// changeSet edits the DaemonSet: "daemonset image=v2 max-unavailable=2". Every option
// leaves the others as they are.
//
//	image=V               the template's image, by which scripts name revisions
//	generation=N          metadata.generation
//	strategy=OnDelete     the update strategy's type
//	max-unavailable=N|P%  and max-surge: the budgets, "none" for absent
//	min-ready=30          spec.minReadySeconds
//	history-limit=N       spec.revisionHistoryLimit, "none" for absent
//	legacy=N              the template generation annotation of extensions/v1beta1
//	uid=UID               another incarnation
//	deleting              the set is being deleted
func (w *World) changeSet(words []string) error {
	rolling := appsv1.RollingUpdateDaemonSet{}
	strategy := &w.set.Spec.UpdateStrategy
	if strategy.RollingUpdate != nil {
		rolling = *strategy.RollingUpdate
	}
	err := options{
		"image":           text(&w.set.Spec.Template.Spec.Containers[0].Image),
		"generation":      integer(&w.set.Generation),
		"strategy":        text(&strategy.Type),
		"max-unavailable": pointer(&rolling.MaxUnavailable, intOrPercent),
		"max-surge":       pointer(&rolling.MaxSurge, intOrPercent),
		"min-ready":       integer(&w.set.Spec.MinReadySeconds),
		"history-limit":   pointer(&w.set.Spec.RevisionHistoryLimit, integer[int32]),
		"legacy": func(value string) error {
			metav1.SetMetaDataAnnotation(&w.set.ObjectMeta, appsv1.DeprecatedTemplateGeneration, value)
			return nil
		},
		"uid": text(&w.set.UID),
		"deleting": func(string) error {
			w.set.DeletionTimestamp = w.ago(time.Minute)
			return nil
		},
	}.read(words)
	if rolling != (appsv1.RollingUpdateDaemonSet{}) {
		strategy.RollingUpdate = &rolling
	}
	return err
}

// changeSelector sets spec.selector: "selector app=agent,tier=edge", "selector none" for
// its absence, "selector everything" for the empty one, "selector tier In a,b" for an
// expression, whose operator need not exist.
func (w *World) changeSelector(words []string) error {
	switch {
	case len(words) == 1 && words[0] == "none":
		w.set.Spec.Selector = nil
	case len(words) == 1 && words[0] == "everything":
		w.set.Spec.Selector = &metav1.LabelSelector{}
	case len(words) == 1:
		w.set.Spec.Selector = &metav1.LabelSelector{MatchLabels: pairs(words[0])}
	case len(words) == 3:
		w.set.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: words[0], Operator: metav1.LabelSelectorOperator(words[1]), Values: strings.Split(words[2], ",")},
		}}
	default:
		return errors.New("takes labels or an expression")
	}
	return nil
}

// changeStatus sets fields of the status as last written: "status desired=3 observed=1".
// "status written" takes the whole status from the last plan, as if it had been written.
func (w *World) changeStatus(words []string) error {
	status := &w.set.Status
	return options{
		"desired":      integer(&status.DesiredNumberScheduled),
		"current":      integer(&status.CurrentNumberScheduled),
		"ready":        integer(&status.NumberReady),
		"updated":      integer(&status.UpdatedNumberScheduled),
		"available":    integer(&status.NumberAvailable),
		"unavailable":  integer(&status.NumberUnavailable),
		"misscheduled": integer(&status.NumberMisscheduled),
		"observed":     integer(&status.ObservedGeneration),
		"collisions":   pointer(&status.CollisionCount, integer[int32]),
		"written": func(string) error {
			if w.last.Status == nil {
				return errors.New("the last plan writes no status")
			}
			w.last.Status.DeepCopyInto(status)
			return nil
		},
	}.read(words)
}

// ago is the time a span before now, in whole seconds, as an API server stores it.
func (w *World) ago(span time.Duration) *metav1.Time {
	at := metav1.NewTime(w.snapshot.Now.Add(-span).Truncate(time.Second))
	return &at
}

func unknownKind(what, kind string) error { return fmt.Errorf("unknown %s %q", what, kind) }
