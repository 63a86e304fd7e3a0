package clusterapi_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
)

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
