package clientgo_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/internal/gen"
	"github.com/daemonplan/daemonplan/placement"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/daemonplan/daemonplan/clusterapi/clientgo"
)

func trim[T any](tb testing.TB, obj T) T {
	tb.Helper()
	trimmed, err := clientgo.Trim(obj)
	require.NoError(tb, err)
	out, ok := trimmed.(T)
	require.True(tb, ok, "got a %T", trimmed)
	return out
}

func trimAll[T any](tb testing.TB, objects []T) []T {
	tb.Helper()
	var out []T
	for _, o := range objects {
		out = append(out, trim(tb, o))
	}
	return out
}

// TestTrimKeepsPlans compares plans on whole and on trimmed objects.
func TestTrimKeepsPlans(t *testing.T) {
	creates, deletes, claims, revisions := 0, 0, 0, 0
	for seed := range uint64(1000) {
		give := gen.Make(gen.Bytes(seed), gen.Options{Lenient: seed%2 == 0, Rewritten: seed%3 == 0})
		dress(give.Snapshot.Objects.Pods, give.Snapshot.Objects.Nodes)
		trimmed := give.Snapshot
		trimmed.Objects = daemonset.Objects{
			DaemonSet: trim(t, give.Snapshot.Objects.DaemonSet),
			Nodes:     trimAll(t, give.Snapshot.Objects.Nodes),
			Pods:      trimAll(t, give.Snapshot.Objects.Pods),
			Revisions: trimAll(t, give.Snapshot.Objects.Revisions),
		}
		want, wantErr := daemonset.Compute(give.Snapshot, give.Options)
		got, gotErr := daemonset.Compute(trimmed, give.Options)
		require.Equal(t, wantErr, gotErr, "seed %d", seed)
		require.Equal(t, daemonset.Describe(want), daemonset.Describe(got), "seed %d", seed)
		require.Equal(t, want.Creates, got.Creates, "seed %d", seed)
		require.Equal(t, want, got, "seed %d", seed)
		creates, deletes = creates+len(want.Creates), deletes+len(want.Deletes)
		claims, revisions = claims+len(want.Claims), revisions+len(want.Revisions)
	}
	for what, count := range map[string]int{"creates": creates, "deletes": deletes, "claims": claims, "revision changes": revisions} {
		assert.Greater(t, count, 100, "too few %s to say anything", what)
	}
}

// dress adds what real objects have and no plan needs, and makes some pods those of others.
func dress(pods []*corev1.Pod, nodes []*corev1.Node) {
	for i, pod := range pods {
		pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet"}}
		pod.Spec.Containers = []corev1.Container{{Name: "main"}}
		pod.Status.HostIP = "192.0.2.1"
		pod.Status.Conditions = append([]corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}}, pod.Status.Conditions...)
		if i%5 == 4 {
			yes := true
			pod.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web", UID: "web", Controller: &yes}}
		}
	}
	for _, node := range nodes {
		node.Status.Images = []corev1.ContainerImage{{Names: []string{"registry.example/agent:v1"}}}
		node.Annotations = map[string]string{"volumes.kubernetes.io/controller-managed-attach-detach": "true"}
	}
}

// TestTrimKeepsWakes compares what events ask for.
func TestTrimKeepsWakes(t *testing.T) {
	woken, settled := 0, 0
	for seed := range uint64(300) {
		give := gen.Make(gen.Bytes(seed), gen.Options{})
		dress(give.Snapshot.Objects.Pods, give.Snapshot.Objects.Nodes)
		index := daemonset.NewSetIndex(placement.Options{})
		index.Put(give.Snapshot.Objects.DaemonSet)
		pods := append(slices.Clone(give.Snapshot.Objects.Pods), nil)
		nodes := append(slices.Clone(give.Snapshot.Objects.Nodes), nil)
		for _, prev := range pods {
			for _, cur := range pods {
				if prev != nil && cur != nil { // one object's two states
					cur = cur.DeepCopy()
					cur.Name, cur.UID, cur.ResourceVersion = prev.Name, prev.UID, prev.ResourceVersion+"1"
				}
				want := index.PodChanged(prev, cur)
				got := index.PodChanged(trimmedOrNil(t, prev), trimmedOrNil(t, cur))
				if isOthers(prev) && len(want.Later) == 0 {
					got.Later = nil // whether it was ready before is not known: one pass more
				}
				require.Equal(t, want, got, "seed %d", seed)
				woken, settled = woken+len(want.Sets), settled+len(want.Seen)
			}
		}
		present := trimAll(t, give.Snapshot.Objects.Pods)
		for _, prev := range nodes {
			for _, cur := range nodes {
				want := index.NodeChanged(prev, cur, give.Snapshot.Objects.Pods)
				require.Equal(t, want, index.NodeChanged(trimmedOrNil(t, prev), trimmedOrNil(t, cur), present), "seed %d", seed)
				woken += len(want.Sets)
			}
		}
	}
	assert.Greater(t, woken, 1000)
	assert.Greater(t, settled, 1000)
}

