package fake_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
)

func callDefects() map[string]defect {
	const done = "every_call/fails_and_has_no_effect"
	return map[string]defect{
		"ignores the context": {
			found: done, says: []string{"DeletePod: got no error, want one, because its context was done"},
			bend: func(_ *fake.Cluster, d *defective) {
				d.deletePod = func(ctx context.Context, pod daemonset.Ref) error {
					return d.Client.DeletePod(context.WithoutCancel(ctx), pod)
				}
			},
		},
		"observes whatever the context": {
			found: done, says: []string{"Observe: got no error, want one, because its context was done"},
			bend: func(_ *fake.Cluster, d *defective) {
				d.observe = func(ctx context.Context, key types.NamespacedName) (clusterapi.Observation, error) {
					return d.Client.Observe(context.WithoutCancel(ctx), key)
				}
			},
		},
		"deletes whatever the context": {found: done, says: []string{"PatchPod, which looks at the pod"}, bend: func(_ *fake.Cluster, d *defective) {
			d.deletePod = func(ctx context.Context, pod daemonset.Ref) error {
				if err := d.Client.DeletePod(context.WithoutCancel(ctx), pod); err != nil {
					return err
				}
				return ctx.Err()
			}
		}},
		"creates whatever the context": {found: done, says: []string{"CreatePod, of a name that nobody was to take"}, bend: func(_ *fake.Cluster, d *defective) {
			d.createPod = func(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
				stored, err := d.Client.CreatePod(context.WithoutCancel(ctx), pod)
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				return stored, err
			}
		}},
		"shares sets":      {found: "Live/returns_what_belongs", bend: func(_ *fake.Cluster, d *defective) { shareSets(d) }},
		"shares revisions": {found: "Revision/returns_what_belongs", bend: func(_ *fake.Cluster, d *defective) { shareRevisions(d) }},
		"hangs, and does not listen": {
			found: "UpdateRevision/replaces_the_revision", hangs: true, says: []string{"UpdateRevision has not returned 2s after its context was done"},
			bend: func(_ *fake.Cluster, d *defective) {
				d.updateRevision = func(context.Context, *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) { select {} }
			},
		},
		"hangs until its context is done": {
			found: "UpdateRevision/replaces_the_revision", hangs: true, says: []string{"UpdateRevision did not end within 2s: context deadline exceeded"},
			bend: func(_ *fake.Cluster, d *defective) {
				d.updateRevision = func(ctx context.Context, _ *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				}
			},
		},
		"listens to its context only before": {
			found: "every_call/ends_with_its_context", hangs: true, says: []string{"Live has not returned 2s after its context was done"},
			bend: func(_ *fake.Cluster, d *defective) {
				d.live = func(ctx context.Context, key types.NamespacedName) (*appsv1.DaemonSet, error) {
					if err := ctx.Err(); err != nil {
						return nil, err
					}
					return d.Client.Live(context.WithoutCancel(ctx), key)
				}
			},
		},
		"takes no answer for success": {
			found: "every_call/ends_with_its_context", says: []string{"DeletePod: got no error, though the server did not answer"},
			bend: func(_ *fake.Cluster, d *defective) {
				d.deletePod = func(ctx context.Context, pod daemonset.Ref) error {
					if err := ctx.Err(); err != nil {
						return err
					}
					err := d.Client.DeletePod(ctx, pod)
					if errors.Is(err, context.DeadlineExceeded) {
						return nil
					}
					return err
				}
			},
		},
		"does not bear company": {
			found: "every_call/may_be_made_by_several", hangs: true, says: []string{"DeleteRevision has not returned 2s after"},
			bend: func(_ *fake.Cluster, d *defective) {
				var mu sync.Mutex
				calls := 0
				d.deleteRevision = func(ctx context.Context, r daemonset.Ref) error {
					mu.Lock() // the second call never gets it
					if calls++; calls == 1 {
						return d.Client.DeleteRevision(ctx, r)
					}
					defer mu.Unlock()
					return d.Client.DeleteRevision(ctx, r)
				}
			},
		},
	}
}

// shareSets makes Live and UpdateStatus return the set that the adapter itself goes by.
func shareSets(d *defective) {
	known := map[string]*appsv1.DaemonSet{}
	share := func(set *appsv1.DaemonSet, err error) (*appsv1.DaemonSet, error) {
		if err != nil {
			return nil, err
		}
		if known[set.ResourceVersion] == nil {
			known[set.ResourceVersion] = set
		}
		return known[set.ResourceVersion], nil
	}
	d.live = func(ctx context.Context, key types.NamespacedName) (*appsv1.DaemonSet, error) {
		return share(d.Client.Live(ctx, key))
	}
	d.updateStatus = func(ctx context.Context, set *appsv1.DaemonSet) (*appsv1.DaemonSet, error) {
		return share(d.Client.UpdateStatus(ctx, set))
	}
}

// shareRevisions makes Revision return the revision that the adapter itself goes by.
func shareRevisions(d *defective) {
	known := map[string]*appsv1.ControllerRevision{}
	d.revision = func(ctx context.Context, key types.NamespacedName) (*appsv1.ControllerRevision, error) {
		revision, err := d.Client.Revision(ctx, key)
		if err != nil {
			return nil, err
		}
		if known[revision.ResourceVersion] == nil {
			known[revision.ResourceVersion] = revision
		}
		return known[revision.ResourceVersion], nil
	}
}

func notFoundPod(name string) error { return apierrors.NewNotFound(corev1.Resource("pods"), name) }

// unversioned is a patch without its precondition.
func unversioned(patch []byte) []byte {
	var document struct {
		Metadata map[string]any `json:"metadata"`
	}
	if err := json.Unmarshal(patch, &document); err != nil {
		return patch
	}
	delete(document.Metadata, "resourceVersion")
	changed, err := json.Marshal(document)
	if err != nil {
		return patch
	}
	return changed
}
