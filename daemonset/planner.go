package daemonset

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/backoff"
	"github.com/daemonplan/daemonplan/expectations"
)

// Moment is what a plan depends on besides the objects. The fields mean what those of
// [Snapshot] do.
type Moment struct {
	Now       time.Time
	Pending   expectations.Pending
	Backoff   backoff.Entries
	Suspended []Suspension
}

// Planner plans one DaemonSet again and again. It is told what has changed since the last
// plan (the set, a node, a pod, a revision), and looks at no more than that: its plan is
// always the one that [Compute] makes of the same objects at the same moment, at the cost of
// the change and of what the plan lists, not of the cluster. Make one with [NewPlanner]; at
// first it knows of nothing. It is not safe for concurrent use.
//
// Objects that are given to a Planner, and the slices of a [Moment], are kept, and must not be
// modified afterwards, as with the objects of an informer's cache. Of two objects of one kind
// with the same name (and namespace) the later takes the place of the earlier, whatever its
// UID; nil is ignored, and so is the same pointer a second time. Which pods and revisions are
// worth passing is as for [Objects]; with Options that look at the pods of others (Fit, and
// Surge, without Beside) all pods are.
//
// What changed since the last plan costs a constant time for each pod, and for each node
// besides what its name takes to be found in order. All nodes are looked at when the set
// changes in more than its status, when another revision becomes current, when the number of
// desired nodes becomes zero or ceases to be, and when the clock was set back. Time alone costs
// nothing but for the nodes on which minReadySeconds or a backoff has passed. Each plan looks
// through Moment.Backoff, and with Options.Prefer at all nodes that an update could take next.
// Nothing is saved with Options.Fit, with Options.Surge for a set that surges, and with
// rollout.Kubernetes112: there every plan is made of everything.
//
// Besides the objects a Planner keeps some 400 bytes for each node with one pod.
type Planner struct {
	options   Options
	set       *appsv1.DaemonSet
	revisions []*appsv1.ControllerRevision // by namespace and name
	pods      podStore
	posts     posts

	reading // of the set and its history
	ledger  // of the nodes and pods, if the reading is such that they are tracked

	moment  Moment    // of the last plan
	planned bool      // there was one
	changed bool      // something has changed since
	reason  Reason    // of the last plan
	next    time.Time // of the last plan
	err     error     // instead of the last plan
}

// NewPlanner returns a planner that knows of no objects.
func NewPlanner(o Options) *Planner {
	p := &Planner{options: o}
	p.posts.init()
	return p
}

// SetDaemonSet tells of the set: that it was added or has changed, or with nil that it is gone.
// A set of another name or UID takes its place. Without one, Plan returns the error that
// Compute does. A change of nothing but status and what no plan depends on is cheap.
func (p *Planner) SetDaemonSet(set *appsv1.DaemonSet) {
	if set == p.set {
		return
	}
	old := p.set
	p.set, p.changed = set, true
	if p.mode == tracking && plansAlike(old, set) {
		p.updateStatus(old, set)
		return
	}
	p.mode = unread
}

// PutNode tells of a node that was added or has changed.
func (p *Planner) PutNode(node *corev1.Node) {
	if node == nil {
		return
	}
	number := p.posts.numberOf(node.Name)
	if p.posts.fleet.nodes[number] == node {
		return
	}
	p.changed = true
	p.posts.fill(number, node)
}

// RemoveNode tells that the node of a name is gone. One that is not known is ignored.
func (p *Planner) RemoveNode(name string) {
	number, known := p.posts.numbers[name]
	if !known || p.posts.gone(number) {
		return
	}
	p.changed = true
	p.posts.vacate(number)
}

// PutPod tells of a pod that was added or has changed.
func (p *Planner) PutPod(pod *corev1.Pod) {
	if pod == nil {
		return
	}
	k := p.pods.put(keyOf(&pod.ObjectMeta))
	if k.obj == pod {
		return
	}
	p.changed = true
	if p.mode == tracking && k.obj != nil {
		p.unfile(k, pod.Name)
	}
	k.obj = pod
	if p.mode == tracking {
		p.file(k)
	}
}

// RemovePod tells that the pod of a namespace and name is gone. One that is not known is
// ignored.
func (p *Planner) RemovePod(key types.NamespacedName) {
	k := p.pods.find(key)
	if k == nil {
		return
	}
	p.changed = true
	if p.mode == tracking {
		p.unfile(k, key.Name)
	}
	p.pods.remove(key)
}

// PutRevision tells of a revision that was added or has changed.
func (p *Planner) PutRevision(revision *appsv1.ControllerRevision) {
	if revision == nil {
		return
	}
	at, known := p.findRevision(keyOf(&revision.ObjectMeta))
	switch {
	case !known:
		p.revisions = slices.Insert(p.revisions, at, revision)
	case p.revisions[at] == revision:
		return
	default:
		p.revisions[at] = revision
	}
	p.changed, p.historyStale = true, true
}

// RemoveRevision tells that the revision of a namespace and name is gone. One that is not
// known is ignored.
func (p *Planner) RemoveRevision(key types.NamespacedName) {
	if at, known := p.findRevision(key); known {
		p.revisions = slices.Delete(p.revisions, at, at+1)
		p.changed, p.historyStale = true, true
	}
}

// Plan makes the plan that [Compute] makes of the objects at that moment, with the same
// errors, except that Plan.Nodes is nil: Node and Nodes have that, and Wake what Plan.Wake
// would be. The plans of one Planner share their Template, which must not be modified;
// everything else in a plan is its own.
func (p *Planner) Plan(m Moment) (Plan, error) {
	m.Backoff = m.Backoff.Sorted()
	p.advance(m)
	plan, err := p.plan()
	p.planned, p.changed = true, false
	p.reason, p.next, p.err = plan.Reason, plan.Next, err
	return plan, err
}

// plan is Plan once everything that has changed is looked at.
func (p *Planner) plan() (Plan, error) {
	switch {
	case p.mode == refused:
		return Plan{}, p.refusal
	case p.mode == whole, p.nameless():
		return p.scratch.Compute(p.snapshot(), p.options)
	case p.mode == standingBack:
		return p.pass.standBack(&fleet{}, nil, p.pass.set.standsBack())
	}
	return p.track(), nil
}
