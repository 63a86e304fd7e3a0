package fake_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
)

func TestContractOnTheClusterItself(t *testing.T) {
	lags := map[string]fake.Lag{
		"no lag":         {},
		"three changes":  {Changes: 3},
		"ten seconds":    {Age: 10 * time.Second},
		"until delivery": {Hold: true},
	}
	for name, lag := range lags {
		t.Run(name, func(t *testing.T) {
			fake.TestClusterAPI(t, func(t *testing.T) fake.Harness {
				t.Helper()
				h := newHarness(t, fake.New(1), "ns")
				h.lag = lag
				h.adapter.SetLag(lag)
				return h
			})
		})
	}
}

// TestContractOnASharedServer has one server for all parts, on which there is something
// before them, as on a real one.
func TestContractOnASharedServer(t *testing.T) {
	c := inhabited(t)
	before := len(fake.List[*corev1.Node](c, ""))
	parts := 0
	fake.TestClusterAPI(t, func(t *testing.T) fake.Harness {
		t.Helper()
		parts++
		return newHarness(t, c, fmt.Sprintf("contract-%d", parts))
	})
	assert.Greater(t, parts, 30)
	assert.Len(t, fake.List[*corev1.Node](c, ""), before, "the suite removes its nodes")
}

// inhabited is a cluster that others use: with nodes, another set of the suite's name and
// all that belongs to it.
func inhabited(t *testing.T) *fake.Cluster {
	t.Helper()
	c := fake.New(1)
	for _, name := range []string{"a", "b", "z"} {
		mustCreate(t, c, newNode(name))
	}
	set := mustCreate(t, c, newSet("agent"))
	mustCreate(t, c, newOwned("one", "a", set))
	mustCreate(t, c, newPod("another"))
	mustCreate(t, c, newRevision("one"))
	cl := c.NewClient()
	defer cl.Close()
	cl.RecordEvent(t.Context(), ref(set), daemonset.Event{Type: "Normal", Reason: "Another"})
	return c
}
