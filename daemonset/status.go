package daemonset

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/daemonplan/daemonplan/rollout"
)

// count takes the status numbers from the fleet as it is before the plan. On each node only
// the first pod in keep order counts, terminating or not.
func (p *pass) count(f *fleet) appsv1.DaemonSetStatus {
	status := *p.set.obj.Status.DeepCopy()
	status.DesiredNumberScheduled = 0
	status.CurrentNumberScheduled = 0
	status.NumberMisscheduled = 0
	status.NumberReady = 0
	status.NumberAvailable = 0
	status.UpdatedNumberScheduled = 0
	for number := range f.nodeCount() {
		n := f.node(number)
		switch {
		case n.eligible():
			status.DesiredNumberScheduled++
			countPod(&status, n.pods)
		case len(n.pods) > 0:
			status.NumberMisscheduled++
		}
	}
	status.NumberUnavailable = status.DesiredNumberScheduled - status.NumberAvailable
	return status
}

func countPod(status *appsv1.DaemonSetStatus, pods []pod) {
	if len(pods) == 0 {
		return
	}
	status.CurrentNumberScheduled++
	if pods[0].current {
		status.UpdatedNumberScheduled++
	}
	switch pods[0].health {
	case rollout.Available:
		status.NumberReady++
		status.NumberAvailable++
	case rollout.Ready:
		status.NumberReady++
	case rollout.Unhealthy:
	}
}

// writeStatus puts the new status into the plan if it differs.
func (p *pass) writeStatus(plan *Plan, status appsv1.DaemonSetStatus) {
	if !equality.Semantic.DeepEqual(status, p.set.obj.Status) {
		plan.Status = &status
	}
	// A pod becomes available without any event. Kubernetes v1.37.2 comes back after the
	// whole of minReadySeconds, as a last resort against clocks that disagree.
	if p.set.minReady > 0 && status.NumberReady != status.NumberAvailable {
		plan.Next = earlier(plan.Next, instantOf(p.now.Add(p.set.minReady)))
	}
}
