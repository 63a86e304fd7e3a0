package clusterapi_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
)

func TestNewDriverNeedsAnAPI(t *testing.T) {
	_, err := clusterapi.NewDriver(clusterapi.Config{})
	require.Error(t, err)
}

// TestRollout is the main road: a set is created, updated, rolled back and deleted.
func TestRollout(t *testing.T) {
	w := newWorld(t, 10)
	w.settle(20)
	require.Len(t, w.pods(), 10)
	require.EqualValues(t, 10, w.set().Status.NumberAvailable)
	first := w.pods()[0].Labels[appsv1.ControllerRevisionHashLabelKey]

	w.image("registry.example/agent:v2")
	w.settle(100)
	require.Len(t, w.pods(), 10)
	for _, pod := range w.pods() {
		require.Equal(t, "registry.example/agent:v2", pod.Spec.Containers[0].Image)
	}
	require.EqualValues(t, 10, w.set().Status.UpdatedNumberScheduled)
	require.Equal(t, w.set().Generation, w.set().Status.ObservedGeneration)

	w.image("registry.example/agent:v1")
	w.settle(100)
	require.Equal(t, first, w.pods()[0].Labels[appsv1.ControllerRevisionHashLabelKey], "a rollback finds its old revision")
	require.Len(t, fake.List[*appsv1.ControllerRevision](w.cluster, agent.Namespace), 2)

	require.NoError(t, fake.Delete[*appsv1.DaemonSet](w.cluster, agent, fake.DeleteOptions{Propagation: fake.Background}))
	w.deliver()
	result, err := w.sync()
	require.NoError(t, err)
	require.True(t, result.Gone)
	require.Zero(t, w.driver.Expectations().Owners())
}

// refusals are answers of a server to a create, and what the driver makes of them.
func TestCreateErrors(t *testing.T) {
	pods := corev1.Resource("pods")
	terminating := apierrors.NewForbidden(pods, "", errors.New("terminating"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	tests := []struct {
		name    string
		why     string
		give    error
		when    fake.When
		want    clusterapi.Outcome
		fails   bool // the pass returns an error
		pending int  // creates that are still waited for: the first pod, and a lost one
		requeue time.Duration
	}{
		{name: "forbidden", why: "a quota: refused, and so not waited for", give: apierrors.NewForbidden(pods, "", errors.New("quota")), want: clusterapi.Failed, fails: true, pending: 1},
		{name: "invalid", why: "an admission refusal", give: apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), "", nil), want: clusterapi.Failed, fails: true, pending: 1},
		{name: "already exists", why: "with generateName the server failed to find a name; nothing was made", give: apierrors.NewAlreadyExists(pods, "x"), want: clusterapi.Failed, fails: true, pending: 1},
		{name: "conflict", why: "refused", give: apierrors.NewConflict(pods, "x", errors.New("again")), want: clusterapi.Failed, fails: true, pending: 1},
		{name: "too many requests", why: "the server's delay is kept", give: apierrors.NewTooManyRequests("later", 7), want: clusterapi.Failed, fails: true, pending: 1, requeue: 7 * time.Second},
		{name: "timeout without effect", why: "the pod may exist and is waited for", give: apierrors.NewTimeoutError("slow", 3), want: clusterapi.Unknown, fails: true, pending: 2, requeue: 3 * time.Second},
		{name: "timeout after the effect", why: "the same answer, and the pod is there", give: apierrors.NewTimeoutError("slow", 0), when: fake.After, want: clusterapi.Unknown, fails: true, pending: 2},
		{name: "internal error", why: "leaves open what happened", give: apierrors.NewInternalError(errors.New("oops")), want: clusterapi.Unknown, fails: true, pending: 2},
		{name: "connection lost", why: "so does an error that is no answer at all", give: errors.New("EOF"), when: fake.After, want: clusterapi.Unknown, fails: true, pending: 2},
		{name: "namespace terminating", why: "no error: nothing can or need be created there any more", give: terminating, want: clusterapi.Skipped, pending: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, 7)
			w.client.Inject(fake.Fault{Call: fake.CreatePod, Skip: 1, Err: tt.give, When: tt.when})
			result, err := w.sync()
			require.Equal(t, tt.fails, err != nil, "%v", err)
			if tt.fails {
				require.ErrorIs(t, err, tt.give)
				one := &clusterapi.ApplyError{}
				require.ErrorAs(t, err, &one)
				require.Equal(t, clusterapi.CreatePod, one.Verb)
				require.Equal(t, nodeName(1), one.Node)
			}
			want := []clusterapi.Outcome{
				clusterapi.Done,          // a batch of one
				tt.want, clusterapi.Done, // a batch of two: both are tried
				clusterapi.Skipped, clusterapi.Skipped, clusterapi.Skipped, clusterapi.Skipped,
			}
			require.Equal(t, want, outcomes(result, clusterapi.CreatePod), tt.why)
			require.Equal(t, []clusterapi.Outcome{clusterapi.Done}, outcomes(result, clusterapi.UpdateStatus), "status is written all the same")
			pending := w.driver.Expectations().Pending(w.set().UID)
			require.Equal(t, tt.pending+1, pending.Creates, tt.why)
			require.GreaterOrEqual(t, result.Requeue, tt.requeue, tt.why)

			// What succeeded is not lost, what failed is made up for, and nothing is made twice.
			w.cluster.Advance(2 * time.Minute) // a lost create is given up
			w.settle(30)
			require.Len(t, w.pods(), 7)
			require.Zero(t, w.driver.Expectations().Owners())
		})
	}
}

