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

	"github.com/daemonplan/daemonplan/backoff"
	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
)

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
		{"timeout", "the pod may be going, and is waited for", apierrors.NewTimeoutError("slow", 0), clusterapi.Unknown, true, 1},
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

// TestCancelled: a context that is done stops writing and withdraws what was not sent, also
// if the adapter does not look at it.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	sent := 0
	api := &broken{}
	w := newWorld(t, 7, api.via)
	client := api.ClusterAPI
	api.create = func(_ context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
		if sent++; sent == 4 { // the first of a batch of four
			defer cancel()
		}
		return client.CreatePod(t.Context(), pod)
	}
	result, err := w.driver.Sync(ctx, agent)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 4, sent)
	got := outcomes(result, clusterapi.CreatePod)
	require.Equal(t, []clusterapi.Outcome{clusterapi.Skipped, clusterapi.Skipped, clusterapi.Skipped}, got[4:])
	require.Equal(t, []clusterapi.Outcome{clusterapi.Skipped}, outcomes(result, clusterapi.UpdateStatus))
	require.Len(t, w.pods(), 4)
	require.LessOrEqual(t, w.driver.Expectations().Pending(w.set().UID).Creates, 4, "what was not sent is not waited for")
}

// TestLongPass: what is waited for is waited for from the answer on, not from the beginning
// of a pass that took its time.
func TestLongPass(t *testing.T) {
	tests := []struct {
		name   string
		lag    fake.Lag
		answer func(w *world, sent int, pod *corev1.Pod, err error) (*corev1.Pod, error)
	}{
		{"a create without an answer after a minute", fake.Lag{Hold: true}, func(w *world, sent int, pod *corev1.Pod, err error) (*corev1.Pod, error) {
			if sent == 1 {
				w.cluster.Advance(time.Minute)
				return nil, apierrors.NewTimeoutError("slow", 0)
			}
			return pod, err
		}},
		{"three creates of 100 seconds", fake.Lag{Age: time.Second}, func(w *world, _ int, pod *corev1.Pod, err error) (*corev1.Pod, error) {
			return pod, err
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			api := &broken{}
			w := newWorld(t, 3, api.via)
			w.client.SetLag(tt.lag, fake.PodKind)
			sent := 0
			api.created = func(pod *corev1.Pod, err error) (*corev1.Pod, error) {
				sent++
				return tt.answer(w, sent, pod, err)
			}
			client := api.ClusterAPI
			if tt.lag.Age > 0 {
				api.ClusterAPI = slowCreates{client, w.cluster}
			}
			_, _ = w.sync()
			made := len(w.pods())
			w.cluster.Advance(5 * time.Millisecond)
			_, err := w.sync()
			require.NoError(t, err)
			require.Len(t, w.pods(), made, "no twins")
		})
	}
}

// slowCreates takes 100 s for each create.
type slowCreates struct {
	clusterapi.ClusterAPI
	cluster *fake.Cluster
}

func (s slowCreates) CreatePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	s.cluster.Advance(100 * time.Second)
	return s.ClusterAPI.CreatePod(ctx, pod)
}

// TestLostDeleteKeepsTheBudget: a delete without an answer may have taken effect, and the
// next plan might choose another pod.
func TestLostDeleteKeepsTheBudget(t *testing.T) {
	api := &broken{}
	w := newWorld(t, 3, api.via)
	w.settle(20)
	w.image("registry.example/agent:v2")
	lost := 0
	for lost == 0 { // the first node is updated, then the delete on the second gets no answer
		w.deliver()
		result, err := w.sync()
		if result.Count(clusterapi.DeletePod, clusterapi.Done) == 1 {
			api.deleted = func(error) error {
				w.client.SetLag(fake.Lag{Hold: true}, fake.PodKind)
				lost++
				return apierrors.NewTimeoutError("slow", 0)
			}
		}
		require.Equal(t, lost > 0, err != nil, "%v", err)
		w.cluster.Run(10 * time.Second)
	}
	api.deleted = nil
	w.image("registry.example/agent:v3") // the first node is the first candidate again
	result, err := w.sync()
	require.NoError(t, err)
	require.Equal(t, daemonset.WritesPending, result.Plan.Reason)
	require.Empty(t, outcomes(result, clusterapi.DeletePod))
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

// TestBackoffIsPruned: what has decayed is dropped by passes, once a minute.
func TestBackoffIsPruned(t *testing.T) {
	w := newWorld(t, 0)
	_, err := w.sync()
	require.NoError(t, err)
	key := backoff.Key{Owner: "other", Generation: 1, Node: "n"}
	w.driver.Backoff().Record(key, w.cluster.Now().Add(-time.Hour))
	_, err = w.sync()
	require.NoError(t, err)
	require.Len(t, w.driver.Backoff().Save(), 1, "within the minute")
	w.cluster.Advance(time.Minute)
	_, err = w.sync()
	require.NoError(t, err)
	require.Empty(t, w.driver.Backoff().Save())
}
