package clientgo_test

import (
	"encoding/json"
	"testing"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/internal/gen"
	"github.com/daemonplan/daemonplan/placement"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/clusterapi/clientgo"
)

func trimForFit[T any](tb testing.TB, obj T) T {
	tb.Helper()
	trimmed, err := clientgo.TrimForFit(obj)
	require.NoError(tb, err)
	out, ok := trimmed.(T)
	require.True(tb, ok, "got a %T", trimmed)
	return out
}

// holders are pods that hold each thing that can be held, in each way.
func holders(t *testing.T) map[string]*corev1.Pod {
	t.Helper()
	pods := map[string]*corev1.Pod{}
	for name, text := range map[string]string{
		"requests":   `{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}},{"name":"b","resources":{"limits":{"memory":"1Gi"}}}]}}`,
		"init":       `{"spec":{"containers":[{"name":"a"}],"initContainers":[{"name":"i","resources":{"requests":{"cpu":"2"}}}]}}`,
		"sidecar":    `{"spec":{"containers":[{"name":"a"}],"initContainers":[{"name":"i","restartPolicy":"Always","resources":{"requests":{"cpu":"2"}},"ports":[{"hostPort":1}]}]}}`,
		"pod level":  `{"spec":{"containers":[{"name":"a"}],"resources":{"requests":{"cpu":"3"}}}}`,
		"overhead":   `{"spec":{"containers":[{"name":"a"}],"overhead":{"memory":"10Mi"}}}`,
		"host port":  `{"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"hostPort":81,"hostIP":"192.0.2.1","protocol":"UDP"}]}]}}`,
		"network":    `{"spec":{"hostNetwork":true,"containers":[{"name":"a","ports":[{"containerPort":80}]}]}}`,
		"claim":      `{"spec":{"containers":[{"name":"a"}],"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}]}}`,
		"ephemeral":  `{"spec":{"containers":[{"name":"a"}],"volumes":[{"name":"v","ephemeral":{"volumeClaimTemplate":{}}}]}}`,
		"disks":      `{"spec":{"containers":[{"name":"a"}],"volumes":[{"name":"1","gcePersistentDisk":{"pdName":"d","readOnly":true}},{"name":"2","awsElasticBlockStore":{"volumeID":"d"}},{"name":"3","azureDisk":{"diskName":"d"}},{"name":"4","cinder":{"volumeID":"d"}}]}}`,
		"net disks":  `{"spec":{"containers":[{"name":"a"}],"volumes":[{"name":"1","iscsi":{"iqn":"d"}},{"name":"2","rbd":{"image":"d","pool":"p","monitors":["m"]}}]}}`,
		"ended":      `{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]},"status":{"phase":"Failed"}}`,
		"resizing":   `{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]},"status":{"containerStatuses":[{"name":"a","allocatedResources":{"cpu":"2"},"resources":{"requests":{"cpu":"3"}}}]}}`,
		"infeasible": `{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"9"}}}]},"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"PodResizePending","status":"True","reason":"Infeasible"}],"initContainerStatuses":[{"name":"i"}],"containerStatuses":[{"name":"a","allocatedResources":{"cpu":"2"}}]}}`,
		"init state": `{"spec":{"containers":[{"name":"a"}],"initContainers":[{"name":"i","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}]},"status":{"initContainerStatuses":[{"name":"i","allocatedResources":{"cpu":"2"}}]}}`,
		"whole pod":  `{"spec":{"containers":[{"name":"a"}],"resources":{"requests":{"cpu":"1"}}},"status":{"resources":{"requests":{"cpu":"4"}},"allocatedResources":{"cpu":"5"}}}`,
	} {
		p := pod("web", name, "", "")
		require.NoError(t, json.Unmarshal([]byte(text), p), name)
		p.Spec.NodeName = "node-0"
		pods[name] = p
	}
	return pods
}

