package placement_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/placement"
)

// A log shipper for Linux nodes: which nodes carry it, and what keeps it from the others?
func ExampleMatcher_Evaluate() {
	shipper := corev1.PodSpec{NodeSelector: map[string]string{"kubernetes.io/os": "linux"}}
	linux := map[string]string{"kubernetes.io/os": "linux"}
	nodes := []corev1.Node{
		{ObjectMeta: metav1.ObjectMeta{Name: "web-1", Labels: linux}},
		{
			ObjectMeta: metav1.ObjectMeta{Name: "db-1", Labels: linux},
			Spec: corev1.NodeSpec{Taints: []corev1.Taint{
				{Key: "dedicated", Value: "db", Effect: corev1.TaintEffectNoSchedule},
			}},
		},
		{ObjectMeta: metav1.ObjectMeta{Name: "win-1", Labels: map[string]string{"kubernetes.io/os": "windows"}}},
	}

	matcher := placement.NewMatcher(&shipper, placement.Options{})
	for i := range nodes {
		verdict := matcher.Evaluate(&nodes[i])
		fmt.Println(nodes[i].Name, verdict.Decision)
		for _, finding := range verdict.Findings {
			fmt.Println("  ", finding.Code, finding.Detail)
		}
	}
	// Output:
	// web-1 Run
	// db-1 Keep
	//    UntoleratedNoScheduleTaint taint dedicated=db:NoSchedule is not tolerated
	// win-1 Evict
	//    NodeSelectorMismatch kubernetes.io/os must be "linux", the node has "windows"
}

// PinTo makes a pod for one node, TargetNode reads the node back.
func ExamplePinTo() {
	pod := corev1.Pod{}
	pod.Spec.Affinity = placement.PinTo(pod.Spec.Affinity, "web-1")
	fmt.Println(placement.TargetNode(&pod))
	// Output: web-1 true
}
