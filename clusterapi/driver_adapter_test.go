package clusterapi_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/backoff"
	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
)

func TestNewDriverNeedsAnAPI(t *testing.T) {
	_, err := clusterapi.NewDriver(clusterapi.Config{})
	require.Error(t, err)
}

// broken answers as no adapter may, or as a server does at the wrong moment. What is nil is
// answered as it should be.
type broken struct {
	clusterapi.ClusterAPI
	observe  func(o clusterapi.Observation, err error) (clusterapi.Observation, error)
	revision func(r *appsv1.ControllerRevision, err error) (*appsv1.ControllerRevision, error)
	status   func(set *appsv1.DaemonSet, err error) (*appsv1.DaemonSet, error)
	create   func(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error)
	created  func(pod *corev1.Pod, err error) (*corev1.Pod, error)
	deleted  func(err error) error
}

func (b *broken) Observe(ctx context.Context, key types.NamespacedName) (clusterapi.Observation, error) {
	o, err := b.ClusterAPI.Observe(ctx, key)
	if b.observe != nil {
		return b.observe(o, err)
	}
	return o, err
}

func (b *broken) Revision(ctx context.Context, key types.NamespacedName) (*appsv1.ControllerRevision, error) {
	r, err := b.ClusterAPI.Revision(ctx, key)
	if b.revision != nil {
		return b.revision(r, err)
	}
	return r, err
}

func (b *broken) UpdateStatus(ctx context.Context, set *appsv1.DaemonSet) (*appsv1.DaemonSet, error) {
	stored, err := b.ClusterAPI.UpdateStatus(ctx, set)
	if b.status != nil {
		return b.status(stored, err)
	}
	return stored, err
}

func (b *broken) CreatePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	if b.create != nil {
		return b.create(ctx, pod)
	}
	stored, err := b.ClusterAPI.CreatePod(ctx, pod)
	if b.created != nil {
		return b.created(stored, err)
	}
	return stored, err
}

func (b *broken) DeletePod(ctx context.Context, pod daemonset.Ref) error {
	err := b.ClusterAPI.DeletePod(ctx, pod)
	if b.deleted != nil {
		return b.deleted(err)
	}
	return err
}

// via puts the adapter between the driver and the client.
func (b *broken) via(c *clusterapi.Config) { b.ClusterAPI, c.API = c.API, b }

// TestBrokenAdapter: each breach of the contract is a clear error of that pass, and the
// next pass over a sound adapter goes on.
func TestBrokenAdapter(t *testing.T) {
	tests := []struct {
		name   string
		breach func(b *broken)
		want   string
	}{
		{"observe returns nothing", func(b *broken) {
			b.observe = func(clusterapi.Observation, error) (clusterapi.Observation, error) {
				return clusterapi.Observation{}, nil
			}
		}, "neither a DaemonSet nor an error"},
		{"observe returns another set", func(b *broken) {
			b.observe = func(o clusterapi.Observation, err error) (clusterapi.Observation, error) {
				o.Objects.DaemonSet = o.Objects.DaemonSet.DeepCopy()
				o.Objects.DaemonSet.Name = "other"
				return o, err
			}
		}, "the DaemonSet is ops/other"},
		{"observe returns nil objects", func(b *broken) {
			b.observe = func(o clusterapi.Observation, err error) (clusterapi.Observation, error) {
				o.Objects.Nodes = append([]*corev1.Node{nil}, o.Objects.Nodes...)
				return o, err
			}
		}, "nodes[0]"},
		{"observe panics", func(b *broken) {
			b.observe = func(clusterapi.Observation, error) (clusterapi.Observation, error) { panic("boom") }
		}, "panic: boom"},
		{"create returns nothing", func(b *broken) {
			b.create = func(context.Context, *corev1.Pod) (*corev1.Pod, error) { return nil, nil }
		}, "neither an object nor an error"},
		{"observe returns a set that was never stored", func(b *broken) {
			b.observe = func(o clusterapi.Observation, err error) (clusterapi.Observation, error) {
				o.Objects.DaemonSet = o.Objects.DaemonSet.DeepCopy()
				o.Objects.DaemonSet.UID = ""
				return o, err
			}
		}, "the DaemonSet has no UID"},
		{"update status returns another set", func(b *broken) {
			b.status = func(set *appsv1.DaemonSet, err error) (*appsv1.DaemonSet, error) {
				other := set.DeepCopy()
				other.UID, other.ResourceVersion = "other", "999999"
				return other, err
			}
		}, "another v1.DaemonSet was returned, ops/agent with UID other"},
		{"create ends its goroutine", func(b *broken) {
			b.create = func(context.Context, *corev1.Pod) (*corev1.Pod, error) { runtime.Goexit(); return nil, nil }
		}, "ended its goroutine"},
		{"create panics", func(b *broken) {
			b.create = func(context.Context, *corev1.Pod) (*corev1.Pod, error) { panic("boom") }
		}, "panic: boom"},
		{"create hangs", func(b *broken) {
			b.create = func(context.Context, *corev1.Pod) (*corev1.Pod, error) { select {} }
		}, context.DeadlineExceeded.Error()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, 2)
			api := &broken{ClusterAPI: w.client}
			tt.breach(api)
			driver, err := clusterapi.NewDriver(clusterapi.Config{API: api, Now: w.cluster.Now, CallTimeout: 2 * time.Second})
			require.NoError(t, err)
			w.use(driver)
			_, err = w.sync()
			require.ErrorContains(t, err, tt.want)
			w.driver, err = clusterapi.NewDriver(clusterapi.Config{
				API: w.client, Now: w.cluster.Now, Expectations: driver.Expectations(), Backoff: driver.Backoff(),
			})
			require.NoError(t, err)
			w.cluster.Advance(2 * time.Minute)
			w.settle(20)
			require.Len(t, w.pods(), 2)
		})
	}
}