// TestTrimForFitKeepsWhatPodsHold compares what whole and trimmed pods hold, of each owner.
func TestTrimForFitKeepsWhatPodsHold(t *testing.T) {
	bare := placement.NewOccupancy(pod("web", "p", "", ""))
	for name, whole := range holders(t) {
		for _, owner := range []string{"", "DaemonSet", "ReplicaSet"} {
			if whole.OwnerReferences = nil; owner != "" {
				whole.OwnerReferences = pod("", "", owner, "set-1").OwnerReferences
			}
			before := whole.DeepCopy()
			trimmed := trimForFit(t, whole)
			require.Equal(t, before, whole, "the object was changed")
			require.Equal(t, trimmed, trimForFit(t, trimmed), "informers may repeat it")
			want, got := placement.NewOccupancy(whole), placement.NewOccupancy(trimmed)
			require.Equal(t, want, got, "%s, owner %q", name, owner)
			require.NotEqual(t, bare, want, "%s holds nothing, and shows nothing", name)
			node, ok := placement.TargetNode(trimmed)
			require.True(t, ok)
			require.Equal(t, "node-0", node)
		}
	}
	light := realisticPod(1, "ReplicaSet")
	assert.Empty(t, trimForFit(t, light).Spec.Volumes, "what a pod mounts for itself alone is most of its volumes")
	assert.Empty(t, trimForFit(t, light).Spec.Containers[0].Env)
}

// TestTrimForFitKeepsNodes: what a node has and how it is decides as well.
func TestTrimForFitKeepsNodes(t *testing.T) {
	spec := &corev1.PodSpec{}
	require.NoError(t, json.Unmarshal([]byte(`{"containers":[{"name":"a","resources":{"requests":{"cpu":"8","nvidia.com/gpu":"1"}}}]}`), spec))
	fitter := placement.NewFitter(spec, placement.FitOptions{NodeConditions: true})
	whole := realisticNode(3)
	whole.Status.Conditions[3].Status, whole.Status.Conditions[3].Reason = corev1.ConditionUnknown, "NodeStatusUnknown"
	whole.Status.Conditions[2].Status = corev1.ConditionTrue
	want := fitter.Fit(whole, nil)
	require.Len(t, want.Findings, 5, "cpu, the other resource, a taint, and two conditions: %v", want.Findings)
	assert.Equal(t, want, fitter.Fit(trimForFit(t, whole), nil))
	whole.Status.Allocatable = nil
	assert.Equal(t, fitter.Fit(whole, nil), fitter.Fit(trimForFit(t, whole), nil), "an old kubelet's capacity")
}

// TestTrimForFitKeepsPlans: it leaves all that Trim leaves.
func TestTrimForFitKeepsPlans(t *testing.T) {
	placed := 0
	for seed := range uint64(300) {
		give := gen.Make(gen.Bytes(seed), gen.Options{})
		dress(give.Snapshot.Objects.Pods, give.Snapshot.Objects.Nodes)
		give.Options.Fit = &placement.FitOptions{}
		trimmed := give.Snapshot
		trimmed.Objects = daemonset.Objects{DaemonSet: trimForFit(t, give.Snapshot.Objects.DaemonSet)}
		for _, n := range give.Snapshot.Objects.Nodes {
			trimmed.Objects.Nodes = append(trimmed.Objects.Nodes, trimForFit(t, n))
		}
		for _, p := range give.Snapshot.Objects.Pods {
			trimmed.Objects.Pods = append(trimmed.Objects.Pods, trimForFit(t, p))
		}
		for _, r := range give.Snapshot.Objects.Revisions {
			trimmed.Objects.Revisions = append(trimmed.Objects.Revisions, trimForFit(t, r))
		}
		give.Snapshot.Objects.Others, trimmed.Objects.Others = give.Snapshot.Objects.Pods, trimmed.Objects.Pods
		want, wantErr := daemonset.Compute(give.Snapshot, give.Options)
		got, gotErr := daemonset.Compute(trimmed, give.Options)
		require.Equal(t, wantErr, gotErr, "seed %d", seed)
		require.Equal(t, want, got, "seed %d", seed)
		placed += len(want.Creates) + len(want.Suspended) + len(want.Deletes)
	}
	assert.Greater(t, placed, 100, "too few to say anything")
}
