package simulate

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/rollout"
)

// usePlanner makes a planner for the passes to come, if one can save anything. It is told of
// every change from then on.
func (r *run) usePlanner() {
	p := &r.options.Plan
	if r.options.Whole || p.Fit != nil || p.Surge != daemonset.SurgeAnyway || p.Profile != rollout.Kubernetes137 {
		return
	}
	r.planner = daemonset.NewPlanner(*p)
	r.planner.SetDaemonSet(r.set)
	for i := range r.nodes {
		r.planner.PutNode(r.nodes[i].obj)
	}
	for _, p := range r.pods {
		r.planner.PutPod(p.obj)
	}
	for _, obj := range r.revisions {
		r.planner.PutRevision(obj)
	}
}

// edit returns a pod's object to write to. The struct is copied if the object is somebody
// else's too; what it points to is replaced as a whole.
func (r *run) edit(p *pod) *corev1.Pod {
	if p.shared {
		obj := *p.obj
		p.obj, p.shared, p.original = &obj, false, false
		r.edited = append(r.edited, p)
	}
	return p.obj
}

// share hands the pods that were edited to the planner, and with that out of our hands.
func (r *run) share() {
	for _, p := range r.edited {
		if !p.gone && r.planner != nil {
			r.planner.PutPod(p.obj)
		}
		p.shared = true
	}
	r.edited = r.edited[:0]
}

func (r *run) shareRevision(obj *appsv1.ControllerRevision) {
	if r.planner != nil {
		r.planner.PutRevision(obj)
	}
}

// forget takes a pod out of the cluster.
func (r *run) forget(p *pod) {
	p.gone = true
	r.removed++
	if r.planner != nil {
		r.planner.RemovePod(types.NamespacedName{Namespace: p.obj.Namespace, Name: p.obj.Name})
	}
}

// compute makes a plan, and works out anew who is current unless that is known already.
func (r *run) compute() (daemonset.Plan, error) {
	r.share()
	plan, err := r.planned()
	if err != nil {
		return plan, err
	}
	if r.calm && plan.Revision == r.revision {
		return plan, nil
	}
	r.calm = isCalm(plan)
	r.revision = plan.Revision
	r.tellCurrent(plan.Revision)
	for i := range r.nodes {
		r.touch(i)
	}
	return plan, nil
}

func (r *run) planned() (daemonset.Plan, error) {
	if r.planner == nil {
		return daemonset.Compute(r.snapshot(), r.options.Plan)
	}
	return r.planner.Plan(daemonset.Moment{Now: r.clock(), Backoff: r.backoff, Suspended: r.suspended})
}

// isCalm reports whether history and ownership are as they should be, so that only pods that
// come and go can change what is planned.
func isCalm(plan daemonset.Plan) bool {
	return plan.Reason == "" && len(plan.Claims) == 0 && len(plan.Relabels) == 0 &&
		!slices.ContainsFunc(plan.Revisions, func(c daemonset.RevisionChange) bool {
			return c.Op != daemonset.DeleteRevision || !slices.Equal(c.Reasons, []daemonset.Reason{daemonset.HistoryLimit})
		})
}

// snapshot is the cluster as it is now.
func (r *run) snapshot() daemonset.Snapshot {
	nodes := make([]*corev1.Node, len(r.nodes))
	for i := range r.nodes {
		nodes[i] = r.nodes[i].obj
	}
	pods := make([]*corev1.Pod, 0, len(r.pods)-r.removed)
	for _, p := range r.pods {
		if !p.gone {
			pods = append(pods, p.obj)
		}
	}
	return daemonset.Snapshot{
		Objects:   daemonset.Objects{DaemonSet: r.set, Nodes: nodes, Pods: pods, Revisions: r.revisions, Others: r.others},
		Backoff:   r.backoff,
		Suspended: r.suspended,
		Now:       r.clock(),
	}
}

// wakeOf is when time alone changes a plan. What time does to pods is on the agenda; this
// leaves the backoff of failed ones.
func (r *run) wakeOf(plan daemonset.Plan) time.Duration {
	if r.planner != nil {
		for i := range r.backoff {
			if report, ok := r.planner.Node(r.backoff[i].Key.Node); ok {
				plan.Nodes = append(plan.Nodes, report)
			}
		}
	}
	plan.Next = time.Time{}
	until := plan.Wake()
	if until.IsZero() {
		return 0
	}
	return r.onGrid(max(until.Sub(r.start), r.now+1))
}