// TestForeignAnswer: a pod that is not the one asked for is no success.
func TestForeignAnswer(t *testing.T) {
	good := func(w *world) *corev1.Pod {
		result, err := w.driver.Plan(t.Context(), agent)
		require.NoError(t, err)
		pod := result.Plan.Pod(result.Plan.Creates[0])
		pod.Name, pod.UID, pod.ResourceVersion = "agent-x", "uid", "1"
		return pod
	}
	tests := []struct {
		name string
		bend func(pod *corev1.Pod)
		want string
	}{
		{"no UID", func(pod *corev1.Pod) { pod.UID = "" }, `has the name "agent-x" and the UID ""`},
		{"no name", func(pod *corev1.Pod) { pod.Name = "" }, `has the name "" and the UID "uid"`},
		{"other namespace", func(pod *corev1.Pod) { pod.Namespace = "elsewhere" }, "another v1.Pod was returned, elsewhere/agent-x"},
		{"no owner", func(pod *corev1.Pod) { pod.OwnerReferences = nil }, "not the DaemonSet's"},
		{"other owner", func(pod *corev1.Pod) { pod.OwnerReferences[0].UID = "other" }, "not the DaemonSet's"},
		{"as asked for", func(*corev1.Pod) {}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, 1)
			answer := good(w)
			tt.bend(answer)
			api := &broken{ClusterAPI: w.client, create: func(context.Context, *corev1.Pod) (*corev1.Pod, error) { return answer, nil }}
			driver, err := clusterapi.NewDriver(clusterapi.Config{API: api, Now: w.cluster.Now})
			require.NoError(t, err)
			result, err := driver.Sync(t.Context(), agent)
			if tt.want == "" {
				require.NoError(t, err)
				require.Equal(t, []clusterapi.Outcome{clusterapi.Done}, outcomes(result, clusterapi.CreatePod))
				return
			}
			require.ErrorIs(t, err, clusterapi.ErrAdapter)
			require.ErrorContains(t, err, tt.want)
			require.Equal(t, []clusterapi.Outcome{clusterapi.Unknown}, outcomes(result, clusterapi.CreatePod))
		})
	}
}

func TestConfigErrors(t *testing.T) {
	client := fake.New(1).NewClient()
	policy := backoff.Policy{Initial: time.Minute}
	tests := []struct {
		name string
		give clusterapi.Config
		want string
	}{
		{"no API", clusterapi.Config{}, "Config.API is nil"},
		{"unknown names", clusterapi.Config{API: client, PodNames: 7}, "Config.PodNames is PodNames(7)"},
		{
			"two policies",
			clusterapi.Config{API: client, Backoff: &backoff.Store{}, Options: daemonset.Options{Backoff: policy}},
			"not the policy of Config.Backoff",
		},
		{
			"not a follower",
			clusterapi.Config{API: struct{ clusterapi.ClusterAPI }{client}, Follow: true},
			"cannot be followed",
		},
		{"one policy twice", clusterapi.Config{API: client, Backoff: &backoff.Store{Policy: policy}, Options: daemonset.Options{Backoff: policy}}, ""},
		{"one policy", clusterapi.Config{API: client, Options: daemonset.Options{Backoff: policy}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			driver, err := clusterapi.NewDriver(tt.give)
			if tt.want == "" {
				require.NoError(t, err)
				require.Equal(t, policy, driver.Backoff().Policy)
				return
			}
			require.ErrorContains(t, err, tt.want)
		})
	}
}

// TestRevisionOfAnother: an answer about another revision raises no collision count.
func TestRevisionOfAnother(t *testing.T) {
	api := &broken{}
	w := newWorld(t, 1)
	_, err := w.sync()
	require.NoError(t, err)
	w.restart(api.via) // with a cache that has no revisions
	api.observe = func(o clusterapi.Observation, err error) (clusterapi.Observation, error) {
		o.Objects.Revisions, o.AsOf.Revisions = nil, ""
		return o, err
	}
	api.revision = func(r *appsv1.ControllerRevision, err error) (*appsv1.ControllerRevision, error) {
		other := r.DeepCopy()
		other.Name, other.Data.Raw = "other", []byte(`{}`)
		return other, err
	}
	_, err = w.sync()
	require.ErrorIs(t, err, clusterapi.ErrAdapter)
	require.Nil(t, w.set().Status.CollisionCount)
}

// TestNotFoundOfSomethingElse: that a node is not there does not mean that the set is gone.
func TestNotFoundOfSomethingElse(t *testing.T) {
	tests := []struct {
		name string
		err  error
		gone bool
	}{
		{"the set", apierrors.NewNotFound(appsv1.Resource("daemonsets"), agent.Name), true},
		{"the set, wrapped", fmt.Errorf("cache: %w", apierrors.NewNotFound(appsv1.Resource("daemonsets"), agent.Name)), true},
		{"without details", &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonNotFound}}, true},
		{"a node", apierrors.NewNotFound(corev1.Resource("nodes"), "n"), false},
		{"a node of the same name", apierrors.NewNotFound(corev1.Resource("nodes"), agent.Name), false},
		{"another set", apierrors.NewNotFound(appsv1.Resource("daemonsets"), "other"), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			api := &broken{observe: func(clusterapi.Observation, error) (clusterapi.Observation, error) {
				return clusterapi.Observation{}, tt.err
			}}
			w := newWorld(t, 1, api.via)
			result, err := w.sync()
			require.Equal(t, tt.gone, result.Gone)
			require.Equal(t, tt.gone, err == nil, "%v", err)
		})
	}
}
