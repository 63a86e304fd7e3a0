package clusterapi

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/daemonset"
)

// The reasons of the events that tell a DaemonSet's users of its pods, as in Kubernetes
// v1.37.2.
const (
	EventSuccessfulCreate = "SuccessfulCreate"
	EventFailedCreate     = "FailedCreate"
	EventSuccessfulDelete = "SuccessfulDelete"
	EventFailedDelete     = "FailedDelete"
)

// applyEvents publishes the plan's own events.
func (p *pass) applyEvents(ctx context.Context) {
	for _, event := range p.plan.Events {
		p.publish(ctx, event)
	}
}

// tell publishes what became of the create or delete of a pod. What was not sent, or left
// nothing to do, is not worth an event. A call without an answer may have had its effect, so
// the words for a failure leave that open.
func (p *pass) tell(ctx context.Context, w Write) {
	failed := w.Outcome == Failed || w.Outcome == Unknown
	switch {
	case w.Verb == CreatePod && w.Outcome == Done:
		p.publish(ctx, normal(EventSuccessfulCreate, "Pod %s was created on node %s", w.Ref.Name, w.Node))
	case w.Verb == CreatePod && failed:
		p.publish(ctx, warning(EventFailedCreate, "Creating a pod on node %s: %v", w.Node, w.Err))
	case w.Verb == DeletePod && w.Outcome == Done:
		p.publish(ctx, normal(EventSuccessfulDelete, "Pod %s was deleted on node %s", w.Ref.Name, w.Node))
	case w.Verb == DeletePod && failed:
		p.publish(ctx, warning(EventFailedDelete, "Deleting pod %s on node %s: %v", w.Ref.Name, w.Node, w.Err))
	}
}

func normal(reason, format string, args ...any) daemonset.Event {
	return daemonset.Event{Type: corev1.EventTypeNormal, Reason: reason, Note: fmt.Sprintf(format, args...)}
}

func warning(reason, format string, args ...any) daemonset.Event {
	return daemonset.Event{Type: corev1.EventTypeWarning, Reason: reason, Note: fmt.Sprintf(format, args...)}
}

func (p *pass) publish(ctx context.Context, event daemonset.Event) {
	_ = act(ctx, p.Driver, func(ctx context.Context) error {
		p.cfg.API.RecordEvent(ctx, p.plan.For, event)
		return nil
	})
}