// TestLostCreateMakesNoTwin: the answer to a create is lost and the cache lags; no second
// pod is made before the first can be seen.
func TestLostCreateMakesNoTwin(t *testing.T) {
	w := newWorld(t, 1)
	w.client.SetLag(fake.Lag{Hold: true}, fake.PodKind)
	w.client.Inject(fake.Fault{Call: fake.CreatePod, When: fake.After, Err: errors.New("EOF")})
	_, err := w.sync()
	require.Error(t, err)
	for range 5 {
		w.deliver()
		result, err := w.sync()
		require.NoError(t, err)
		require.Empty(t, outcomes(result, clusterapi.CreatePod))
		w.cluster.Run(5 * time.Second)
	}
	w.client.SetLag(fake.Lag{})
	w.settle(10)
	require.Len(t, w.pods(), 1)
}

func TestDeleteErrors(t *testing.T) {
	pods := corev1.Resource("pods")
	tests := []struct {
		name    string
		why     string
		give    error
		want    clusterapi.Outcome
		fails   bool
		pending int
	}{
		{"not found", "it is gone, which was the aim", apierrors.NewNotFound(pods, "x"), clusterapi.AlreadyDone, false, 0},
		{"conflict", "another pod has the name; the planned one is gone", apierrors.NewConflict(pods, "x", errors.New("uid")), clusterapi.AlreadyDone, false, 0},
		{"forbidden", "refused", apierrors.NewForbidden(pods, "x", errors.New("no")), clusterapi.Failed, true, 0},
		{"timeout", "deleting again is harmless, so it is not waited for", apierrors.NewTimeoutError("slow", 0), clusterapi.Unknown, true, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, 3)
			w.settle(20)
			w.image("registry.example/agent:v2")
			w.deliver()
			w.client.Inject(fake.Fault{Call: fake.DeletePod, Err: tt.give})
			result, err := w.sync()
			require.Equal(t, tt.fails, err != nil, "%v", err)
			require.Equal(t, []clusterapi.Outcome{tt.want}, outcomes(result, clusterapi.DeletePod), tt.why)
			require.Len(t, w.driver.Expectations().Pending(w.set().UID).Deletes, tt.pending)
			w.settle(60)
			for _, pod := range w.pods() {
				require.Equal(t, "registry.example/agent:v2", pod.Spec.Containers[0].Image)
			}
		})
	}
}

