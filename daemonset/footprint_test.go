package daemonset_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
)

func setAsking(name, cpu string, change ...func(*appsv1.DaemonSet)) *appsv1.DaemonSet {
	labels := map[string]string{"app": name}
	set := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: name},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "i", Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)},
				}}}},
			},
		},
	}
	for _, f := range change {
		f(set)
	}
	return set
}

func template(name string, cpu string, labels map[string]string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourcePods: resource.MustParse("10"),
		}},
	}
}

func namesOf(pods []*corev1.Pod) []string {
	var names []string
	for _, pod := range pods {
		names = append(names, pod.Name)
	}
	return names
}

func absentees(f daemonset.Footprint) []string {
	var out []string
	for _, a := range f.Absent {
		line := a.Set.Name + " " + a.Verdict.Decision.String()
		if len(a.Verdict.Findings) > 0 {
			line += " " + string(a.Verdict.Findings[0].Code)
		}
		if a.Err != nil {
			line += " " + a.Err.Error()
		}
		out = append(out, line)
	}
	return out
}

func TestFootprint(t *testing.T) {
	important := func(set *appsv1.DaemonSet) { set.Spec.Template.Spec.Priority = new(int32(1000)) }
	gpu := func(set *appsv1.DaemonSet) { set.Spec.Template.Spec.NodeSelector = map[string]string{"gpu": "yes"} }
	broken := func(set *appsv1.DaemonSet) { set.Spec.Selector = nil }
	deleting := func(set *appsv1.DaemonSet) { set.DeletionTimestamp = new(metav1.Now()) }
	prints := daemonset.NewFootprints([]*appsv1.DaemonSet{
		setAsking("b", "300m"), setAsking("a", "300m"), nil, setAsking("driver", "0", gpu),
		setAsking("last", "500m"), setAsking("first", "400m", important),
		setAsking("broken", "1m", broken), setAsking("leaving", "1m", deleting),
	}, daemonset.Options{})

	got := prints.On(template("new", "1", nil))
	assert.Equal(t, []string{"first", "a", "b"}, namesOf(got.Pods), "by priority, then by name, as long as there is room")
	assert.Equal(t, "1", got.Requests.Cpu().String())
	assert.Equal(t, "3", got.Requests.Pods().String())
	assert.Equal(t, []string{
		"broken Undecided daemonset: invalid daemonSet.spec.selector: is missing",
		"driver Evict NodeSelectorMismatch",
		"last Suspend InsufficientResources",
	}, absentees(got))
	pod := got.Pods[0]
	assert.Equal(t, map[string]string{"app": "first"}, pod.Labels)
	assert.Len(t, pod.Spec.Tolerations, 6, "those that daemon pods get")
	assert.NotNil(t, metav1.GetControllerOf(pod))

	assert.Empty(t, prints.On(nil).Pods)
	none := daemonset.NewFootprints(nil, daemonset.Options{}).On(template("new", "1", nil))
	assert.Zero(t, none)
}

// TestFootprintsOfOneKind: nodes of one kind are judged once, and what tells two apart is
// never passed over.
func TestFootprintsOfOneKind(t *testing.T) {
	onHost := func(set *appsv1.DaemonSet) {
		set.Spec.Template.Spec.NodeSelector = map[string]string{corev1.LabelHostname: "n1"}
	}
	onName := func(set *appsv1.DaemonSet) {
		set.Spec.Template.Spec.Affinity = placement.PinTo(nil, "n1")
	}
	tests := []struct {
		name string
		sets []*appsv1.DaemonSet
	}{
		{"plain", []*appsv1.DaemonSet{setAsking("a", "300m")}},
		{"by host name", []*appsv1.DaemonSet{setAsking("a", "300m"), setAsking("b", "100m", onHost)}},
		{"by name", []*appsv1.DaemonSet{setAsking("a", "300m"), setAsking("b", "100m", onName)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var nodes []*corev1.Node
			for i := range 12 {
				name := fmt.Sprintf("n%d", i)
				node := template(name, []string{"1", "200m"}[i%2], map[string]string{corev1.LabelHostname: name, "zone": fmt.Sprint(i % 3)})
				if i > 8 {
					node.Spec.Taints = []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}}
				}
				nodes = append(nodes, node)
			}
			nodes = append(nodes, nil)
			prints := daemonset.NewFootprints(tt.sets, daemonset.Options{})
			got := prints.OnEach(nodes)
			require.Len(t, got, len(nodes))
			for i, node := range nodes {
				if node != nil {
					require.Equal(t, prints.On(node), *got[i], "node %d", i)
				}
			}
			require.Nil(t, got[len(got)-1])
			if tt.name == "plain" {
				require.Same(t, got[0], got[6], "judged once")
			}
		})
	}
}

// BenchmarkFootprints: a thousand nodes of one group cost little more than one.
func BenchmarkFootprints(b *testing.B) {
	var sets []*appsv1.DaemonSet
	for i := range 20 {
		sets = append(sets, setAsking(fmt.Sprintf("set-%02d", i), "10m"))
	}
	prints := daemonset.NewFootprints(sets, daemonset.Options{})
	group := func(count int) []*corev1.Node {
		nodes := make([]*corev1.Node, count)
		for i := range nodes {
			nodes[i] = template(fmt.Sprintf("n%d", i), "4", map[string]string{"pool": "a"})
		}
		return nodes
	}
	for _, count := range []int{1, 1000} {
		nodes := group(count)
		b.Run(fmt.Sprintf("sets=20/nodes=%d", count), func(b *testing.B) {
			for b.Loop() {
				prints.OnEach(nodes)
			}
		})
	}
}

// An autoscaler asks what a node of a group that has none yet would carry before anything
// else, and how much of it is left.
func ExampleFootprints() {
	sets := []*appsv1.DaemonSet{setAsking("log-agent", "200m"), setAsking("node-agent", "300m")}
	node := template("new-node", "4", map[string]string{"pool": "general"})

	footprint := daemonset.NewFootprints(sets, daemonset.Options{}).On(node)
	left := node.Status.Allocatable.Cpu().DeepCopy()
	left.Sub(footprint.Requests[corev1.ResourceCPU])
	fmt.Println(len(footprint.Pods), "daemon pods,", left.String(), "cpu left")
	// Output: 2 daemon pods, 3500m cpu left
}
