package diff

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/explain"
	"github.com/daemonplan/daemonplan/rollout"
)

// Side is a snapshot with the plan that was made for it. Without a DaemonSet in the snapshot
// there is no set, and the plan is not looked at.
type Side struct {
	Snapshot daemonset.Snapshot
	Plan     daemonset.Plan
}

func (s Side) set() *appsv1.DaemonSet { return s.Snapshot.Objects.DaemonSet }

// Snapshots plans for both and compares. A snapshot without a DaemonSet is one in which it does
// not exist. The error is that of [daemonset.Compute].
func Snapshots(before, after daemonset.Snapshot, o daemonset.Options) (Report, error) {
	sides := [...]Side{{Snapshot: before}, {Snapshot: after}}
	for i := range sides {
		if sides[i].set() == nil {
			continue
		}
		var err error
		if sides[i].Plan, err = daemonset.Compute(sides[i].Snapshot, o); err != nil {
			return Report{}, err
		}
	}
	return Compare(sides[0], sides[1]), nil
}

// Compare says what differs between two sides. The report shares no memory with them.
func Compare(before, after Side) Report {
	c := comparison{before: before, after: after}
	for _, side := range []*Side{&c.before, &c.after} {
		if side.set() == nil {
			side.Plan = daemonset.Plan{}
		}
	}
	c.report = Report{
		Set:      c.after.Plan.For,
		Spec:     fields(before.set(), after.set()),
		Before:   strategyOf(c.before),
		After:    strategyOf(c.after),
		Template: c.template(),
	}
	if after.set() == nil {
		c.report.Set = c.before.Plan.For
	}
	c.acts = [...]map[string]bool{acting(c.before.Plan), acting(c.after.Plan)}
	c.nodes = [...]map[string]*corev1.Node{byName(before), byName(after)}
	for _, name := range names(c.before.Plan, c.after.Plan) {
		c.node(name)
	}
	return c.report
}

// comparison is two sides with the report on them.
type comparison struct {
	before, after Side
	acts          [2]map[string]bool // nodes on which the plans do something
	nodes         [2]map[string]*corev1.Node
	report        Report
}

// acting is the nodes on which a plan does something.
func acting(p daemonset.Plan) map[string]bool {
	acts := make(map[string]bool, len(p.Creates)+len(p.Deletes))
	for _, c := range p.Creates {
		acts[c.Node] = true
	}
	for _, d := range p.Deletes {
		acts[d.Node] = true
	}
	return acts
}

func byName(s Side) map[string]*corev1.Node {
	nodes := make(map[string]*corev1.Node, len(s.Snapshot.Objects.Nodes))
	for _, node := range s.Snapshot.Objects.Nodes {
		if node != nil {
			nodes[node.Name] = node
		}
	}
	return nodes
}