// TestStale: a driver does not act on reads that are older than its own writes.
func TestStale(t *testing.T) {
	w := newWorld(t, 3)
	w.client.SetLag(fake.Lag{Hold: true}, fake.PodKind)
	_, err := w.sync()
	require.NoError(t, err)
	require.Len(t, w.pods(), 3)
	w.driver.Expectations().Forget(w.set().UID) // as if every event had been misread
	result, err := w.sync()
	require.NoError(t, err)
	require.NotNil(t, result.Stale)
	require.Equal(t, "Pod", result.Stale.Kind)
	require.ErrorContains(t, result.Stale, "before our own write")
	require.Positive(t, result.Requeue)
	require.Empty(t, result.Writes)

	w.client.Sync()
	result, err = w.sync()
	require.NoError(t, err)
	require.Nil(t, result.Stale)
	require.Len(t, w.pods(), 3)

	// A cache that never catches up is believed in the end.
	w.client.Sync()
	w.client.SetLag(fake.Lag{Hold: true}, fake.DaemonSetKind)
	w.cluster.Run(time.Minute)
	w.client.Sync(fake.PodKind)
	result, err = w.sync() // writes status, and the cache does not show it
	require.NoError(t, err)
	require.Equal(t, []clusterapi.Outcome{clusterapi.Done}, outcomes(result, clusterapi.UpdateStatus))
	result, err = w.sync()
	require.NoError(t, err)
	require.NotNil(t, result.Stale)
	w.cluster.Advance(5 * time.Minute)
	result, err = w.sync()
	require.NoError(t, err)
	require.Nil(t, result.Stale)
}

// TestExpired: events that never come are waited for for five minutes, and the result says
// when they are given up.
func TestExpired(t *testing.T) {
	w := newWorld(t, 2)
	_, err := w.sync()
	require.NoError(t, err)
	w.watch.Drain() // lost
	w.cluster.Advance(5*time.Minute - time.Second)
	result, err := w.sync()
	require.NoError(t, err)
	require.Zero(t, result.Expired)
	require.Equal(t, time.Second, result.Requeue, "back when the wait is over")
	w.cluster.Advance(time.Second)
	result, err = w.sync()
	require.NoError(t, err)
	require.Equal(t, 2, result.Expired.Creates)
	require.Len(t, w.pods(), 2, "the cache shows them, so nothing is made twice")
	require.Zero(t, w.driver.Expectations().Owners())
}

// TestCancelled: a context that is done stops writing and withdraws what was not sent.
func TestCancelled(t *testing.T) {
	w := newWorld(t, 7)
	ctx, cancel := context.WithCancel(t.Context())
	api := &intercepted{ClusterAPI: w.client, afterCreate: func(n int) {
		if n == 1 {
			cancel()
		}
	}}
	driver, err := clusterapi.NewDriver(clusterapi.Config{API: api, Now: w.cluster.Now, Parallelism: 1})
	require.NoError(t, err)
	result, err := driver.Sync(ctx, agent)
	require.ErrorIs(t, err, context.Canceled)
	got := outcomes(result, clusterapi.CreatePod)
	require.Len(t, got, 7)
	require.Equal(t, []clusterapi.Outcome{clusterapi.Skipped, clusterapi.Skipped, clusterapi.Skipped}, got[4:])
	require.Equal(t, []clusterapi.Outcome{clusterapi.Skipped}, outcomes(result, clusterapi.UpdateStatus))
	made := len(w.pods())
	require.GreaterOrEqual(t, made, 1)
	require.Less(t, made, 4)
	require.LessOrEqual(t, driver.Expectations().Pending(w.set().UID).Creates, 3, "what was not sent is not waited for")
}

// intercepted counts creates and lets a test act after one.
type intercepted struct {
	clusterapi.ClusterAPI
	creates     int
	afterCreate func(n int)
}

func (i *intercepted) CreatePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	stored, err := i.ClusterAPI.CreatePod(ctx, pod)
	i.creates++
	i.afterCreate(i.creates)
	return stored, err
}

// broken answers as no adapter may.
type broken struct {
	clusterapi.ClusterAPI
	observe func(o clusterapi.Observation, err error) (clusterapi.Observation, error)
	create  func(ctx context.Context) (*corev1.Pod, error)
}

