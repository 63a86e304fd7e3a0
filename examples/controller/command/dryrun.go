package command

import (
	"context"
	"log/slog"
	"sync"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/daemonset"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
)

// EventDryRunPlan is the reason of the events in which a dry run reports.
const EventDryRunPlan = "DryRunPlan"

// planner makes passes that write nothing.
type planner struct{ driver *clusterapi.Driver }

// Sync plans.
func (p planner) Sync(ctx context.Context, key types.NamespacedName) (clusterapi.Result, error) {
	return p.driver.Plan(ctx, key)
}

// Settle takes note of what an event showed.
func (p planner) Settle(w daemonset.Wakes) { p.driver.Settle(w) }

// reporter reports plans of a dry run when they have changed.
type reporter struct {
	logger *slog.Logger
	events record.EventRecorder

	mu   sync.Mutex
	last map[types.NamespacedName]told
}

// told is what was last reported of a DaemonSet.
type told struct {
	owner types.UID
	text  string
}

func newReporter(logger *slog.Logger, events record.EventRecorder) *reporter {
	return &reporter{logger: logger, events: events, last: map[types.NamespacedName]told{}}
}

// report tells of a plan if it would do something else than the one before it. A set of
// which nothing was told, and for which there is nothing to do, is passed over.
func (r *reporter) report(ctx context.Context, pass clusterapi.Pass) {
	if pass.Result.Gone {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.last, pass.Key)
		return
	}
	if !planned(pass) {
		return // the controller logs why
	}
	plan := pass.Result.Plan
	actions := describeActions(plan)
	if !r.changed(pass.Key, told{plan.For.UID, actions.full}) {
		return
	}
	r.logger.InfoContext(ctx, "plan", "daemonset", pass.Key.String(), "creates", len(plan.Creates), "deletes", len(plan.Deletes), "would", actions.full)
	r.events.Event(&corev1.ObjectReference{
		APIVersion: appsv1.SchemeGroupVersion.String(),
		Kind:       string(daemonset.DaemonSetKind),
		Namespace:  plan.For.Namespace,
		Name:       plan.For.Name,
		UID:        plan.For.UID,
	}, corev1.EventTypeNormal, EventDryRunPlan, actions.note)
}

// changed remembers what is told now, and reports whether it is news.
func (r *reporter) changed(key types.NamespacedName, now told) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, known := r.last[key]
	r.last[key] = now
	if !known || before.owner != now.owner {
		return now.text != nothing
	}
	return before.text != now.text
}
