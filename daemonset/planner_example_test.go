package daemonset_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/plantest"
)

// A planner is told of the objects, as by an informer, and after that of what changes.
func ExamplePlanner() {
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	planner := daemonset.NewPlanner(daemonset.Options{})
	planner.SetDaemonSet(plantest.Set("demo/agent"))
	for _, name := range []string{"a", "b", "c"} {
		planner.PutNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	plan, err := planner.Plan(daemonset.Moment{Now: now})
	if err != nil {
		panic(err)
	}
	fmt.Println(len(plan.Creates), "creates")

	for i, create := range plan.Creates { // what an API server would do
		pod := plan.Pod(create)
		pod.Name = fmt.Sprintf("%s%d", pod.GenerateName, i)
		planner.PutPod(pod)
	}
	planner.RemoveNode("b")
	plan, err = planner.Plan(daemonset.Moment{Now: now.Add(time.Second)})
	if err != nil {
		panic(err)
	}
	for _, deletion := range plan.Deletes {
		fmt.Println(deletion.Pod.Name, deletion.Reason)
	}
	report, _ := planner.Node("c")
	fmt.Println(report.Name, report.Reason)
	// Output:
	// 3 creates
	// agent-1 NodeMissing
	// c PodNotReady
}