func (b *broken) Observe(ctx context.Context, key types.NamespacedName) (clusterapi.Observation, error) {
	o, err := b.ClusterAPI.Observe(ctx, key)
	if b.observe != nil {
		return b.observe(o, err)
	}
	return o, err
}

func (b *broken) CreatePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	if b.create != nil {
		return b.create(ctx)
	}
	return b.ClusterAPI.CreatePod(ctx, pod)
}

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
			b.create = func(context.Context) (*corev1.Pod, error) { return nil, nil }
		}, "neither an object nor an error"},
		{"create panics", func(b *broken) {
			b.create = func(context.Context) (*corev1.Pod, error) { panic("boom") }
		}, "panic: boom"},
		{"create hangs", func(b *broken) {
			b.create = func(context.Context) (*corev1.Pod, error) { select {} }
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

// TestAdoption: orphans are adopted only while the server itself still has the set.
func TestAdoption(t *testing.T) {
	orphan := func(w *world) {
		labels := map[string]string{"app": "agent"}
		_, err := fake.Create(w.cluster, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: agent.Namespace, Name: "orphan", Labels: labels,
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Friend", Name: "f", UID: "f"}},
			},
			Spec: corev1.PodSpec{NodeName: nodeName(0), Containers: []corev1.Container{{Name: "agent", Image: "registry.example/agent:v0"}}},
		})
		require.NoError(w, err)
		w.client.Sync()
	}
	t.Run("adopted and updated", func(t *testing.T) {
		w := newWorld(t, 1)
		orphan(w)
		result, err := w.sync()
		require.NoError(t, err)
		require.Equal(t, []clusterapi.Outcome{clusterapi.Done}, outcomes(result, clusterapi.AdoptPod))
		pod, err := fake.Get[*corev1.Pod](w.cluster, types.NamespacedName{Namespace: agent.Namespace, Name: "orphan"})
		require.NoError(t, err)
		require.Len(t, pod.OwnerReferences, 2, "other owners stay")
		require.Equal(t, w.set().UID, metav1.GetControllerOf(pod).UID)
		w.settle(30)
		require.Len(t, w.pods(), 1)
		require.Equal(t, "registry.example/agent:v1", w.pods()[0].Spec.Containers[0].Image)
	})
	t.Run("the set is gone", func(t *testing.T) {
		w := newWorld(t, 1)
		orphan(w)
		w.client.SetLag(fake.Lag{Hold: true}, fake.DaemonSetKind)
		require.NoError(t, fake.Delete[*appsv1.DaemonSet](w.cluster, agent, fake.DeleteOptions{Propagation: fake.Background}))
		result, err := w.sync()
		require.Error(t, err)
		require.Equal(t, []clusterapi.Outcome{clusterapi.Skipped}, outcomes(result, clusterapi.AdoptPod))
		for _, wr := range result.Writes {
			require.Equal(t, clusterapi.Skipped, wr.Outcome, "%s: the whole plan rests on the set", wr.Verb)
		}
	})
	t.Run("the set was made anew", func(t *testing.T) {
		w := newWorld(t, 1)
		orphan(w)
		w.client.SetLag(fake.Lag{Hold: true}, fake.DaemonSetKind)
		require.NoError(t, fake.Delete[*appsv1.DaemonSet](w.cluster, agent, fake.DeleteOptions{Propagation: fake.Background}))
		_, err := fake.Create(w.cluster, agentSet())
		require.NoError(t, err)
		result, err := w.sync()
		require.Error(t, err)
		require.Equal(t, []clusterapi.Outcome{clusterapi.Skipped}, outcomes(result, clusterapi.AdoptPod))
	})
}

// TestRelease: a pod that the selector does not match any more is let go, and is no
// longer the set's business.
func TestRelease(t *testing.T) {
	w := newWorld(t, 1)
	w.settle(10)
	pod := w.pods()[0]
	_, err := fake.Edit(w.cluster, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, func(p *corev1.Pod) {
		p.Labels["app"] = "debugged"
	})
	require.NoError(t, err)
	w.settle(10)
	require.Len(t, w.pods(), 2)
	released, err := fake.Get[*corev1.Pod](w.cluster, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name})
	require.NoError(t, err)
	require.Empty(t, released.OwnerReferences)
}