func isOthers(pod *corev1.Pod) bool {
	if pod == nil || metav1.GetControllerOf(pod) == nil {
		return false
	}
	_, ours := daemonset.OwnerOf(pod)
	return !ours
}

func trimmedOrNil[T any](t *testing.T, obj *T) *T {
	t.Helper()
	if obj == nil {
		return nil
	}
	return trim(t, obj)
}

// TestTrimIsPure: informers may repeat it, and the fake clientset shares objects.
func TestTrimIsPure(t *testing.T) {
	set := agentSet()
	set.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	revision := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: "r", ManagedFields: set.ManagedFields}}
	for _, obj := range []any{realisticPod(1, "DaemonSet"), realisticPod(2, "ReplicaSet"), realisticNode(1), set, revision} {
		before, err := json.Marshal(obj)
		require.NoError(t, err)
		once := trim(t, obj)
		after, err := json.Marshal(obj)
		require.NoError(t, err)
		assert.Equal(t, string(before), string(after), "%T: the object was changed", obj)
		assert.Equal(t, once, trim(t, once), "%T", obj)
		assert.NotContains(t, fmt.Sprintf("%+v", once), "ManagedFieldsEntry{Manager:kube")
	}
	tombstone := cache.DeletedFinalStateUnknown{Key: "ns/p"}
	assert.Equal(t, tombstone, trim(t, tombstone), "what it does not know stays")
}

// TestTrimKeepsWritables: what is written back as a whole stays whole.
func TestTrimKeepsWritables(t *testing.T) {
	set := agentSet()
	set.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{}"}
	set.Finalizers = []string{"example.com/hold"}
	set.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	want := set.DeepCopy()
	want.ManagedFields = nil
	assert.Equal(t, want, trim(t, set))
}

// TestTrimSavesMemory measures what caches hold of pods and nodes as they are in clusters.
func TestTrimSavesMemory(t *testing.T) {
	const count = 500
	kinds := []struct {
		name  string
		make  func(i int) any
		least float64 // how many times less it must be
	}{
		{"pods of DaemonSets", func(i int) any { return realisticPod(i, "DaemonSet") }, 3},
		{"pods of others", func(i int) any { return realisticPod(i, "ReplicaSet") }, 4},
		{"nodes", func(i int) any { return realisticNode(i) }, 4},
	}
	for _, kind := range kinds {
		whole := heapOf(func() any { return objects(count, kind.make) })
		trimmed := heapOf(func() any {
			return objects(count, func(i int) any { return trim(t, kind.make(i)) })
		})
		forFit := heapOf(func() any {
			return objects(count, func(i int) any { return trimForFit(t, kind.make(i)) })
		})
		ratio := float64(whole) / float64(trimmed)
		t.Logf("%-18s %5d bytes whole, %5d trimmed, %.1f times less, %5d trimmed for Fit", kind.name, whole/count, trimmed/count, ratio, forFit/count)
		assert.Greater(t, ratio, kind.least, kind.name)
		assert.Greater(t, float64(whole)/float64(forFit), 2.0, kind.name)
	}
}

func objects(count int, build func(int) any) []any {
	var all []any
	for i := range count {
		all = append(all, build(i))
	}
	return all
}

// heapOf returns how many bytes what is made keeps alive.
func heapOf(build func() any) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	kept := build()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(kept)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

