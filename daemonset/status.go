package daemonset

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/daemonplan/daemonplan/rollout"
)

// counts are the numbers of a status that nodes and pods decide.
type counts struct {
	desired, current, misscheduled, ready, available, updated int32
}

// count takes the numbers from the fleet as it is before the plan.
func (f *fleet) count() counts {
	var c counts
	for number := range f.nodeCount() {
		c.count(f.node(number))
	}
	return c
}

// count adds a node that exists. Only the first of its pods in keep order counts, terminating
// or not.
func (c *counts) count(n node) {
	switch {
	case n.eligible():
		c.desired++
		c.countPod(n.pods)
	case len(n.pods) > 0:
		c.misscheduled++
	}
}

// add adds other numbers, and takes them back for by = -1.
func (c *counts) add(other counts, by int32) {
	c.desired += by * other.desired
	c.current += by * other.current
	c.misscheduled += by * other.misscheduled
	c.ready += by * other.ready
	c.available += by * other.available
	c.updated += by * other.updated
}

func (c *counts) countPod(pods []pod) {
	if len(pods) == 0 {
		return
	}
	c.current++
	if pods[0].current {
		c.updated++
	}
	switch pods[0].health {
	case rollout.Available:
		c.ready++
		c.available++
	case rollout.Ready:
		c.ready++
	case rollout.Unhealthy:
	}
}

// writeStatus puts the new status into the plan if it differs.
func (p *pass) writeStatus(plan *Plan, c counts, observed int64) {
	old := &p.set.obj.Status
	status := *old
	status.ObservedGeneration = observed
	status.DesiredNumberScheduled = c.desired
	status.CurrentNumberScheduled = c.current
	status.NumberMisscheduled = c.misscheduled
	status.NumberReady = c.ready
	status.NumberAvailable = c.available
	status.NumberUnavailable = c.desired - c.available
	status.UpdatedNumberScheduled = c.updated
	if !sameNumbers(&status, old) {
		plan.Status = status.DeepCopy()
	}
	// A pod becomes available without any event. Kubernetes v1.37.2 comes back after the
	// whole of minReadySeconds, as a last resort against clocks that disagree.
	if p.set.minReady > 0 && c.ready != c.available {
		plan.Next = earlier(plan.Next, instantOf(p.now.Add(p.set.minReady)))
	}
}

// sameNumbers compares two statuses that have everything else in common.
func sameNumbers(a, b *appsv1.DaemonSetStatus) bool {
	return a.ObservedGeneration == b.ObservedGeneration &&
		a.DesiredNumberScheduled == b.DesiredNumberScheduled &&
		a.CurrentNumberScheduled == b.CurrentNumberScheduled &&
		a.NumberMisscheduled == b.NumberMisscheduled &&
		a.NumberReady == b.NumberReady &&
		a.NumberAvailable == b.NumberAvailable &&
		a.NumberUnavailable == b.NumberUnavailable &&
		a.UpdatedNumberScheduled == b.UpdatedNumberScheduled
}
