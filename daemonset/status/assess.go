package status

import (
	"cmp"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/backoff"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/rollout"
)

// DefaultDeadline is how long a pod has before it counts as in trouble: the
// progressDeadlineSeconds that Kubernetes v1.37.2 gives a Deployment.
const DefaultDeadline = 10 * time.Minute

// Options tune a judgement; the zero value takes the defaults.
type Options struct {
	// Deadline is how long a pod may take to become ready, or to go after its grace period;
	// zero or less means DefaultDeadline. The package documentation says from when it counts.
	Deadline time.Duration
	// Plan is how plans are made, for Of.
	Plan daemonset.Options
}

func (o Options) deadline() time.Duration {
	if o.Deadline <= 0 {
		return DefaultDeadline
	}
	return o.Deadline
}

// Of plans for a snapshot and judges it. The error is that of [daemonset.Compute].
func Of(s daemonset.Snapshot, o Options) (Report, error) {
	plan, err := daemonset.Compute(s, o.Plan)
	if err != nil {
		return Report{}, err
	}
	return Assess(s, plan, o), nil
}

// Assess judges a snapshot by the plan that was made for it. A snapshot without a set is
// judged like a new one. The report shares no memory with either, and is the same in whatever
// order the snapshot's objects are.
func Assess(s daemonset.Snapshot, p daemonset.Plan, o Options) Report {
	j := newJudge(s, p, o)
	for i := range p.Nodes {
		j.node(&p.Nodes[i])
	}
	j.strays()
	j.conclude()
	return j.report
}

// judge collects a report.
type judge struct {
	snapshot daemonset.Snapshot
	plan     daemonset.Plan
	options  Options
	set      *appsv1.DaemonSet
	nodes    map[string]*corev1.Node
	pods     map[daemonset.Ref]*corev1.Pod
	backoff  backoff.Entries // sorted
	acted    map[string]bool // nodes with a create or delete in the plan
	rolling  bool            // an update is under way
	moving   bool            // something happens, or has still time to
	open     int             // nodes that are not done
	report   Report
}

func newJudge(s daemonset.Snapshot, p daemonset.Plan, o Options) *judge {
	j := &judge{
		snapshot: s, plan: p, options: o, set: s.Objects.DaemonSet,
		backoff: s.Backoff.Sorted(),
		nodes:   make(map[string]*corev1.Node, len(s.Objects.Nodes)),
		pods:    make(map[daemonset.Ref]*corev1.Pod, len(s.Objects.Pods)),
		acted:   make(map[string]bool, len(p.Creates)+len(p.Deletes)),
	}
	if j.set == nil {
		j.set = &appsv1.DaemonSet{}
	}
	for _, node := range s.Objects.Nodes {
		if node != nil {
			j.nodes[node.Name] = node
		}
	}
	for _, pod := range s.Objects.Pods {
		if pod != nil {
			j.pods[daemonset.Ref{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}] = pod
		}
	}
	for _, c := range p.Creates {
		j.acted[c.Node] = true
	}
	for _, d := range p.Deletes {
		j.acted[d.Node] = true
		if d.Reason == daemonset.NodeUnsuitable {
			j.report.Counts.Evicted++
		}
	}
	j.begin()
	j.rolling = j.isRollingOut()
	return j
}

// begin takes over what the set and its status say.
func (j *judge) begin() {
	status := &j.set.Status
	if j.plan.Status != nil {
		status = j.plan.Status
	}
	r := &j.report
	r.Set, r.Revision, r.At = j.plan.For, j.plan.Revision.Name, j.snapshot.Now
	r.Generation, r.Observed = j.set.Generation, j.set.Status.ObservedGeneration
	r.Until = j.plan.Wake()
	r.Counts.Desired = int(status.DesiredNumberScheduled)
	r.Counts.Current = int(status.CurrentNumberScheduled)
	r.Counts.Ready = int(status.NumberReady)
	r.Counts.Updated = int(status.UpdatedNumberScheduled)
	r.Counts.Available = int(status.NumberAvailable)
	r.Counts.Unavailable = int(status.NumberUnavailable)
	r.Counts.Misscheduled = int(status.NumberMisscheduled)
	budget, err := rollout.BudgetFor(j.set.Spec.UpdateStrategy, r.Counts.Desired)
	if err == nil { // else there is no plan either
		r.budget = budget.MaxUnavailable
	}
}

// node judges one node and what is on it.
func (j *judge) node(report *daemonset.NodeReport) {
	c := &j.report.Counts
	wanted, outdated := report.Verdict.Decision.Wants(), isOutdated(report)
	if wanted && nodeDown(j.nodes[report.Name]) != nil {
		c.NodesDown++
	}
	for i := range report.Pods {
		j.countPod(&report.Pods[i])
	}
	if outdated {
		c.Outdated++
	}
	switch {
	case j.plan.Reason != "":
		return
	case !wanted && !outdated:
		// A pod that is not available, or on its way out, spends from the budget of an update
		// wherever it is.
		j.examine(report)
		return
	case report.Reason == "" && available(report):
		c.Done++
		return
	}
	j.open++
	j.countReason(report)
	j.wait(report)
	j.examine(report)
	j.lost(report)
}

