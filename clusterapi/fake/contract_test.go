package fake_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
)

// harness runs the contract on the cluster's own client.
type harness struct {
	cluster *fake.Cluster
	client  *fake.Client
	lag     fake.Lag
}

func (h *harness) API() clusterapi.ClusterAPI { return h.client }
func (h *harness) Namespace() string          { return "ns" }

func (h *harness) Create(t *testing.T, obj runtime.Object) runtime.Object {
	t.Helper()
	stored, err := createAny(h.cluster, obj)
	require.NoError(t, err)
	return stored
}

func createAny(c *fake.Cluster, obj runtime.Object) (runtime.Object, error) {
	switch obj := obj.(type) {
	case *corev1.Node:
		return fake.Create(c, obj)
	case *corev1.Pod:
		return fake.Create(c, obj)
	case *appsv1.DaemonSet:
		return fake.Create(c, obj)
	case *appsv1.ControllerRevision:
		return fake.Create(c, obj)
	}
	return nil, fmt.Errorf("no such kind: %T", obj)
}

func (h *harness) Remove(t *testing.T, obj runtime.Object) {
	t.Helper()
	key := func(namespace, name string) types.NamespacedName {
		return types.NamespacedName{Namespace: namespace, Name: name}
	}
	var err error
	switch obj := obj.(type) {
	case *corev1.Pod:
		err = fake.Delete[*corev1.Pod](h.cluster, key(obj.Namespace, obj.Name), fake.DeleteOptions{})
	case *appsv1.DaemonSet:
		err = fake.Delete[*appsv1.DaemonSet](h.cluster, key(obj.Namespace, obj.Name), fake.DeleteOptions{})
	case *appsv1.ControllerRevision:
		err = fake.Delete[*appsv1.ControllerRevision](h.cluster, key(obj.Namespace, obj.Name), fake.DeleteOptions{})
	}
	require.NoError(t, err)
}

func (h *harness) Sync(*testing.T) {
	h.client.SetLag(h.lag)
	h.client.Sync()
}

func (h *harness) Hold(*testing.T) { h.client.SetLag(fake.Lag{Hold: true}) }

func (h *harness) Recorded(*testing.T) []fake.RecordedEvent { return h.cluster.Recorded() }

func TestContractOnTheClusterItself(t *testing.T) {
	lags := map[string]fake.Lag{
		"no lag":         {},
		"three changes":  {Changes: 3},
		"ten seconds":    {Age: 10 * time.Second},
		"until delivery": {Hold: true},
	}
	for name, lag := range lags {
		t.Run(name, func(t *testing.T) {
			fake.TestClusterAPI(t, func(*testing.T) fake.Harness {
				c := fake.New(1)
				h := &harness{cluster: c, client: c.NewClient(), lag: lag}
				h.client.SetLag(lag)
				return h
			})
		})
	}
}