// TestRevisionNameTaken: the name of a new revision may be taken without our caches
// showing it.
func TestRevisionNameTaken(t *testing.T) {
	tests := []struct {
		name string
		why  string
		data func(w *world, r *appsv1.ControllerRevision)
		want []clusterapi.Outcome
	}{
		{"by the same template", "it is as good as created", func(*world, *appsv1.ControllerRevision) {}, []clusterapi.Outcome{clusterapi.AlreadyDone}},
		{"by another template", "the collision count is raised, and another hash is used", func(_ *world, r *appsv1.ControllerRevision) {
			r.Data.Raw = []byte(`{"spec":{"template":{"metadata":{"labels":{"app":"else"}}}}}`)
		}, []clusterapi.Outcome{clusterapi.Failed}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, 2)
			result, err := w.sync()
			require.NoError(t, err)
			taken := result.Plan.Revisions[0].Revision
			// The same again in a world where the name is taken behind the cache's back.
			w = newWorld(t, 2)
			w.client.SetLag(fake.Lag{Hold: true}, fake.RevisionKind)
			taken.OwnerReferences = nil
			taken.Labels = map[string]string{appsv1.ControllerRevisionHashLabelKey: result.Plan.Revision.Hash}
			tt.data(w, taken)
			_, err = fake.Create(w.cluster, taken)
			require.NoError(t, err)
			result, err = w.sync()
			require.Equal(t, tt.want, outcomes(result, clusterapi.CreateRevision), tt.why)
			if tt.want[0] == clusterapi.Failed {
				require.Error(t, err)
				require.EqualValues(t, 1, *w.set().Status.CollisionCount)
				require.Empty(t, w.pods(), "no pod carries a revision that is not there")
			}
			w.client.SetLag(fake.Lag{})
			w.settle(30)
			require.Len(t, w.pods(), 2)
			require.EqualValues(t, 2, w.set().Status.UpdatedNumberScheduled)
		})
	}
}

// TestStatusConflict: a status that meets a newer set is written once more on a fresh read.
func TestStatusConflict(t *testing.T) {
	w := newWorld(t, 1)
	w.client.SetLag(fake.Lag{Hold: true}, fake.DaemonSetKind)
	w.edit(func(set *appsv1.DaemonSet) { set.Labels = map[string]string{"touched": "yes"} })
	result, err := w.sync()
	require.NoError(t, err)
	require.Equal(t, []clusterapi.Outcome{clusterapi.Done}, outcomes(result, clusterapi.UpdateStatus))
	require.EqualValues(t, 1, w.set().Status.DesiredNumberScheduled)
	require.Equal(t, "yes", w.set().Labels["touched"])
}

// TestDeterministicNames: with names from set, node and revision, a client whose cache
// never shows its pods makes no twin.
func TestDeterministicNames(t *testing.T) {
	names := func(c *clusterapi.Config) { c.PodNames = clusterapi.DeterministicNames }
	w := newWorld(t, 5, names)
	w.client.SetLag(fake.Lag{Hold: true}, fake.PodKind)
	_, err := w.sync()
	require.NoError(t, err)
	require.Len(t, w.pods(), 5)
	for range 5 {
		w.cluster.Run(10 * time.Minute) // long enough for the driver to believe its cache again
		result, err := w.sync()
		require.NoError(t, err)
		for _, outcome := range outcomes(result, clusterapi.CreatePod) {
			require.Equal(t, clusterapi.AlreadyDone, outcome)
		}
	}
	require.Len(t, w.pods(), 5)
	w.restart(names) // after a crash the caches are fresh and everything goes on
	w.image("registry.example/agent:v2")
	w.settle(60)
	require.Len(t, w.pods(), 5)
}

