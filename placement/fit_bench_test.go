package placement_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/placement"
)

// fleet is so many nodes with room, each with so many other pods, and the pod of the set
// that is on each.
type fleet struct {
	nodes  []*corev1.Node
	beside []*placement.Occupancy
	own    []*corev1.Pod
}

func newFleet(nodes, pods int) fleet {
	var f fleet
	for n := range nodes {
		f.nodes = append(f.nodes, roomy(fmt.Sprintf("node-%05d", n)))
		others := make([]*corev1.Pod, 0, pods+1)
		for p := range pods {
			others = append(others, container(fmt.Sprintf("pod-%05d-%03d", n, p), "cpu", "100m", "memory", "64Mi"))
		}
		own := podOf("agent-"+f.nodes[n].Name, agentSpec())
		f.own = append(f.own, own)
		f.beside = append(f.beside, placement.NewOccupancy(append(others, own)...))
	}
	return f
}

func roomy(name string) *corev1.Node {
	n := node(name, set{"zone": "a"}, "node.kubernetes.io/unschedulable:NoSchedule")
	n.Status.Allocatable = list("cpu", "8", "memory", "32Gi", "ephemeral-storage", "100Gi", "pods", "110")
	for _, kind := range []corev1.NodeConditionType{corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure} {
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: kind, Status: corev1.ConditionFalse})
	}
	return n
}

// agentSpec asks for a little of everything.
func agentSpec() *corev1.PodSpec {
	spec := container("", "cpu", "200m", "memory", "128Mi", "ephemeral-storage", "1Gi").Spec
	spec.HostNetwork = true
	spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 9100}}
	spec.NodeSelector = set{"zone": "a"}
	return &spec
}

func BenchmarkFit(b *testing.B) {
	f := newFleet(5_000, 30)
	fitter := placement.NewFitter(agentSpec(), placement.FitOptions{})
	b.Run("nodes=5000/pods=30/fit", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for i := range f.nodes {
				if fitter.Fit(f.nodes[i], f.beside[i], f.own[i]).Decision != placement.Run {
					b.Fatal("a node has no room")
				}
			}
		}
	})
	b.Run("nodes=5000/pods=30/match", func(b *testing.B) {
		matcher := placement.NewMatcher(agentSpec(), placement.Options{})
		b.ReportAllocs()
		for b.Loop() {
			for i := range f.nodes {
				matcher.Decide(f.nodes[i])
			}
		}
	})
	b.Run("nodes=5000/pods=30/suspended", func(b *testing.B) {
		spec := agentSpec()
		spec.Containers[0].Resources.Requests = list("cpu", "6")
		large := placement.NewFitter(spec, placement.FitOptions{})
		b.ReportAllocs()
		for b.Loop() {
			for i := range f.nodes {
				if large.Fit(f.nodes[i], f.beside[i], f.own[i]).Decision != placement.Suspend {
					b.Fatal("a node has room")
				}
			}
		}
	})
}

func BenchmarkNewOccupancy(b *testing.B) {
	pods := make([]*corev1.Pod, 0, 110)
	for p := range 110 {
		pods = append(pods, container(fmt.Sprintf("pod-%03d", p*37%110), "cpu", "100m", "memory", "64Mi"))
		pods[p].UID = types.UID(pods[p].Name)
	}
	for _, n := range []int{30, 110} {
		b.Run(fmt.Sprintf("pods=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				placement.NewOccupancy(pods[:n]...)
			}
		})
	}
}

// TestFitAllocatesNothing: a node that fits costs no allocation, whatever the template asks
// for and whichever pods are left out.
func TestFitAllocatesNothing(t *testing.T) {
	f := newFleet(3, 30)
	spec := agentSpec()
	spec.Volumes = []corev1.Volume{
		volume(corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "d"}}),
		claimed("c"),
	}
	pv := boundTo("c", "csi.example.com", "h")
	pv.Labels = set{corev1.LabelTopologyZone: "z1__z2"}
	f.nodes[0].Status.Allocatable["attachable-volumes-csi-csi.example.com"] = *quantity("5")
	f.nodes[0].Labels[corev1.LabelTopologyZone] = "z2"
	fitter := placement.NewFitter(spec, placement.FitOptions{Namespace: "ns", PersistentVolumes: []*corev1.PersistentVolume{pv}, ExcludedLabels: []string{"edge"}})
	allocations := testing.AllocsPerRun(100, func() {
		for i := range f.nodes {
			if fitter.Fit(f.nodes[i], f.beside[i], f.own[i]).Decision != placement.Run {
				panic("a node has no room")
			}
			fitter.Decide(f.nodes[i], f.beside[i], f.own[i])
		}
	})
	assert.Zero(t, allocations)
	require.Equal(t, placement.Evict, fitter.Decide(f.nodes[0], f.beside[0]), "measures that own pods are left out")
}

// TestFitCost holds the cost of judging against that of a walk that looks at each node's
// labels and taints only. The two take turns, so that a loaded machine slows both.
func TestFitCost(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	f := newFleet(1_000, 30)
	fitter := placement.NewFitter(agentSpec(), placement.FitOptions{})
	matcher := placement.NewMatcher(agentSpec(), placement.Options{})
	measure := func(run func(i int)) time.Duration {
		start := time.Now() //nolint:forbidigo // measures
		for i := range f.nodes {
			run(i)
		}
		return time.Since(start) //nolint:forbidigo // measures
	}
	walk, judge := time.Hour, time.Hour
	for range 30 {
		walk = min(walk, measure(func(i int) { matcher.Decide(f.nodes[i]) }))
		judge = min(judge, measure(func(i int) { fitter.Fit(f.nodes[i], f.beside[i], f.own[i]) }))
	}
	t.Logf("1,000 nodes with 30 other pods: %v, of which the node alone %v", judge, walk)
	assert.Less(t, judge, 25*walk, "judging has become much dearer than looking at the node")
}
