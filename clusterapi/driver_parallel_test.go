package clusterapi_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/daemonplan/daemonplan/clusterapi"
)

// TestSlowStart: creates go out in batches of 1, 2, 4, ..., each once the one before has
// ended, and no more at a time than the driver may. Each takes a second here.
func TestSlowStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &broken{}
		w := newWorld(t, 31, api.via, func(c *clusterapi.Config) { c.Parallelism = 4 })
		client, zero := api.ClusterAPI, instant()
		var mu sync.Mutex
		started := map[time.Duration]int{}
		api.create = func(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
			mu.Lock()
			started[instant().Sub(zero)/time.Second]++
			mu.Unlock()
			sleep(time.Second)
			return client.CreatePod(ctx, pod)
		}
		_, err := w.sync()
		require.NoError(t, err)
		require.Equal(t, map[time.Duration]int{0: 1, 1: 2, 2: 4, 3: 4, 4: 4, 5: 4, 6: 4, 7: 4, 8: 4}, started)
		require.Len(t, w.pods(), 31)
	})
}

// TestErrorsInPlanOrder: answers may come in any order, the errors come in the plan's.
func TestErrorsInPlanOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &broken{}
		w := newWorld(t, 7, api.via, func(c *clusterapi.Config) { c.Parallelism = 8 })
		client := api.ClusterAPI
		api.create = func(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
			node, _ := placementOf(pod)
			for i := 3; i < 7; i++ { // the batch of four, the last of them first
				if node == nodeName(i) {
					sleep(time.Duration(10-i) * time.Second)
					return nil, apierrors.NewForbidden(corev1.Resource("pods"), "", fmt.Errorf("quota on %s", node))
				}
			}
			return client.CreatePod(ctx, pod)
		}
		result, err := w.sync()
		var nodes []string
		for _, one := range err.(interface{ Unwrap() []error }).Unwrap() {
			apply := &clusterapi.ApplyError{}
			require.True(t, errors.As(one, &apply))
			nodes = append(nodes, apply.Node)
		}
		require.Equal(t, []string{nodeName(3), nodeName(4), nodeName(5), nodeName(6)}, nodes)
		require.Equal(t, 3, result.Count(clusterapi.CreatePod, clusterapi.Done), "what succeeded is not lost")
		require.Equal(t, 1, result.Count(clusterapi.UpdateStatus, clusterapi.Done), "and status is written")
		for i, write := range result.Writes {
			if i > 0 && write.Verb == clusterapi.CreatePod && result.Writes[i-1].Verb == clusterapi.CreatePod {
				require.Less(t, result.Writes[i-1].Node, write.Node)
			}
		}
	})
}
