package daemonset

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/daemonplan/daemonplan/rollout"
)

// defaultHistoryLimit is the API default of spec.revisionHistoryLimit.
const defaultHistoryLimit = 10

// daemonSet is the DaemonSet with its defaults resolved and its strings parsed.
type daemonSet struct {
	obj          *appsv1.DaemonSet
	ref          Ref
	selector     labels.Selector
	selects      selecting // the same
	onDelete     bool
	surging      bool // two pods may share a node while an update passes over it
	minReady     time.Duration
	historyLimit int
	profile      rollout.Profile
	generation   string // the legacy generation as pods are labelled with it; empty for none
}

// readIdentity checks what even a set that is not acted on must have.
func readIdentity(obj *appsv1.DaemonSet) (daemonSet, error) {
	if obj == nil {
		return daemonSet{}, &InvalidError{Field: "daemonSet", Err: errors.New("is nil")}
	}
	if obj.Name == "" {
		return daemonSet{}, &InvalidError{Field: "daemonSet.metadata.name", Err: errors.New("is empty")}
	}
	set := daemonSet{obj: obj, ref: refTo(&obj.ObjectMeta)}
	// The metav1 meaning of an absent selector, nothing, would release every pod of the
	// set. The API requires one, so its absence is a mistake and not a wish.
	if obj.Spec.Selector == nil {
		return daemonSet{}, &InvalidError{Field: "daemonSet.spec.selector", Err: errors.New("is missing")}
	}
	selector, err := metav1.LabelSelectorAsSelector(obj.Spec.Selector)
	if err != nil {
		return daemonSet{}, &InvalidError{Field: "daemonSet.spec.selector", Err: err}
	}
	set.selector, set.selects = selector, newSelecting(selector)
	return set, nil
}

// standsBack is the reason to leave the set's pods alone altogether, or empty.
func (set daemonSet) standsBack() Reason {
	switch {
	case set.selector.Empty():
		return SelectsEverything
	case set.obj.DeletionTimestamp != nil:
		return SetDeleting
	}
	return ""
}

// readSpec resolves the rest.
func (set daemonSet) readSpec() (daemonSet, error) {
	spec := &set.obj.Spec
	if !set.selector.Matches(labels.Set(spec.Template.Labels)) {
		err := errors.New("do not match the selector")
		return daemonSet{}, &InvalidError{Field: "daemonSet.spec.template.metadata.labels", Err: err}
	}
	set.historyLimit = defaultHistoryLimit
	if limit := spec.RevisionHistoryLimit; limit != nil {
		set.historyLimit = int(*limit)
	}
	if err := firstNegative(
		limited{"daemonSet.spec.revisionHistoryLimit", set.historyLimit},
		limited{"daemonSet.spec.minReadySeconds", int(spec.MinReadySeconds)},
	); err != nil {
		return daemonSet{}, err
	}
	set.minReady = time.Duration(spec.MinReadySeconds) * time.Second
	set.generation, _ = legacyGeneration(set.obj)
	set.onDelete = spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType
	budget, err := set.budget(1)
	if err != nil {
		return daemonSet{}, err
	}
	set.surging = budget.MaxSurge > 0
	return set, nil
}

// observes is the generation that a pass that looks at the nodes has observed.
func (set daemonSet) observes() int64 {
	return max(set.obj.Status.ObservedGeneration, set.obj.Generation)
}

// budgetFor is budget for a strategy that has been read.
func (set daemonSet) budgetFor(desired int) rollout.Budget {
	budget, _ := set.budget(desired) // what is wrong with it does not depend on the number
	return budget
}

// budget resolves the update strategy against a number of desired nodes.
func (set daemonSet) budget(desired int) (rollout.Budget, error) {
	budget, err := rollout.BudgetFor(set.obj.Spec.UpdateStrategy, desired)
	if err == nil {
		if set.profile == rollout.Kubernetes112 && budget.MaxSurge > 0 {
			budget = rollout.Budget{MaxUnavailable: max(budget.MaxUnavailable, min(desired, 1))}
		}
		return budget, nil
	}
	field := "daemonSet.spec.updateStrategy"
	if fieldErr, ok := errors.AsType[*rollout.FieldError](err); ok {
		return rollout.Budget{}, &InvalidError{Field: field + "." + fieldErr.Field, Err: fieldErr.Err}
	}
	return rollout.Budget{}, &InvalidError{Field: field, Err: err}
}

type limited struct {
	field string
	value int
}

func firstNegative(values ...limited) error {
	for _, v := range values {
		if v.value < 0 {
			return &InvalidError{Field: v.field, Err: fmt.Errorf("%d is negative", v.value)}
		}
	}
	return nil
}

// legacyGeneration is the template generation that the set's annotation carries on from
// extensions/v1beta1, in the form in which pods are labelled with it. The error reports
// an annotation that is no number; Kubernetes then goes by the revision hash alone.
func legacyGeneration(obj *appsv1.DaemonSet) (string, error) {
	text, ok := obj.Annotations[appsv1.DeprecatedTemplateGeneration]
	if !ok {
		return "", nil
	}
	generation, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return "", fmt.Errorf("%s: %w", appsv1.DeprecatedTemplateGeneration, err)
	}
	return strconv.FormatInt(generation, 10), nil
}

func refTo(meta *metav1.ObjectMeta) Ref {
	return Ref{Namespace: meta.Namespace, Name: meta.Name, UID: meta.UID}
}
