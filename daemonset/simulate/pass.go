package simulate

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/rollout"
)

// compute makes a plan, over the whole fleet or over what can matter of it.
func (r *run) compute() (daemonset.Plan, error) {
	if !r.mayLeaveOut() {
		return r.computeWhole()
	}
	part := r.part()
	plan, err := daemonset.Compute(r.snapshot(part.set, part.nodes, part.pods), r.options.Plan)
	if err == nil && plan.Status != nil {
		part.counted.addTo(plan.Status, 1)
	}
	return plan, err
}

// mayLeaveOut reports whether it is known what every node is in for. Older rules, a
// preference of the caller's own, and other pods on the nodes that matter: all these look at
// nodes in other ways than part reckons with.
func (r *run) mayLeaveOut() bool {
	p := &r.options.Plan
	return r.calm && !r.closing && !r.options.Whole && r.counted.desired > 0 &&
		p.Prefer == nil && p.Fit == nil && p.Surge == daemonset.SurgeAnyway && p.Profile == rollout.Kubernetes137
}

func (r *run) computeWhole() (daemonset.Plan, error) {
	nodes := make([]*corev1.Node, len(r.nodes))
	for i := range r.nodes {
		nodes[i] = r.nodes[i].obj
	}
	pods := make([]*corev1.Pod, 0, len(r.pods))
	for _, p := range r.pods {
		if !p.gone {
			pods = append(pods, p.obj)
		}
	}
	plan, err := daemonset.Compute(r.snapshot(r.set, nodes, pods), r.options.Plan)
	if err != nil {
		return plan, err
	}
	r.calm = isCalm(plan)
	r.revision = plan.Revision
	r.tellCurrent(plan.Revision)
	for i := range r.nodes {
		r.touch(i)
	}
	return plan, nil
}

// isCalm reports whether history and ownership are as they should be, so that only pods that
// come and go can change what is planned.
func isCalm(plan daemonset.Plan) bool {
	return plan.Reason == "" && len(plan.Claims) == 0 && len(plan.Relabels) == 0 &&
		!slices.ContainsFunc(plan.Revisions, func(c daemonset.RevisionChange) bool {
			return c.Op != daemonset.DeleteRevision || !slices.Equal(c.Reasons, []daemonset.Reason{daemonset.HistoryLimit})
		})
}

func (r *run) snapshot(set *appsv1.DaemonSet, nodes []*corev1.Node, pods []*corev1.Pod) daemonset.Snapshot {
	return daemonset.Snapshot{
		Objects:   daemonset.Objects{DaemonSet: set, Nodes: nodes, Pods: pods, Revisions: r.revisions, Others: r.others},
		Backoff:   r.backoff,
		Suspended: r.suspended,
		Now:       r.clock(),
	}
}

// part is a smaller snapshot that gives the same plan.
type part struct {
	set     *appsv1.DaemonSet
	nodes   []*corev1.Node
	pods    []*corev1.Pod
	counted leftOut
}

// leftOut is the nodes that are not in a part. All of them should run a pod and have an
// available one.
type leftOut struct{ updated, outdated int32 }

// part leaves out nodes where nothing can happen in the next pass: those that are settled,
// those that have and want no pod, and those that wait for the budget behind so many others
// that their turn cannot come. Everywhere else the number of nodes that should run a pod and
// the number of available pods go down together, by which no rule of an update changes. The
// strategy's percentages are of all nodes, so they are given as numbers; what is left out of
// the status is taken from the old one and added to the new one.
func (r *run) part() part {
	keep := r.chosen()
	out := part{}
	for i := range r.nodes {
		n := &r.nodes[i]
		switch {
		case keep[i]:
			out.nodes = append(out.nodes, n.obj)
		case n.class == settled:
			out.counted.updated++
		case n.class == waiting:
			out.counted.outdated++
		}
	}
	for _, p := range r.pods {
		if !p.gone && (p.node == nowhere || keep[p.node]) {
			out.pods = append(out.pods, p.obj)
		}
	}
	out.set = r.setFor(out.counted)
	return out
}

// chosen says which nodes are in a part: besides those where something may happen, one that
// carries each hash that the others carry, so that its revision is kept.
func (r *run) chosen() []bool {
	room := r.room()
	keep := make([]bool, len(r.nodes))
	var carried []string
	for i := range r.nodes {
		n := &r.nodes[i]
		switch {
		case n.class == vacant:
		case n.class == restless:
			keep[i] = true
		case n.class == waiting && room > 0:
			keep[i] = true
			room--
		case !slices.Contains(carried, n.hash):
			keep[i] = true
			carried = append(carried, n.hash)
		}
	}
	return keep
}

// room is how many waiting nodes a pass can take at most.
func (r *run) room() int {
	if r.proof.Budget.MaxSurge > 0 {
		return r.proof.Budget.MaxSurge - r.counted.doubled
	}
	room := r.proof.Budget.MaxUnavailable
	for i := range r.nodes {
		if n := &r.nodes[i]; n.eligible && n.class == restless && n.state != Broken && !n.state.Available() {
			room--
		}
	}
	return room
}

// setFor is the set as it would be without the nodes that are left out.
func (r *run) setFor(counted leftOut) *appsv1.DaemonSet {
	set := *r.set
	if set.Spec.UpdateStrategy.Type != appsv1.OnDeleteDaemonSetStrategyType {
		unavailable := intstr.FromInt(r.proof.Budget.MaxUnavailable)
		surge := intstr.FromInt(r.proof.Budget.MaxSurge)
		set.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &unavailable, MaxSurge: &surge}
	}
	counted.addTo(&set.Status, -1)
	return &set
}

// addTo adds the nodes that were left out to a status, or with -1 takes them away.
func (l leftOut) addTo(status *appsv1.DaemonSetStatus, sign int32) {
	all := sign * (l.updated + l.outdated)
	status.DesiredNumberScheduled += all
	status.CurrentNumberScheduled += all
	status.NumberReady += all
	status.NumberAvailable += all
	status.UpdatedNumberScheduled += sign * l.updated
}
