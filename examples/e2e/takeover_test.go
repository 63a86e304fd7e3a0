package e2e_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemonplan/daemonplan/examples/e2e/controlplane"
)

const takenNodes = 12

// TestTakeover has one controller begin an update and another one end it, in both
// directions, on one set: no pod is restarted for it.
func TestTakeover(t *testing.T) {
	plane := thePlane(t)
	own, stock := subjects()[0], subjects()[1]
	tests := []struct {
		name     string
		strategy func(*appsv1.DaemonSet)
	}{
		{"unavailable", rolling(intstr.FromInt(1), intstr.FromInt(0))},
		{"surge", rolling(intstr.FromInt(0), intstr.FromInt(1))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t, plane, "takeover-"+tt.name, takenNodes)
			now := s.control(nil, stock)
			s.create(tt.strategy, slowly)
			s.reaches(settled(takenNodes))

			now = s.handOver(now, own, "v2")
			s.keepsStill(func() { now = s.control(now, stock) })
			s.keepsStill(func() { now = s.control(now, own) })
			now = s.handOver(now, stock, "v3")
			s.keepsStill(func() { s.control(now, own) })

			assert.Len(t, s.witness.History().Lives(s.get()), 3*takenNodes, "every pod is replaced once in each update")
			assert.Equal(t, "1 2 3", s.revisions())
		})
	}
}

// control stops one controller and starts another one.
func (s *scene) control(before *controlplane.Process, next subject) *controlplane.Process {
	s.t.Helper()
	s.subject = nil
	if before != nil {
		require.NoError(s.t, before.Stop())
	}
	s.subject = next.run(s.t, s.plane, launch{replica: "-takes-over"})
	return s.subject
}

// handOver has the update to a version begun by one controller and ended by the next.
func (s *scene) handOver(before *controlplane.Process, next subject, version string) *controlplane.Process {
	s.t.Helper()
	s.change(image(version))
	s.begins()
	s.subject = nil
	require.NoError(s.t, before.Stop())
	s.quiet()
	done := s.get().Status.UpdatedNumberScheduled
	require.Less(s.t, done, int32(takenNodes), "the update was over before it was handed over")
	s.t.Logf("%s: handed over to %s with %d of %d nodes updated", version, next.name, done, takenNodes)
	process := s.control(nil, next)
	if next.name == "stock" {
		defer s.nudge()()
	}
	s.reaches(settled(takenNodes))
	return process
}

// nudge touches the set every few seconds, until the returned function is called. With surge
// the stock controller relies on the event of a pod that turns ready to come back after
// minReadySeconds; a pod that was ready before it started gives none, and the update stands
// still until something else happens.
func (s *scene) nudge() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Second):
			}
			touch := fmt.Appendf(nil, `{"metadata":{"annotations":{"touched":"%d"}}}`, i)
			_, _ = s.client.AppsV1().DaemonSets(s.ns).Patch(s.ctx, setName, types.MergePatchType, touch, metav1.PatchOptions{})
		}
	}()
	return func() { close(done); <-ended }
}

// keepsStill sees that a change of the controller changes nothing else: no pod, no revision,
// and of the set not even the status.
func (s *scene) keepsStill(change func()) {
	s.t.Helper()
	s.quiet()
	before := s.look()
	change()
	s.quiet()
	assert.Equal(s.t, before, s.look())
}

type look struct {
	pods      map[string]string
	revisions string
	set       string // its resource version
	lives     int
}

func (s *scene) look() look {
	set := s.get()
	return look{s.uids(), s.revisions(), set.ResourceVersion, len(s.witness.History().Lives(set))}
}
