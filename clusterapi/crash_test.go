package clusterapi_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
)

// TestCrashPoints lets the process die at every single write of a rollout, once before and
// once after the write took effect, and starts it anew from the objects alone.
func TestCrashPoints(t *testing.T) {
	for _, names := range []clusterapi.PodNames{clusterapi.ServerNames, clusterapi.DeterministicNames} {
		for _, when := range []fake.When{fake.Before, fake.After} {
			writes := 0
			for point := 0; ; point++ {
				w := newWorld(t, 4, func(c *clusterapi.Config) { c.PodNames = names })
				w.client.Inject(fake.Fault{Call: fake.AnyWrite, Skip: point, When: when, Crash: true})
				if crashed := w.rolloutWithCrash(names); !crashed {
					break
				}
				writes++
			}
			require.Greater(t, writes, 20, "a rollout of four nodes takes more writes than that")
			t.Logf("died at each of %d writes (names %d, moment %d)", writes, names, when)
		}
	}
}

// rolloutWithCrash rolls a set out and updates it, restarting the process when it dies. It
// reports whether that happened.
func (w *world) rolloutWithCrash(names clusterapi.PodNames) (crashed bool) {
	w.Helper()
	for _, image := range []string{"registry.example/agent:v1", "registry.example/agent:v2"} {
		w.image(image)
		for range 60 {
			w.deliver()
			_, err := w.sync()
			if w.client.Crashed() {
				crashed = true
				w.restart(func(c *clusterapi.Config) { c.PodNames = names })
				err = nil
			}
			require.NoError(w, err)
			w.cluster.Run(3 * time.Second)
			w.requireNoTwins()
		}
		w.settle(20)
		require.Len(w, w.pods(), 4)
		for _, pod := range w.pods() {
			require.Equal(w, image, pod.Spec.Containers[0].Image)
		}
	}
	require.Zero(w, w.driver.Expectations().Owners())
	return crashed
}

func (w *world) requireNoTwins() {
	w.Helper()
	on := map[string]string{}
	for _, pod := range w.pods() {
		if !live(pod) {
			continue
		}
		node, _ := placementOf(pod)
		require.Empty(w, on[node], "%s and %s are both live on %s", pod.Name, on[node], node)
		on[node] = pod.Name
	}
}
