package daemonset_test

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/daemonset"
)

// A set that nothing has been done for yet, on three nodes, one of them tainted.
func ExampleCompute() {
	labels := map[string]string{"app": "agent"}
	set := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "agent", UID: "set-1", Generation: 1},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Image: "registry.example/agent:v1"}}},
			},
		},
	}
	node := func(name string, taints ...corev1.Taint) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{Taints: taints}}
	}
	snapshot := daemonset.Snapshot{
		Objects: daemonset.Objects{
			DaemonSet: set,
			Nodes: []*corev1.Node{
				node("a"), node("b"),
				node("c", corev1.Taint{Key: "dedicated", Value: "gpu", Effect: corev1.TaintEffectNoSchedule}),
			},
		},
		Now: time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC),
	}
	plan, err := daemonset.Compute(snapshot, daemonset.Options{})
	if err != nil {
		panic(err)
	}
	for _, create := range plan.Creates {
		pod := plan.Pod(create) // ready to be sent to an API server
		fmt.Println(create.Node, create.Reason, pod.GenerateName)
	}
	report, _ := plan.Node("c")
	fmt.Println(report.Name, report.Verdict.Decision, report.Verdict.Findings[0].Code)
	fmt.Print(daemonset.Describe(plan))
	// Output:
	// a MissingPod agent-
	// b MissingPod agent-
	// c Keep UntoleratedNoScheduleTaint
	// daemonset  demo/agent
	// revision  agent-85cbb55596  hash=85cbb55596 number=1
	// template  labels app=agent,controller-revision-hash=85cbb55596  agent=registry.example/agent:v1  tolerations=6
	// history  create  agent-85cbb55596  hash=85cbb55596 number=1  NewTemplate
	// create  a  MissingPod
	// create  b  MissingPod
	// status  desired=2 current=0 ready=0 updated=0 available=0 unavailable=2 misscheduled=0 observedGeneration=1
	// node  a  Run  MissingPod
	// node  b  Run  MissingPod
	// node  c  Keep  (UntoleratedNoScheduleTaint dedicated=gpu:NoSchedule)
	// next  -
}
