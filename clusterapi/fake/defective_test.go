package fake_test

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
)

// defective is an implementation with one thing wrong. What is nil is right.
type defective struct {
	*fake.Client

	observe        func(ctx context.Context, key types.NamespacedName) (clusterapi.Observation, error)
	live           func(ctx context.Context, key types.NamespacedName) (*appsv1.DaemonSet, error)
	revision       func(ctx context.Context, key types.NamespacedName) (*appsv1.ControllerRevision, error)
	createPod      func(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error)
	patchPod       func(ctx context.Context, pod daemonset.Ref, patch []byte) (*corev1.Pod, error)
	deletePod      func(ctx context.Context, pod daemonset.Ref) error
	createRevision func(ctx context.Context, r *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error)
	updateRevision func(ctx context.Context, r *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error)
	patchRevision  func(ctx context.Context, r daemonset.Ref, patch []byte) (*appsv1.ControllerRevision, error)
	deleteRevision func(ctx context.Context, r daemonset.Ref) error
	updateStatus   func(ctx context.Context, set *appsv1.DaemonSet) (*appsv1.DaemonSet, error)
	recordEvent    func(event daemonset.Event) daemonset.Event
}

// seeing changes what Observe returns if it is no error. The slices are the caller's.
func (d *defective) seeing(change func(o *clusterapi.Observation)) {
	d.observe = func(ctx context.Context, key types.NamespacedName) (clusterapi.Observation, error) {
		o, err := d.Client.Observe(ctx, key)
		if err == nil {
			change(&o)
		}
		return o, err
	}
}

func (d *defective) Observe(ctx context.Context, key types.NamespacedName) (clusterapi.Observation, error) {
	if d.observe != nil {
		return d.observe(ctx, key)
	}
	return d.Client.Observe(ctx, key)
}

func (d *defective) Live(ctx context.Context, key types.NamespacedName) (*appsv1.DaemonSet, error) {
	if d.live != nil {
		return d.live(ctx, key)
	}
	return d.Client.Live(ctx, key)
}

func (d *defective) Revision(ctx context.Context, key types.NamespacedName) (*appsv1.ControllerRevision, error) {
	if d.revision != nil {
		return d.revision(ctx, key)
	}
	return d.Client.Revision(ctx, key)
}

func (d *defective) CreatePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	if d.createPod != nil {
		return d.createPod(ctx, pod)
	}
	return d.Client.CreatePod(ctx, pod)
}

func (d *defective) PatchPod(ctx context.Context, pod daemonset.Ref, patch []byte) (*corev1.Pod, error) {
	if d.patchPod != nil {
		return d.patchPod(ctx, pod, patch)
	}
	return d.Client.PatchPod(ctx, pod, patch)
}

func (d *defective) DeletePod(ctx context.Context, pod daemonset.Ref) error {
	if d.deletePod != nil {
		return d.deletePod(ctx, pod)
	}
	return d.Client.DeletePod(ctx, pod)
}

func (d *defective) CreateRevision(ctx context.Context, r *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
	if d.createRevision != nil {
		return d.createRevision(ctx, r)
	}
	return d.Client.CreateRevision(ctx, r)
}

func (d *defective) UpdateRevision(ctx context.Context, r *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
	if d.updateRevision != nil {
		return d.updateRevision(ctx, r)
	}
	return d.Client.UpdateRevision(ctx, r)
}

func (d *defective) PatchRevision(ctx context.Context, r daemonset.Ref, patch []byte) (*appsv1.ControllerRevision, error) {
	if d.patchRevision != nil {
		return d.patchRevision(ctx, r, patch)
	}
	return d.Client.PatchRevision(ctx, r, patch)
}

func (d *defective) DeleteRevision(ctx context.Context, r daemonset.Ref) error {
	if d.deleteRevision != nil {
		return d.deleteRevision(ctx, r)
	}
	return d.Client.DeleteRevision(ctx, r)
}

func (d *defective) UpdateStatus(ctx context.Context, set *appsv1.DaemonSet) (*appsv1.DaemonSet, error) {
	if d.updateStatus != nil {
		return d.updateStatus(ctx, set)
	}
	return d.Client.UpdateStatus(ctx, set)
}

func (d *defective) RecordEvent(ctx context.Context, about daemonset.Ref, event daemonset.Event) {
	if d.recordEvent != nil {
		event = d.recordEvent(event)
	}
	d.Client.RecordEvent(ctx, about, event)
}
