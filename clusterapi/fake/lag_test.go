package fake_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
)

func observe(t *testing.T, cl *fake.Client) clusterapi.Observation {
	t.Helper()
	observation, err := cl.Observe(t.Context(), key("set"))
	require.NoError(t, err)
	return observation
}

// withSet is a cluster with a set, a client that has seen it, and three pods that it has
// not looked at yet.
func withSet(t *testing.T) (*fake.Cluster, *fake.Client) {
	t.Helper()
	c := steady()
	set := mustCreate(t, c, newSet("set"))
	cl := c.NewClient()
	t.Cleanup(cl.Close)
	for _, name := range []string{"a", "b", "c"} {
		mustCreate(t, c, newOwned(name, name, set))
		c.Advance(time.Second)
	}
	return c, cl
}

func TestCachesLag(t *testing.T) {
	tests := []struct {
		name, why string
		lag       fake.Lag
		kinds     []fake.Kind
		want      []string
		asOf      string // the set is version 2, the pods are 3, 4 and 5
	}{
		{"not", "all is seen", fake.Lag{}, nil, []string{"a", "b", "c"}, "5"},
		{"by one change", "the latest is not seen", fake.Lag{Changes: 1}, nil, []string{"a", "b"}, "4"},
		{"by more than there are", "nothing is seen", fake.Lag{Changes: 9}, nil, []string{}, "2"},
		{"by age", "the latest is 1 s old, the one before 2 s", fake.Lag{Age: 2 * time.Second}, nil, []string{"a", "b"}, "4"},
		{"by both", "the conditions add up", fake.Lag{Changes: 2, Age: 2 * time.Second}, nil, []string{"a"}, "3"},
		{"for good", "until it is delivered", fake.Lag{Hold: true}, nil, []string{}, "2"},
		{"of pods", "named", fake.Lag{Hold: true}, []fake.Kind{fake.PodKind}, []string{}, "2"},
		{"of other kinds", "each has its own", fake.Lag{Hold: true}, []fake.Kind{fake.NodeKind, fake.RevisionKind}, []string{"a", "b", "c"}, "5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, cl := withSet(t)
			cl.SetLag(tt.lag, tt.kinds...)
			got := observe(t, cl)
			assert.Equal(t, tt.want, names(got.Objects.Pods), tt.why)
			assert.Equal(t, clusterapi.Versions{DaemonSets: "2", Pods: tt.asOf, Revisions: "2"}, got.AsOf)
		})
	}
}

func TestWhatWasSeenStaysSeen(t *testing.T) {
	_, cl := withSet(t)
	require.Len(t, observe(t, cl).Objects.Pods, 3)
	cl.SetLag(fake.Lag{Changes: 3, Hold: true})
	assert.Len(t, observe(t, cl).Objects.Pods, 3)
}

func TestDelivery(t *testing.T) {
	c, cl := withSet(t)
	cl.SetLag(fake.Lag{Hold: true})
	assert.Equal(t, 2, cl.Deliver(fake.PodKind, 2))
	assert.Equal(t, []string{"a", "b"}, names(observe(t, cl).Objects.Pods))
	assert.Zero(t, cl.Deliver(fake.NodeKind, 5))
	assert.Equal(t, 1, cl.Deliver(fake.PodKind, 5))
	require.NoError(t, fake.Delete[*corev1.Pod](c, key("b"), fake.DeleteOptions{}))
	_, err := fake.Edit(c, key("set"), func(set *appsv1.DaemonSet) { set.Spec.MinReadySeconds = 5 })
	require.NoError(t, err)
	cl.Sync(fake.DaemonSetKind)
	got := observe(t, cl)
	assert.Len(t, got.Objects.Pods, 3)
	assert.Equal(t, int32(5), got.Objects.DaemonSet.Spec.MinReadySeconds)
	cl.Sync()
	got = observe(t, cl)
	assert.Equal(t, []string{"a", "c"}, names(got.Objects.Pods))
	assert.Equal(t, c.Version(), got.AsOf.DaemonSets)
	assert.Equal(t, "6", got.AsOf.Pods, "a deletion has a version too")
}

