package fake_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
)

func TestRestartKeepsTheCaches(t *testing.T) {
	tests := []struct {
		name, why string
		end       func(t *testing.T, cl *fake.Client)
		want      []string
	}{
		{"alive", "the new process sees what the old one saw", func(*testing.T, *fake.Client) {}, []string{"a", "b"}},
		{"crashed", "a crash does not lose the place", crash, []string{"a", "b"}},
		{"closed", "nobody kept what was not seen", func(_ *testing.T, cl *fake.Client) { cl.Close() }, []string{"a", "b", "c"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, cl := withSet(t)
			cl.SetLag(fake.Lag{Changes: 1})
			require.Len(t, observe(t, cl).Objects.Pods, 2)
			cl.SetLag(fake.Lag{Hold: true})
			tt.end(t, cl)
			next := cl.Restart()
			defer next.Close()
			_, err := cl.Observe(t.Context(), key("set"))
			require.ErrorIs(t, err, fake.ErrCrashed, "the old process is dead")
			assert.Equal(t, tt.want, names(observe(t, next).Objects.Pods), tt.why)
			mustCreate(t, c, newPod("late"))
			next.Sync()
			assert.Equal(t, []string{"a", "b", "c", "late"}, names(observe(t, next).Objects.Pods))
		})
	}
}

func crash(t *testing.T, cl *fake.Client) {
	t.Helper()
	cl.Inject(fake.Fault{Call: fake.Live, Crash: true})
	_, err := cl.Live(t.Context(), key("set"))
	require.ErrorIs(t, err, fake.ErrCrashed)
}

// The place is kept even if the cluster forgets what others have seen.
func TestRestartAfterMuchHappened(t *testing.T) {
	c, cl := withSet(t)
	other := c.NewClient()
	defer other.Close()
	require.Len(t, observe(t, cl).Objects.Pods, 3)
	cl.SetLag(fake.Lag{Hold: true})
	crash(t, cl)
	for i := range 300 {
		_, err := fake.Edit(c, key("a"), func(pod *corev1.Pod) { pod.Labels["at"] = strconv.Itoa(i) })
		require.NoError(t, err)
		other.Sync()
	}
	next := cl.Restart()
	defer next.Close()
	assert.Empty(t, observe(t, next).Objects.Pods[0].Labels["at"])
	assert.Equal(t, 300, next.Deliver(fake.PodKind, 1000))
	assert.NotEmpty(t, observe(t, next).Objects.Pods[0].Labels["at"])
}

func TestRestartStartsAfresh(t *testing.T) {
	c, cl := withSet(t)
	w := cl.Watch()
	cl.SetChaos(fake.Chaos{Refuse: 1})
	cl.Inject(fake.Fault{Call: fake.Observe, Times: -1, Err: apierrors.NewBadRequest("no")})
	_, err := cl.CreatePod(t.Context(), newPod("refused"))
	require.Error(t, err)
	next := cl.Restart()
	defer next.Close()
	assert.Zero(t, next.Writes())
	assert.Len(t, observe(t, next).Objects.Pods, 3, "neither the fault nor the chaos")
	mustCreate(t, c, newPod("late"))
	assert.Empty(t, w.Drain(), "the watch died with its client")
	assert.Len(t, next.Watch().Drain(), 5, "the set and four pods")
}

// TestRestartOnAnOldCache is what deterministic names are for: a process that starts on
// caches from before its predecessor's last writes, and knows nothing of them.
func TestRestartOnAnOldCache(t *testing.T) {
	tests := map[clusterapi.PodNames]int{
		clusterapi.DeterministicNames: 3, // the name is taken
		clusterapi.ServerNames:        6, // nothing tells that the pod is there already
	}
	for podNames, want := range tests {
		t.Run(podNames.String(), func(t *testing.T) {
			c := steady()
			for _, name := range []string{"a", "b", "c"} {
				mustCreate(t, c, newNode(name))
			}
			mustCreate(t, c, newSet("set"))
			cl := c.NewClient()
			cl.SetLag(fake.Lag{Hold: true})
			_ = syncAnew(t, c, cl, podNames)
			require.Len(t, fake.List[*corev1.Pod](c, "ns"), 3)

			next := cl.Restart()
			defer next.Close()
			require.Empty(t, observe(t, next).Objects.Pods, "the cache is old")
			_ = syncAnew(t, c, next, podNames) // a write from old reads may fail
			assert.Len(t, fake.List[*corev1.Pod](c, "ns"), want)

			next.SetLag(fake.Lag{})
			for range 20 {
				c.Run(5 * time.Second)
				_ = syncAnew(t, c, next, podNames)
			}
			assert.Len(t, fake.List[*corev1.Pod](c, "ns"), 3, "in the end there is one on each node")
		})
	}
}

// syncAnew makes one pass with a driver that remembers nothing.
func syncAnew(t *testing.T, c *fake.Cluster, cl *fake.Client, podNames clusterapi.PodNames) error {
	t.Helper()
	driver, err := clusterapi.NewDriver(clusterapi.Config{API: cl, Now: c.Now, PodNames: podNames, Parallelism: 1})
	require.NoError(t, err)
	_, err = driver.Sync(t.Context(), key("set"))
	return err
}
