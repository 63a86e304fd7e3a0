package fake_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/clusterapi/fake"
)

// TestConcurrentUse is for the race detector: everything is used at once, and the objects
// that Observe shares are read meanwhile.
func TestConcurrentUse(t *testing.T) {
	c := fake.New(1)
	set := mustCreate(t, c, newSet("set"))
	for i := range 20 {
		mustCreate(t, c, newNode(fmt.Sprintf("n%d", i)))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			cl := c.NewClient()
			defer cl.Close()
			w := cl.Watch()
			cl.SetLag(fake.Lag{Changes: worker})
			cl.SetChaos(fake.Chaos{Refuse: 0.05, Lose: 0.05})
			for i := range 50 {
				pod := newOwned("", fmt.Sprintf("n%d", (worker+i)%20), set)
				pod.GenerateName = "agent-"
				if stored, err := cl.CreatePod(ctx, pod); err == nil && i%3 == 0 {
					_ = cl.DeletePod(ctx, ref(stored)) // chaos may refuse
				}
				observation, err := cl.Observe(ctx, key("set"))
				if err == nil {
					for _, seen := range observation.Objects.Pods {
						assert.NotEmpty(t, phaseAndReady(seen))
					}
				}
				for _, e := range w.Drain() {
					fake.Handlers{Pod: func(_, _ *corev1.Pod) {}}.Handle(e)
				}
				if i%10 == 0 {
					cl.Relist()
				}
			}
		})
	}
	all.Go(func() {
		for i := range 100 {
			c.Run(100 * time.Millisecond)
			name := fmt.Sprintf("n%d", i%20)
			c.SetNodeHealth(name, fake.Health(i%3))
			c.SetFateOn(name, fake.Fate{Outcome: fake.Outcome(i % 7)})
			_, err := fake.Edit(c, nodeKey(name), func(node *corev1.Node) { node.Spec.Unschedulable = i%2 == 0 })
			assert.NoError(t, err)
			fake.List[*corev1.Pod](c, "")
		}
	})
	all.Wait()
	require.NoError(t, ctx.Err())
	assert.NotEmpty(t, fake.List[*corev1.Pod](c, ""))
}
