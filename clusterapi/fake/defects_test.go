package fake_test

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
)

// defectVariable names the defect that TestContractOnADefect is to run with.
const defectVariable = "DAEMONPLAN_FAKE_DEFECT"

// defective is an implementation with one thing wrong. What is nil is right.
type defective struct {
	*fake.Client

	observe        func(o clusterapi.Observation, err error) (clusterapi.Observation, error)
	live           func(ctx context.Context, key types.NamespacedName) (*appsv1.DaemonSet, error)
	createPod      func(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error)
	patchPod       func(ctx context.Context, pod daemonset.Ref, patch []byte) (*corev1.Pod, error)
	deletePod      func(ctx context.Context, pod daemonset.Ref) error
	updateRevision func(ctx context.Context, r *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error)
	deleteRevision func(ctx context.Context, r daemonset.Ref) error
	updateStatus   func(ctx context.Context, set *appsv1.DaemonSet) (*appsv1.DaemonSet, error)
	recordEvent    func(event daemonset.Event) daemonset.Event
}

func (d *defective) Observe(ctx context.Context, key types.NamespacedName) (clusterapi.Observation, error) {
	o, err := d.Client.Observe(ctx, key)
	if d.observe != nil {
		return d.observe(o, err)
	}
	return o, err
}

func (d *defective) Live(ctx context.Context, key types.NamespacedName) (*appsv1.DaemonSet, error) {
	if d.live != nil {
		return d.live(ctx, key)
	}
	return d.Client.Live(ctx, key)
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

func (d *defective) UpdateRevision(ctx context.Context, r *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
	if d.updateRevision != nil {
		return d.updateRevision(ctx, r)
	}
	return d.Client.UpdateRevision(ctx, r)
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

type observation = clusterapi.Observation

// defects are things that an adapter may do wrong, each with a part of the contract that
// has to find it.
func defects() map[string]func(c *fake.Cluster, d *defective) {
	return map[string]func(c *fake.Cluster, d *defective){
		"none": func(*fake.Cluster, *defective) {},
		"observes no orphans": func(_ *fake.Cluster, d *defective) {
			d.observe = func(o observation, err error) (observation, error) {
				if len(o.Objects.Pods) > 1 {
					o.Objects.Pods = o.Objects.Pods[:1]
				}
				return o, err
			}
		},
		"observes no nodes": func(_ *fake.Cluster, d *defective) {
			d.observe = func(o observation, err error) (observation, error) { o.Objects.Nodes = nil; return o, err }
		},
		"observes no revisions": func(_ *fake.Cluster, d *defective) {
			d.observe = func(o observation, err error) (observation, error) { o.Objects.Revisions = nil; return o, err }
		},
		"no error for a set that is gone": func(_ *fake.Cluster, d *defective) {
			d.observe = func(o observation, _ error) (observation, error) { return o, nil }
		},
		"claims to be older": func(_ *fake.Cluster, d *defective) {
			d.observe = func(o observation, err error) (observation, error) { o.AsOf.Pods = "1"; return o, err }
		},
		"claims to be newer": func(c *fake.Cluster, d *defective) {
			d.observe = func(o observation, err error) (observation, error) { o.AsOf.DaemonSets = c.Version(); return o, err }
		},
		"live from the cache": func(_ *fake.Cluster, d *defective) {
			d.live = func(ctx context.Context, key types.NamespacedName) (*appsv1.DaemonSet, error) {
				o, err := d.Client.Observe(ctx, key)
				return o.Objects.DaemonSet, err
			}
		},
		"names pods itself": func(_ *fake.Cluster, d *defective) {
			d.createPod = func(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
				if pod.Name == "" {
					pod.Name = pod.GenerateName + "x"
				}
				return d.Client.CreatePod(ctx, pod)
			}
		},
		"returns the pod that was given": func(_ *fake.Cluster, d *defective) {
			d.createPod = func(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
				_, err := d.Client.CreatePod(ctx, pod)
				return pod, err
			}
		},
		"patches by name": func(c *fake.Cluster, d *defective) {
			d.patchPod = func(ctx context.Context, pod daemonset.Ref, patch []byte) (*corev1.Pod, error) {
				if stored, err := fake.Get[*corev1.Pod](c, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}); err == nil {
					pod.UID = stored.UID
				}
				return d.Client.PatchPod(ctx, pod, patch)
			}
		},
		"deletes by name": func(c *fake.Cluster, d *defective) {
			d.deletePod = func(_ context.Context, pod daemonset.Ref) error {
				return fake.Delete[*corev1.Pod](c, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, fake.DeleteOptions{})
			}
		},
		"does not delete": func(_ *fake.Cluster, d *defective) {
			d.deletePod = func(context.Context, daemonset.Ref) error { return nil }
		},
		"hides what is gone": func(_ *fake.Cluster, d *defective) {
			d.deleteRevision = func(ctx context.Context, r daemonset.Ref) error {
				_ = d.Client.DeleteRevision(ctx, r)
				return nil
			}
		},
		"updates without a version": func(_ *fake.Cluster, d *defective) {
			d.updateRevision = func(ctx context.Context, r *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
				r = r.DeepCopy()
				r.ResourceVersion = ""
				return d.Client.UpdateRevision(ctx, r)
			}
		},
		"updates the whole set": func(c *fake.Cluster, d *defective) {
			d.updateStatus = func(ctx context.Context, set *appsv1.DaemonSet) (*appsv1.DaemonSet, error) {
				stored, err := d.Client.UpdateStatus(ctx, set)
				if err != nil {
					return nil, err
				}
				set = set.DeepCopy()
				set.ResourceVersion = stored.ResourceVersion
				return fake.Update(c, set)
			}
		},
		"forces the status": func(_ *fake.Cluster, d *defective) {
			d.updateStatus = func(ctx context.Context, set *appsv1.DaemonSet) (*appsv1.DaemonSet, error) {
				set = set.DeepCopy()
				set.ResourceVersion = ""
				return d.Client.UpdateStatus(ctx, set)
			}
		},
		"ignores the context": func(_ *fake.Cluster, d *defective) {
			d.deletePod = func(ctx context.Context, pod daemonset.Ref) error {
				return d.Client.DeletePod(context.WithoutCancel(ctx), pod)
			}
		},
		"changes events": func(_ *fake.Cluster, d *defective) {
			d.recordEvent = func(event daemonset.Event) daemonset.Event { event.Note = ""; return event }
		},
	}
}

// TestContractOnADefect runs the contract with one defect, in a process of its own that
// TestContractFindsDefects starts.
func TestContractOnADefect(t *testing.T) {
	name := os.Getenv(defectVariable)
	if name == "" {
		t.Skip("started by TestContractFindsDefects")
	}
	defect := defects()[name]
	require.NotNil(t, defect, "no such defect")
	fake.TestClusterAPI(t, func(*testing.T) fake.Harness {
		c := fake.New(1)
		h := &harness{cluster: c, client: c.NewClient()}
		d := &defective{Client: h.client}
		defect(c, d)
		return &defectiveHarness{harness: h, api: d}
	})
}

type defectiveHarness struct {
	*harness

	api clusterapi.ClusterAPI
}

func (h *defectiveHarness) API() clusterapi.ClusterAPI { return h.api }

func TestContractFindsDefects(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process for each defect")
	}
	for name := range defects() {
		t.Run(name, func(t *testing.T) {
			command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestContractOnADefect$", "-test.count=1")
			command.Env = append(os.Environ(), defectVariable+"="+name)
			output, err := command.CombinedOutput()
			if name == "none" {
				require.NoError(t, err, "%s", output)
				return
			}
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit, "the contract is met: %s", output)
			assert.Contains(t, string(output), "--- FAIL: TestContractOnADefect", "it did not fail by itself")
		})
	}
}