// TestTakenName: a create whose name is taken is looked at again after a second, or sooner
// if time alone changes the plan before, but not while a server wants to be left alone.
func TestTakenName(t *testing.T) {
	tests := []struct {
		name      string
		why       string
		minReady  int32
		sinceTurn time.Duration // since the first pod became ready
		busy      error         // the answer to the status write
		want      time.Duration
	}{
		{"wake later", "the retry does not wait for the pod to become available", 60, 30 * time.Second, nil, time.Second},
		{"wake sooner", "the pod becomes available first", 60, 59500 * time.Millisecond, nil, 500 * time.Millisecond},
		{"server busy", "nothing goes before its delay", 60, 30 * time.Second, apierrors.NewTooManyRequests("busy", 7), 7 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, 1, func(c *clusterapi.Config) { c.PodNames = clusterapi.DeterministicNames })
			w.edit(func(set *appsv1.DaemonSet) { set.Spec.MinReadySeconds = tt.minReady })
			result, err := w.sync()
			require.NoError(t, err)
			taken := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Namespace: agent.Namespace,
				Name:      clusterapi.PodName(result.Plan.For, nodeName(1), result.Plan.Revision.Hash),
			}}
			taken.Spec.Containers = []corev1.Container{{Name: "other", Image: "registry.example/other"}}
			_, err = fake.Create(w.cluster, taken)
			require.NoError(t, err)
			w.cluster.Run(20 * time.Second)
			_, err = fake.Create(w.cluster, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName(1)}})
			require.NoError(t, err)
			w.deliver()
			turned := w.pods()[0].Status.Conditions
			for _, condition := range turned {
				if condition.Type == corev1.PodReady {
					w.cluster.Advance(condition.LastTransitionTime.Add(tt.sinceTurn).Sub(w.cluster.Now()))
				}
			}
			if tt.busy != nil {
				w.client.Inject(fake.Fault{Call: fake.UpdateSetStatus, Err: tt.busy})
			}
			result, err = w.sync()
			require.Equal(t, tt.busy != nil, err != nil, "%v", err)
			require.Equal(t, []clusterapi.Outcome{clusterapi.AlreadyDone}, outcomes(result, clusterapi.CreatePod))
			require.Equal(t, tt.want, result.Requeue, tt.why)
		})
	}
}

func TestPodName(t *testing.T) {
	long := ""
	for range 30 {
		long += "abcdefgh-"
	}
	ref := func(name, uid string) (r struct{ Name, UID string }) { return struct{ Name, UID string }{name, uid} }
	seen := map[string]bool{}
	for _, give := range []struct {
		set            struct{ Name, UID string }
		node, revision string
	}{
		{ref("agent", "1"), "a", "x"},
		{ref("agent", "2"), "a", "x"},
		{ref("agent", "1"), "b", "x"},
		{ref("agent", "1"), "a", "y"},
		{ref(long, "1"), "a", "x"},
		{ref("agent", "1"), "a\x00x", ""},
	} {
		name := clusterapi.PodName(refOf(give.set.Name, give.set.UID), give.node, give.revision)
		require.False(t, seen[name], name)
		require.LessOrEqual(t, len(name), 63)
		require.Regexp(t, `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`, name)
		seen[name] = true
	}
}

// TestFailedPods: the backoff of a node is advanced once its failed pod is on its way out.
func TestFailedPods(t *testing.T) {
	w := newWorld(t, 1)
	w.cluster.SetFateOn(nodeName(0), fake.Fate{Outcome: fake.Rejected})
	deletes := 0
	for range 120 {
		w.deliver()
		result, err := w.sync()
		require.NoError(t, err)
		deletes += result.Count(clusterapi.DeletePod, clusterapi.Done)
		w.cluster.Run(time.Second)
	}
	require.InDelta(t, 7, deletes, 1, "1, 2, 4, ... seconds apart: seven in two minutes")
	require.Len(t, w.driver.Backoff().Save(), 1)
	w.cluster.SetFateOn(nodeName(0), fake.Fate{})
	w.cluster.Advance(15 * time.Minute)
	w.settle(20)
	require.EqualValues(t, 1, w.set().Status.NumberAvailable)
}