// isOutdated reports whether an outdated pod is on the node that is not on its way out.
func isOutdated(report *daemonset.NodeReport) bool {
	return slices.ContainsFunc(report.Pods, func(on daemonset.PodReport) bool {
		return !on.Current && on.State != daemonset.Terminating
	})
}

// countPod counts a pod by what its object says.
func (j *judge) countPod(on *daemonset.PodReport) {
	obj, c := j.pods[on.Ref], &j.report.Counts
	switch {
	case obj == nil:
	case on.State == daemonset.Terminating:
		c.Deleting++
		if !obj.DeletionTimestamp.After(j.snapshot.Now) {
			c.Undeleted++
		}
	case on.State == daemonset.Live && obj.Spec.NodeName == "":
		c.Unscheduled++
	case on.State == daemonset.Live:
		cause, _ := containerTrouble(obj)
		if cause == ImagePull {
			c.ImagePull++
		}
		if cause == CrashLoop {
			c.CrashLoop++
		}
	}
}

// countReason counts a node by why something happens or waits there.
func (j *judge) countReason(report *daemonset.NodeReport) {
	c := &j.report.Counts
	switch report.Reason {
	case daemonset.BudgetExhausted, daemonset.AvailabilityShort:
		c.Held++
	case daemonset.UpdateOnDelete:
		c.OnDelete++
	case daemonset.FailedPodBackoff:
		c.Backoff++
	case daemonset.Suspended:
		c.NoRoom++
	default:
	}
	if report.Verdict.Decision.Wants() && !available(report) && j.byUpdate(report) {
		c.ByChoice++
	}
}

// available reports whether a pod serves on the node.
func available(report *daemonset.NodeReport) bool {
	return slices.ContainsFunc(report.Pods, func(on daemonset.PodReport) bool {
		return on.State != daemonset.Terminating && on.Health == rollout.Available
	})
}

// byUpdate reports whether a node has no available pod because an update took it away: an
// outdated one is on its way out.
func (j *judge) byUpdate(report *daemonset.NodeReport) bool {
	return slices.ContainsFunc(report.Pods, func(on daemonset.PodReport) bool {
		return on.State == daemonset.Terminating && !on.Current
	})
}

// wait notes what a node waits for. What happens now is no wait.
func (j *judge) wait(report *daemonset.NodeReport) {
	if j.acted[report.Name] || report.Reason == "" {
		return
	}
	r := &j.report
	i := slices.IndexFunc(r.Waits, func(w Wait) bool { return w.Reason == report.Reason })
	if i < 0 {
		i = len(r.Waits)
		r.Waits = append(r.Waits, Wait{Reason: report.Reason})
	}
	w := &r.Waits[i]
	w.Nodes++
	if !report.Until.IsZero() && (w.Until.IsZero() || report.Until.Before(w.Until)) {
		w.Until = report.Until
	}
}

// strays looks at pods of the set that are on no node that exists. Those on nodes that are
// gone spend from the budget of an update until they are gone too.
func (j *judge) strays() {
	for _, f := range j.plan.Findings {
		obj := j.pods[f.Ref]
		if obj == nil {
			continue
		}
		since := latest(obj.CreationTimestamp.Time, readySince(obj))
		switch f.Reason {
		case daemonset.PodOnMissingNode:
			j.add(Trouble{Node: f.Detail, Pod: f.Ref.Name, Cause: NodeForgotten, Since: since})
		case daemonset.PodWithoutNode:
			j.report.Counts.Unscheduled++
			_, text := unready(obj)
			j.report.Troubles = append(j.report.Troubles, j.timed(Trouble{Pod: f.Ref.Name, Cause: Unscheduled, Since: since, Text: text}))
		default:
		}
	}
}

// sort puts what is overdue first, then goes by age, node and pod.
func (j *judge) sort() {
	slices.SortFunc(j.report.Troubles, func(a, b Trouble) int {
		return cmp.Or(
			-compareBool(a.Over, b.Over), a.Since.Compare(b.Since),
			cmp.Compare(a.Node, b.Node), cmp.Compare(a.Pod, b.Pod), cmp.Compare(a.Cause, b.Cause),
		)
	})
	slices.SortStableFunc(j.report.Waits, func(a, b Wait) int {
		return cmp.Or(cmp.Compare(b.Nodes, a.Nodes), cmp.Compare(a.Reason, b.Reason))
	})
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
