package rollout_test

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemonplan/daemonplan/rollout"
)

// Four nodes, of which a quarter may be without an available pod. On d the outdated pod is
// down already: replacing it costs nothing, but it uses up the budget for the others.
func ExampleDecide() {
	quarter := intstr.FromString("25%")
	budget, err := rollout.BudgetFor(appsv1.DaemonSetUpdateStrategy{
		RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &quarter},
	}, 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	result := rollout.Decide(rollout.Input{
		Desired: 4,
		Budget:  budget,
		Nodes: []rollout.Node{
			{Name: "a", Eligible: true, Pods: []rollout.Pod{{Name: "p1", Health: rollout.Available, Current: true}}},
			{Name: "b", Eligible: true, Pods: []rollout.Pod{{Name: "p2", Health: rollout.Available}}},
			{Name: "c", Eligible: true, Pods: []rollout.Pod{{Name: "p3", Health: rollout.Available}}},
			{Name: "d", Eligible: true, Pods: []rollout.Pod{{Name: "p4", Health: rollout.Unhealthy}}},
		},
	})
	for _, d := range result.Deletes {
		fmt.Println("delete", d.Pod.Name, "on", d.Node, d.Reason)
	}
	for _, h := range result.Holds {
		fmt.Println("hold", h.Node, h.Reason)
	}
	// Output:
	// delete p4 on d OutdatedUnavailable
	// hold b BudgetExhausted
	// hold c BudgetExhausted
}