func TestObserveShowsWhatBelongsToTheSet(t *testing.T) {
	c, cl := withSet(t)
	other := mustCreate(t, c, newSet("other"))
	mustCreate(t, c, newOwned("of-other", "a", other))
	mustCreate(t, c, newPod("orphan"))
	elsewhere := newPod("orphan-elsewhere")
	elsewhere.Namespace = "other"
	mustCreate(t, c, elsewhere)
	mustCreate(t, c, newNode("n"))
	mustCreate(t, c, newRevision("r"))
	far := newRevision("far")
	far.Namespace = "other"
	mustCreate(t, c, far)

	got := observe(t, cl).Objects
	assert.Equal(t, []string{"a", "b", "c", "orphan"}, names(got.Pods))
	assert.Equal(t, []string{"n"}, names(got.Nodes))
	assert.Equal(t, []string{"r"}, names(got.Revisions))

	_, err := fake.Edit(c, key("a"), func(pod *corev1.Pod) { pod.OwnerReferences = nil })
	require.NoError(t, err)
	assert.Equal(t, []string{"b", "c", "a", "orphan"}, names(observe(t, cl).Objects.Pods), "owned first")
	_, err = cl.Observe(t.Context(), key("absent"))
	assert.True(t, apierrors.IsNotFound(err), "got %v", err)
}

func TestObserveDoesNotCopyObjects(t *testing.T) {
	_, cl := withSet(t)
	first, second := observe(t, cl).Objects, observe(t, cl).Objects
	assert.Same(t, first.Pods[0], second.Pods[0])
	first.Pods[0] = nil
	assert.NotNil(t, observe(t, cl).Objects.Pods[0], "the slice is the caller's")
}

func TestLiveReadsDoNotLag(t *testing.T) {
	c, cl := withSet(t)
	cl.SetLag(fake.Lag{Hold: true})
	mustCreate(t, c, newRevision("r"))
	_, err := fake.Edit(c, key("set"), func(set *appsv1.DaemonSet) { set.Spec.MinReadySeconds = 5 })
	require.NoError(t, err)
	live, err := cl.Live(t.Context(), key("set"))
	require.NoError(t, err)
	assert.Equal(t, int32(5), live.Spec.MinReadySeconds)
	_, err = cl.Revision(t.Context(), key("r"))
	require.NoError(t, err)
	assert.Empty(t, observe(t, cl).Objects.Revisions)
}

func TestClosedClient(t *testing.T) {
	c, cl := withSet(t)
	w := cl.Watch()
	cl.Close()
	cl.Close()
	_, err := cl.Observe(t.Context(), key("set"))
	require.ErrorIs(t, err, fake.ErrCrashed)
	mustCreate(t, c, newPod("late"))
	assert.Zero(t, cl.Deliver(fake.PodKind, 9))
	assert.Empty(t, w.Drain())
	assert.True(t, cl.Crashed())
}

func TestPublishedEventsAreKeptForAnHour(t *testing.T) {
	c, cl := withSet(t)
	set := ref(mustGet[*appsv1.DaemonSet](t, c, key("set")))
	cl.RecordEvent(t.Context(), set, daemonset.Event{Reason: "first"})
	c.Advance(30 * time.Minute)
	cl.RecordEvent(t.Context(), set, daemonset.Event{Reason: "second"})
	assert.Equal(t, []fake.RecordedEvent{
		{About: set, Event: daemonset.Event{Reason: "first"}}, {About: set, Event: daemonset.Event{Reason: "second"}},
	}, c.Recorded())
	c.Advance(30 * time.Minute)
	assert.Equal(t, []fake.RecordedEvent{{About: set, Event: daemonset.Event{Reason: "second"}}}, c.Recorded())
}

// TestObserveOthers: the pods of everybody come from the same cache, by request.
func TestObserveOthers(t *testing.T) {
	c, cl := withSet(t)
	other := newPod("other")
	other.Namespace = "another"
	mustCreate(t, c, other)
	require.Empty(t, observe(t, cl).Objects.Others, "nobody asked")
	cl.ObserveOthers()
	require.Equal(t, []string{"other", "a", "b", "c"}, names(observe(t, cl).Objects.Others), "by namespace and name")
	cl.SetLag(fake.Lag{Hold: true}, fake.PodKind)
	mustCreate(t, c, newPod("late"))
	next := cl.Restart()
	defer next.Close()
	require.Equal(t, []string{"other", "a", "b", "c"}, names(observe(t, next).Objects.Others))
	next.Sync()
	require.Len(t, observe(t, next).Objects.Others, 5)
}
