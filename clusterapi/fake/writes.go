package fake

import (
	"context"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/daemonset"
)

// CreatePod creates the pod as Create does.
func (cl *Client) CreatePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	if pod == nil {
		return nil, apierrors.NewBadRequest("no pod")
	}
	r := request{call: CreatePod, key: keyIn(pod.Namespace, pod.Name), node: placeOf(pod)[0]}
	if pod.Name == "" {
		r.key.Name = pod.GenerateName
	}
	return perform(ctx, cl, r, func() (*corev1.Pod, error) {
		return returned(cl.cluster.pods.create(copyOf(pod)))
	})
}

// PatchPod patches the pod's metadata.
func (cl *Client) PatchPod(ctx context.Context, pod daemonset.Ref, mergePatch []byte) (*corev1.Pod, error) {
	return perform(ctx, cl, about(PatchPod, pod), func() (*corev1.Pod, error) {
		return returned(cl.cluster.pods.patch(pod, mergePatch))
	})
}

// DeletePod deletes the pod as Delete does, if its UID matches.
func (cl *Client) DeletePod(ctx context.Context, pod daemonset.Ref) error {
	_, err := perform(ctx, cl, about(DeletePod, pod), func() (struct{}, error) {
		return struct{}{}, cl.cluster.pods.remove(keyIn(pod.Namespace, pod.Name), DeleteOptions{UID: &pod.UID})
	})
	return err
}

// CreateRevision creates the revision as Create does.
func (cl *Client) CreateRevision(ctx context.Context, revision *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
	if revision == nil {
		return nil, apierrors.NewBadRequest("no revision")
	}
	r := request{call: CreateRevision, key: keyOf(revision)}
	return perform(ctx, cl, r, func() (*appsv1.ControllerRevision, error) {
		return returned(cl.cluster.revisions.create(copyOf(revision)))
	})
}

// UpdateRevision replaces the revision as Update does.
func (cl *Client) UpdateRevision(ctx context.Context, revision *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
	if revision == nil {
		return nil, apierrors.NewBadRequest("no revision")
	}
	r := request{call: UpdateRevision, key: keyOf(revision)}
	return perform(ctx, cl, r, func() (*appsv1.ControllerRevision, error) {
		return returned(cl.cluster.revisions.update(copyOf(revision)))
	})
}

// PatchRevision patches the revision's metadata.
func (cl *Client) PatchRevision(ctx context.Context, revision daemonset.Ref, mergePatch []byte) (*appsv1.ControllerRevision, error) {
	return perform(ctx, cl, about(PatchRevision, revision), func() (*appsv1.ControllerRevision, error) {
		return returned(cl.cluster.revisions.patch(revision, mergePatch))
	})
}

// DeleteRevision deletes the revision as Delete does, if its UID matches.
func (cl *Client) DeleteRevision(ctx context.Context, revision daemonset.Ref) error {
	_, err := perform(ctx, cl, about(DeleteRevision, revision), func() (struct{}, error) {
		return struct{}{}, cl.cluster.revisions.remove(keyIn(revision.Namespace, revision.Name), DeleteOptions{UID: &revision.UID})
	})
	return err
}

// UpdateStatus replaces the set's status as the function UpdateStatus does.
func (cl *Client) UpdateStatus(ctx context.Context, set *appsv1.DaemonSet) (*appsv1.DaemonSet, error) {
	if set == nil {
		return nil, apierrors.NewBadRequest("no DaemonSet")
	}
	r := request{call: UpdateSetStatus, key: keyOf(set)}
	return perform(ctx, cl, r, func() (*appsv1.DaemonSet, error) {
		return returned(cl.cluster.sets.updateStatus(copyOf(set)))
	})
}

// RecordedEvent is an event that a client published.
type RecordedEvent struct {
	About daemonset.Ref
	Event daemonset.Event
}

// RecordEvent keeps the event for Recorded.
func (cl *Client) RecordEvent(ctx context.Context, about daemonset.Ref, event daemonset.Event) {
	r := request{call: RecordEvent, key: keyIn(about.Namespace, about.Name)}
	_, _ = perform(ctx, cl, r, func() (struct{}, error) { // best effort
		cl.cluster.publish(RecordedEvent{About: about, Event: event})
		return struct{}{}, nil
	})
}

// eventsLast is how long a published event is kept, as in Kubernetes v1.37.2 by default.
const eventsLast = time.Hour

type publication struct {
	at    time.Time
	event RecordedEvent
}

func (c *Cluster) publish(event RecordedEvent) {
	c.forgetEvents()
	c.recorded = append(c.recorded, publication{at: c.now, event: event})
}

// forgetEvents drops those whose time is over.
func (c *Cluster) forgetEvents() {
	oldest := c.now.Add(-eventsLast)
	kept := slices.IndexFunc(c.recorded, func(p publication) bool { return p.at.After(oldest) })
	if kept < 0 {
		kept = len(c.recorded)
	}
	c.recorded = slices.Delete(c.recorded, 0, kept)
}

// Recorded returns the events that all clients published, oldest first. They are kept for
// an hour of the cluster's time.
func (c *Cluster) Recorded() []RecordedEvent {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgetEvents()
	events := make([]RecordedEvent, 0, len(c.recorded))
	for _, p := range c.recorded {
		events = append(events, p.event)
	}
	return events
}

func keyIn(namespaceName, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespaceName, Name: name}
}

func about(call Call, ref daemonset.Ref) request {
	return request{call: call, key: keyIn(ref.Namespace, ref.Name)}
}
