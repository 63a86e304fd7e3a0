package command_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

func lease(t *testing.T, client *fake.Clientset, name string) *coordinationv1.Lease {
	t.Helper()
	found, err := client.CoordinationV1().Leases("kube-system").Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	return found
}

func TestReconciles(t *testing.T) {
	client := newClient(t, append(nodes(3), daemonSet("agent", ""))...)
	r := start(t, client, "--listen=")
	all := []string{"node-0", "node-1", "node-2"}
	eventually(t, "a pod on every node", func() bool { return len(podsOf(t, client, "agent")) == 3 })
	assert.Equal(t, all, podsOf(t, client, "agent"))
	assert.NotEmpty(t, *lease(t, client, "daemonplan-controller").Spec.HolderIdentity)

	_, err := client.CoreV1().Nodes().Create(t.Context(), node(3), metav1.CreateOptions{})
	require.NoError(t, err)
	eventually(t, "a pod on the new node", func() bool { return len(podsOf(t, client, "agent")) == 4 })

	require.NoError(t, r.end())
	assert.Empty(t, *lease(t, client, "daemonplan-controller").Spec.HolderIdentity, "the lease was given back")
	assert.NotEmpty(t, r.log.lines("msg=ended"))
}

// Two instances share a cluster, each with its own sets and lease.
func TestClasses(t *testing.T) {
	client := newClient(t, append(nodes(1), daemonSet("plain", ""), daemonSet("sky", "blue"), daemonSet("lawn", "green"))...)
	plain := start(t, client, "--listen=", "--leader-elect=false")
	eventually(t, "the set without a class", func() bool { return len(podsOf(t, client, "plain")) == 1 })
	blue := start(t, client, "--listen=", "--class=blue")
	eventually(t, "the set of the class", func() bool { return len(podsOf(t, client, "sky")) == 1 })
	lease(t, client, "daemonplan-controller-blue")
	assert.Empty(t, podsOf(t, client, "lawn"), "nobody has this class")

	// A set changes its class while both are running.
	set := daemonSet("lawn", "blue")
	_, err := client.AppsV1().DaemonSets("ops").Update(t.Context(), set, metav1.UpdateOptions{})
	require.NoError(t, err)
	eventually(t, "the set that got the class", func() bool { return len(podsOf(t, client, "lawn")) == 1 })
	require.NoError(t, plain.end())
	require.NoError(t, blue.end())
	assert.Empty(t, plain.log.lines("daemonset=ops/sky"), "%s", plain.log)
	assert.Empty(t, blue.log.lines("daemonset=ops/plain"), "%s", blue.log)
	assert.Len(t, podsOf(t, client, "plain"), 1)
	assert.Len(t, podsOf(t, client, "sky"), 1)
}

func TestDeterministicNames(t *testing.T) {
	names := map[string]bool{}
	for range 2 {
		client := newClient(t, append(nodes(1), daemonSet("agent", ""))...)
		r := start(t, client, "--listen=", "--pod-names=deterministic", "--leader-elect=false")
		var pods *corev1.PodList
		eventually(t, "a pod", func() bool {
			var err error
			pods, err = client.CoreV1().Pods("ops").List(t.Context(), metav1.ListOptions{})
			return err == nil && len(pods.Items) == 1
		})
		names[pods.Items[0].Name] = true
		require.NoError(t, r.end())
	}
	assert.Len(t, names, 1)
}