// names lists the nodes of two plans, each once, in order.
func names(a, b daemonset.Plan) []string {
	list := make([]string, 0, len(a.Nodes)+len(b.Nodes))
	for _, p := range [...]daemonset.Plan{a, b} {
		for i := range p.Nodes {
			list = append(list, p.Nodes[i].Name)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func strategyOf(s Side) Strategy {
	set := s.set()
	if set == nil {
		return Strategy{}
	}
	strategy := Strategy{Type: string(set.Spec.UpdateStrategy.Type), MinReadySeconds: set.Spec.MinReadySeconds}
	if strategy.Type == "" {
		strategy.Type = string(appsv1.RollingUpdateDaemonSetStrategyType)
	}
	for i := range s.Plan.Nodes {
		if s.Plan.Nodes[i].Verdict.Decision.Wants() {
			strategy.Desired++
		}
	}
	budget, err := rollout.BudgetFor(set.Spec.UpdateStrategy, strategy.Desired)
	if err == nil { // else there is no plan either
		strategy.MaxUnavailable, strategy.MaxSurge = budget.MaxUnavailable, budget.MaxSurge
	}
	return strategy
}

func (c *comparison) template() Template {
	t := Template{Before: c.before.Plan.Revision.Name, After: c.after.Plan.Revision.Name}
	if c.before.set() == nil || c.after.set() == nil {
		return t
	}
	t.Changed = !equality.Semantic.DeepEqual(c.before.set().Spec.Template, c.after.set().Spec.Template)
	t.Rollback = t.Changed && slices.ContainsFunc(c.after.Plan.Revisions, func(r daemonset.RevisionChange) bool {
		return slices.Contains(r.Reasons, daemonset.RolledBack)
	})
	return t
}

// node compares one node.
func (c *comparison) node(name string) {
	before, was := c.before.Plan.Node(name)
	after, is := c.after.Plan.Node(name)
	n := Node{
		Name: name, Before: before.Verdict.Decision, After: after.Verdict.Decision,
		Now: c.acts[1][name], Reason: after.Reason, Was: before.Reason, Until: after.Until,
	}
	n.Effect, n.Pods = c.effect(name, &before, &after)
	switch n.Effect {
	case "":
		c.report.Unchanged++
		return
	case Restarts:
		c.report.Template.Restarts++
	case Outdates:
		c.report.Template.Outdates++
	case Gains, Admits:
		n.Because = because(c.before, before, c.nodes[0][name])
		if !was && c.before.set() != nil {
			n.Because = []string{newNode}
		}
	case Loses, Closes:
		n.Because = because(c.after, after, c.nodes[1][name])
		switch {
		case c.after.set() == nil:
			n.Because = []string{"the DaemonSet is gone"}
		case !is:
			n.Because = []string{"the node is gone"}
		}
	case Spares, Delays, Hastens, Differs: // the pods stay, or what happens has its reason
	}
	c.report.Nodes = append(c.report.Nodes, n)
}

// newNode is why a node gains a pod if it was not there before.
const newNode = "the node is new"

// because says what is in the way on a node.
func because(side Side, report daemonset.NodeReport, node *corev1.Node) []string {
	if side.set() == nil {
		return nil
	}
	var texts []string
	for _, f := range report.Verdict.Findings {
		texts = append(texts, explain.OfFinding(f, &side.set().Spec.Template.Spec, node).Text())
	}
	return texts
}

// effect is what a change does on a node, and to which pods; empty for nothing.
func (c *comparison) effect(name string, before, after *daemonset.NodeReport) (Effect, []string) {
	if effect, pods := c.place(name, before, after); effect != "" {
		return effect, pods
	}
	if effect, pods := c.fate(before, after); effect != "" && after.Verdict.Decision.Wants() {
		return effect, pods
	}
	return c.pace(name, before, after)
}

// place compares whether the node takes a pod, and keeps what is there.
func (c *comparison) place(name string, before, after *daemonset.NodeReport) (Effect, []string) {
	there := c.there(before, after)
	if after.Verdict.Decision.Wants() {
		switch {
		case before.Verdict.Decision.Wants():
			return "", nil
		case len(there) > 0:
			return Admits, there
		}
		return Gains, nil
	}
	if len(there) > 0 {
		switch went, goes := c.went(name, before), c.goes(name, after); {
		case after.Name == "", goes && !went:
			return Loses, there
		case went && !goes:
			return Spares, there
		}
	}
	if before.Verdict.Decision.Wants() {
		return Closes, there
	}
	return "", nil
}

// there is the pods that a change of place is about: those on the node after it, and if the
// node or the set is gone those before it.
func (c *comparison) there(before, after *daemonset.NodeReport) []string {
	if c.before.set() == nil || c.after.set() == nil || after.Name == "" {
		return staying(before)
	}
	return staying(after)
}

// fate compares what becomes of the pods that are on a node before and after. A pod that turns
// to be replaced tells more of the node than one that is left, and that more than one that is
// spared.
func (c *comparison) fate(before, after *daemonset.NodeReport) (Effect, []string) {
	for _, effect := range []Effect{Restarts, Outdates, Spares} {
		var pods []string
		for _, on := range after.Pods {
			i := slices.IndexFunc(before.Pods, func(b daemonset.PodReport) bool { return b.Ref == on.Ref })
			if i >= 0 && on.State != daemonset.Terminating && c.turn(before.Pods[i], on) == effect {
				pods = append(pods, on.Ref.Name)
			}
		}
		if len(pods) > 0 {
			return effect, pods
		}
	}
	return "", nil
}

// turn is what becomes of one pod: whether an update replaces it, or it is outdated and left
// alone by OnDelete.
func (c *comparison) turn(before, after daemonset.PodReport) Effect {
	was, is := outdated(before), outdated(after)
	replaced, replaces := was && !c.before.onDelete(), is && !c.after.onDelete()
	switch {
	case replaces && !replaced:
		return Restarts
	case replaced && !replaces:
		return Spares
	case is && !was:
		return Outdates
	}
	return ""
}

// goes reports whether the pods of a node that takes no new one go after the change: at once,
// or as outdated ones in an update.
func (c *comparison) goes(name string, after *daemonset.NodeReport) bool {
	return c.acts[1][name] || c.after.updates(after)
}

// went is goes for the time before the change.
func (c *comparison) went(name string, before *daemonset.NodeReport) bool {
	return !before.Verdict.Decision.Wants() && len(staying(before)) > 0 && (c.acts[0][name] || c.before.updates(before))
}

// updates reports whether an update will take a pod from the node.
func (s Side) updates(report *daemonset.NodeReport) bool {
	return s.set() != nil && !s.onDelete() && slices.ContainsFunc(report.Pods, outdated)
}

// onDelete reports whether updates leave pods alone.
func (s Side) onDelete() bool {
	return s.set() != nil && s.set().Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType
}

// pace compares what happens on a node and what waits there.
func (c *comparison) pace(name string, before, after *daemonset.NodeReport) (Effect, []string) {
	acted, acts := c.acts[0][name], c.acts[1][name]
	switch {
	case acted && !acts && after.Reason != "":
		return Delays, staying(after)
	case acts && !acted && before.Reason != "":
		return Hastens, staying(after)
	case acted != acts, before.Reason != after.Reason, !slices.EqualFunc(before.Pods, after.Pods, samePod):
		return Differs, staying(after)
	}
	return "", nil
}

// samePod leaves out whether the pods are current, which is compared by itself.
func samePod(a, b daemonset.PodReport) bool {
	return a.Ref == b.Ref && a.State == b.State && a.Health == b.Health
}

func outdated(on daemonset.PodReport) bool {
	return !on.Current && on.State != daemonset.Terminating
}

// staying lists the pods of a node that are not on their way out.
func staying(report *daemonset.NodeReport) []string {
	var list []string
	for _, on := range report.Pods {
		if on.State != daemonset.Terminating {
			list = append(list, on.Ref.Name)
		}
	}
	return list
}