// realisticPod is decoded, as from a server, so that it shares nothing with another.
func realisticPod(i int, owner string) *corev1.Pod {
	text := fmt.Sprintf(`{"metadata":{"namespace":"kube-system","name":"agent-%[1]d","generateName":"agent-","uid":"9f4c2f0e-0000-4000-8000-%012[1]d",
"resourceVersion":"%[1]d","creationTimestamp":"2026-03-01T12:00:00Z","labels":{"app":"agent","controller-revision-hash":"7d4b9c6f5","pod-template-generation":"3"},
"annotations":{"prometheus.io/scrape":"true","prometheus.io/port":"9100","checksum/config":"%[3]s"},
"ownerReferences":[{"apiVersion":"apps/v1","kind":"%[2]s","name":"agent","uid":"5d1c2f0e-0000-4000-8000-000000000001","controller":true,"blockOwnerDeletion":true}],
"managedFields":[{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"2026-03-01T12:00:00Z","fieldsType":"FieldsV1","fieldsV1":%[4]s},
{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"2026-03-01T12:00:09Z","fieldsType":"FieldsV1","fieldsV1":%[4]s,"subresource":"status"}]},
"spec":{"nodeName":"ip-10-0-%[1]d.compute.internal","serviceAccountName":"agent","schedulerName":"default-scheduler","priorityClassName":"system-node-critical",
"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["ip-10-0-%[1]d.compute.internal"]}]}]}}},
"tolerations":[{"operator":"Exists"},{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute"},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute"}],
"volumes":[{"name":"config","configMap":{"name":"agent"}},{"name":"proc","hostPath":{"path":"/proc"}},{"name":"kube-api-access-x","projected":{"sources":[{"serviceAccountToken":{"path":"token"}}]}}],
"containers":[{"name":"agent","image":"registry.example/team/agent:v1.2.3","args":["--config=/etc/agent/config.yaml","--log-level=info"],
"env":[{"name":"NODE_NAME","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}},{"name":"POD_IP","valueFrom":{"fieldRef":{"fieldPath":"status.podIP"}}}],
"resources":{"requests":{"cpu":"100m","memory":"128Mi"},"limits":{"memory":"256Mi"}},
"volumeMounts":[{"name":"config","mountPath":"/etc/agent"},{"name":"proc","mountPath":"/host/proc"}],
"livenessProbe":{"httpGet":{"path":"/healthz","port":9100}},"readinessProbe":{"httpGet":{"path":"/readyz","port":9100}}}]},
"status":{"phase":"Running","hostIP":"10.0.0.1","podIP":"10.244.0.1","podIPs":[{"ip":"10.244.0.1"}],"startTime":"2026-03-01T12:00:00Z","qosClass":"Burstable",
"conditions":[{"type":"PodReadyToStartContainers","status":"True","lastTransitionTime":"2026-03-01T12:00:05Z"},{"type":"Initialized","status":"True","lastTransitionTime":"2026-03-01T12:00:05Z"},
{"type":"Ready","status":"True","lastTransitionTime":"2026-03-01T12:00:09Z"},{"type":"ContainersReady","status":"True","lastTransitionTime":"2026-03-01T12:00:09Z"},{"type":"PodScheduled","status":"True","lastTransitionTime":"2026-03-01T12:00:00Z"}],
"containerStatuses":[{"name":"agent","ready":true,"started":true,"image":"registry.example/team/agent:v1.2.3","imageID":"registry.example/team/agent@sha256:%[3]s","containerID":"containerd://%[3]s","state":{"running":{"startedAt":"2026-03-01T12:00:06Z"}}}]}}`,
		i, owner, strings.Repeat("0123456789abcdef", 4), fieldsOf(40))
	pod := &corev1.Pod{}
	decode(text, pod)
	return pod
}

func realisticNode(i int) *corev1.Node {
	var images []string
	for n := range 50 { // as many as a kubelet reports
		images = append(images, fmt.Sprintf(`{"names":["registry.example/team/image-%[1]d@sha256:%[2]s","registry.example/team/image-%[1]d:v1"],"sizeBytes":123456}`,
			n, strings.Repeat("0123456789abcdef", 4)))
	}
	text := fmt.Sprintf(`{"metadata":{"name":"ip-10-0-%[1]d.compute.internal","uid":"1f4c2f0e-0000-4000-8000-%012[1]d","resourceVersion":"%[1]d",
"labels":{"kubernetes.io/arch":"amd64","kubernetes.io/os":"linux","kubernetes.io/hostname":"ip-10-0-%[1]d","node.kubernetes.io/instance-type":"m5.large","topology.kubernetes.io/zone":"eu-1a","topology.kubernetes.io/region":"eu-1"},
"annotations":{"volumes.kubernetes.io/controller-managed-attach-detach":"true"},
"managedFields":[{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"2026-03-01T12:00:00Z","fieldsType":"FieldsV1","fieldsV1":%[2]s}]},
"spec":{"podCIDR":"10.244.0.0/24","providerID":"cloud:///eu-1a/i-%[1]d","taints":[{"key":"dedicated","value":"gpu","effect":"NoSchedule"}]},
"status":{"capacity":{"cpu":"8","memory":"32Gi","pods":"110"},"allocatable":{"cpu":"7","memory":"30Gi","pods":"110"},
"conditions":[{"type":"MemoryPressure","status":"False"},{"type":"DiskPressure","status":"False"},{"type":"PIDPressure","status":"False"},{"type":"Ready","status":"True"}],
"addresses":[{"type":"InternalIP","address":"10.0.0.1"},{"type":"Hostname","address":"ip-10-0-%[1]d"}],"images":[%[3]s]}}`,
		i, fieldsOf(60), strings.Join(images, ","))
	node := &corev1.Node{}
	decode(text, node)
	return node
}

// fieldsOf is a managed field set of so many fields.
func fieldsOf(count int) string {
	var fields []string
	for i := range count {
		fields = append(fields, fmt.Sprintf(`"f:field%d":{}`, i))
	}
	return "{" + strings.Join(fields, ",") + "}"
}

func decode(text string, into any) {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		panic(err)
	}
}

// TestTrimKeepsPins: a pod that is not bound yet keeps the node that it is meant for.
func TestTrimKeepsPins(t *testing.T) {
	pod := realisticPod(7, "DaemonSet")
	pod.Spec.NodeName = ""
	got := trim(t, pod)
	name, ok := placement.TargetNode(got)
	assert.True(t, ok)
	assert.Equal(t, "ip-10-0-7.compute.internal", name)
	assert.Equal(t, time.Date(2026, 3, 1, 12, 0, 9, 0, time.UTC), got.Status.Conditions[0].LastTransitionTime.UTC())
}
