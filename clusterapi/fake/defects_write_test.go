package fake_test

import (
	"context"
	"errors"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
)

const handedOver = "every_write/neither_changes_nor_keeps"

func podDefects() map[string]defect {
	byName := func(pod daemonset.Ref) types.NamespacedName {
		return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	}
	return map[string]defect{
		"names pods itself": {found: "CreatePod/returns_the_pod_as_stored", bend: func(_ *fake.Cluster, d *defective) {
			d.createPod = func(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
				if pod.Name == "" {
					pod.Name = pod.GenerateName + "x"
				}
				return d.Client.CreatePod(ctx, pod)
			}
		}},
		"returns the pod that was given": {found: "CreatePod/returns_the_pod_as_stored", bend: func(_ *fake.Cluster, d *defective) {
			d.createPod = func(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
				_, err := d.Client.CreatePod(ctx, pod)
				return pod, err
			}
		}},
		"returns no pod": {
			found: "CreatePod/returns_the_pod_as_stored", says: []string{"CreatePod returned neither a pod nor an error"},
			bend: func(_ *fake.Cluster, d *defective) {
				d.createPod = func(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
					_, err := d.Client.CreatePod(ctx, pod)
					return nil, err
				}
			},
		},
		"patches by name": {
			found: "PatchPod/never_touches_a_successor", says: []string{"the write to a successor: got no error, want Conflict"},
			bend: func(c *fake.Cluster, d *defective) {
				d.patchPod = func(ctx context.Context, pod daemonset.Ref, patch []byte) (*corev1.Pod, error) {
					if stored, err := fake.Get[*corev1.Pod](c, byName(pod)); err == nil {
						pod.UID = stored.UID
					}
					return d.Client.PatchPod(ctx, pod, patch)
				}
			},
		},
		"says of a successor that it is gone": {
			found: "DeletePod/never_touches_a_successor", says: []string{`got NotFound (pods "one" not found), want Conflict`},
			bend: func(c *fake.Cluster, d *defective) {
				d.deletePod = func(ctx context.Context, pod daemonset.Ref) error {
					if stored, err := fake.Get[*corev1.Pod](c, byName(pod)); err == nil && stored.UID != pod.UID {
						return notFoundPod(pod.Name)
					}
					return d.Client.DeletePod(ctx, pod)
				}
			},
		},
		"deletes by name": {found: "DeletePod/never_touches_a_successor", bend: func(c *fake.Cluster, d *defective) {
			d.deletePod = func(_ context.Context, pod daemonset.Ref) error {
				return fake.Delete[*corev1.Pod](c, byName(pod), fake.DeleteOptions{})
			}
		}},
		"does not delete": {found: "DeletePod/asks_for_deletion", bend: func(_ *fake.Cluster, d *defective) {
			d.deletePod = func(context.Context, daemonset.Ref) error { return nil }
		}},
		"hides the kind of an error": {
			found: "DeletePod/never_touches_a_successor", says: []string{"got an error of no kind (something went wrong), want Conflict"},
			bend: func(_ *fake.Cluster, d *defective) {
				d.deletePod = func(ctx context.Context, pod daemonset.Ref) error {
					if err := d.Client.DeletePod(ctx, pod); err != nil {
						return errors.New("something went wrong")
					}
					return nil
				}
			},
		},
		"patches whatever the version": {found: "PatchPod/another_resource_version", bend: func(_ *fake.Cluster, d *defective) {
			d.patchPod = func(ctx context.Context, pod daemonset.Ref, patch []byte) (*corev1.Pod, error) {
				return d.Client.PatchPod(ctx, pod, unversioned(patch))
			}
		}},
		"keeps the pod that was given": {
			found: handedOver, says: []string{"CreatePod keeps its argument"},
			bend: func(_ *fake.Cluster, d *defective) {
				kept := map[string]*corev1.Pod{}
				d.createPod = func(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
					stored, err := d.Client.CreatePod(ctx, pod)
					if err == nil {
						kept[stored.Name] = pod
					}
					return stored, err
				}
				d.seeing(func(o *clusterapi.Observation) {
					for i, pod := range o.Objects.Pods {
						if created := kept[pod.Name]; created != nil {
							pod = pod.DeepCopy()
							pod.Spec.Containers = created.Spec.Containers
							o.Objects.Pods[i] = pod
						}
					}
				})
			},
		},
		"changes the pod that was given": {
			found: handedOver, says: []string{"CreatePod: the argument"},
			bend: func(_ *fake.Cluster, d *defective) {
				d.createPod = func(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
					stored, err := d.Client.CreatePod(ctx, pod)
					if err == nil {
						pod.UID = stored.UID
					}
					return stored, err
				}
			},
		},
	}
}

func otherWriteDefects() map[string]defect {
	return map[string]defect{
		"hides what is gone": {found: "DeleteRevision/never_touches_a_successor", bend: func(_ *fake.Cluster, d *defective) {
			d.deleteRevision = func(ctx context.Context, r daemonset.Ref) error {
				_ = d.Client.DeleteRevision(ctx, r)
				return ctx.Err()
			}
		}},
		"updates without a version": {found: "UpdateRevision/another_resource_version", bend: func(_ *fake.Cluster, d *defective) {
			d.updateRevision = func(ctx context.Context, r *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
				r = r.DeepCopy()
				r.ResourceVersion = ""
				return d.Client.UpdateRevision(ctx, r)
			}
		}},
		"changes the revision that was given": {
			found: handedOver, says: []string{"UpdateRevision: the argument"},
			bend: func(_ *fake.Cluster, d *defective) {
				d.updateRevision = func(ctx context.Context, r *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
					stored, err := d.Client.UpdateRevision(ctx, r)
					if err == nil {
						r.ResourceVersion = stored.ResourceVersion
					}
					return stored, err
				}
			},
		},
		"updates the whole set": {found: "UpdateStatus/replaces_the_status,_not_the_spec", bend: func(c *fake.Cluster, d *defective) {
			d.updateStatus = func(ctx context.Context, set *appsv1.DaemonSet) (*appsv1.DaemonSet, error) {
				stored, err := d.Client.UpdateStatus(ctx, set)
				if err != nil {
					return nil, err
				}
				set = set.DeepCopy()
				set.ResourceVersion = stored.ResourceVersion
				return fake.Update(c, set)
			}
		}},
		"forces the status": {found: "UpdateStatus/another_resource_version", bend: func(_ *fake.Cluster, d *defective) {
			d.updateStatus = func(ctx context.Context, set *appsv1.DaemonSet) (*appsv1.DaemonSet, error) {
				set = set.DeepCopy()
				set.ResourceVersion = ""
				return d.Client.UpdateStatus(ctx, set)
			}
		}},
		"shares the status with Live": {
			found: handedOver, says: []string{"UpdateStatus shares what it returns"},
			bend: func(_ *fake.Cluster, d *defective) { shareSets(d) },
		},
		"changes events": {found: "RecordEvent/publishes", bend: func(_ *fake.Cluster, d *defective) {
			d.recordEvent = func(event daemonset.Event) daemonset.Event { event.Note = ""; return event }
		}},
	}
}
