// Command quickstart plans one DaemonSet on three nodes, one of them tainted.
package main

import (
	"fmt"
	"io"
	"os"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/daemonset"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(out io.Writer) error {
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
		return err
	}
	for _, create := range plan.Creates {
		pod := plan.Pod(create) // ready to be sent to an API server
		fmt.Fprintln(out, create.Node, create.Reason, pod.GenerateName)
	}
	report, _ := plan.Node("c")
	fmt.Fprintln(out, report.Name, report.Verdict.Decision, report.Verdict.Findings[0].Code)
	_, err = fmt.Fprint(out, daemonset.Describe(plan))
	return err
}
