package placement_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
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

// A controller that places its pods itself: is there room beside what runs on the node?
func ExampleFitter_Fit() {
	pod := func(name, cpu string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: name},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}},
			}}},
		}
	}
	node := corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "edge-1"},
		Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
			corev1.ResourceCPU:  resource.MustParse("2"),
			corev1.ResourcePods: resource.MustParse("110"),
		}},
	}
	web, batch := pod("web", "500m"), pod("batch", "1200m")
	others := placement.NewOccupancy(web, batch)
	fitter := placement.NewFitter(&pod("", "400m").Spec, placement.FitOptions{})

	verdict := fitter.Fit(&node, others)
	fmt.Println(verdict.Decision, verdict.Findings[0].Detail)

	others.Remove(batch) // it has gone
	fmt.Println(fitter.Fit(&node, others).Decision)
	// Output:
	// Suspend cpu: 400m asked for, 300m free of 2; held by demo/batch 1200m, demo/web 500m
	// Run
}
