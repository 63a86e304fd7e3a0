package daemonset

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/placement"
)

// fleet is the nodes of a cluster with the set's pods on them.
//
// The nodes are numbered: the existing ones by name, then those that pods name but that do
// not exist. All that is kept for each lies in arrays, because there may be many.
type fleet struct {
	nodes   []*corev1.Node   // the existing ones, by number
	reports []NodeReport     // of the existing nodes: what becomes Plan.Nodes
	missing []*NodeReport    // of the others, as they are met
	acted   []bool           // by number: the reason in the report is that of an action
	starts  []int32          // by number: where its pods start; they end where the next ones start
	pods    []pod            // by node, in keep order
	lost    []*corev1.Pod    // of the set, but on no node that could be told, by name
	desired int              // how many nodes should run a pod
	behind  bool             // a pod that stays is outdated
	index   index            // of the existing nodes
	strays  map[string]int32 // the same for the missing ones
}

// node is a view of one node of a fleet.
type node struct {
	number int32
	report *NodeReport
	acted  *bool
	pods   []pod
}

// existing yields the nodes that exist, by name.
func (f *fleet) existing() iter.Seq[node] {
	return func(yield func(node) bool) {
		for i := range f.reports {
			if !yield(f.node(int32(i))) {
				return
			}
		}
	}
}

// gone yields the nodes that do not exist, by name.
func (f *fleet) gone() iter.Seq[node] {
	return func(yield func(node) bool) {
		for _, number := range f.goneNumbers() {
			if !yield(f.node(number)) {
				return
			}
		}
	}
}

func (f *fleet) goneNumbers() []int32 {
	numbers := make([]int32, len(f.missing))
	for i := range numbers {
		numbers[i] = int32(len(f.reports) + i)
	}
	f.sortByName(numbers)
	return numbers
}

func (f *fleet) sortByName(numbers []int32) {
	slices.SortFunc(numbers, func(a, b int32) int { return strings.Compare(f.report(a).Name, f.report(b).Name) })
}

func (f *fleet) report(number int32) *NodeReport {
	if i := int(number); i < len(f.reports) {
		return &f.reports[i]
	}
	return f.missing[int(number)-len(f.reports)]
}

func (f *fleet) nameOf(number int32) string { return f.report(number).Name }

func (f *fleet) node(number int32) node {
	n := node{number: number, report: f.report(number), acted: &f.acted[number]}
	if f.starts != nil {
		start, end := f.starts[number], f.starts[number+1]
		n.pods = f.pods[start:end:end]
	}
	return n
}

func (n node) name() string { return n.report.Name }

func (n node) decision() placement.Decision { return n.report.Verdict.Decision }

// eligible reports whether the node should run a pod, now or when it can.
func (n node) eligible() bool { return n.decision().Wants() }

// open reports whether a pod may be placed on the node now.
func (n node) open() bool { return n.decision().Schedules() }

// act gives the reason for something that happens on the node; the first one stands.
func (n node) act(reason Reason) {
	if !*n.acted {
		n.report.Reason, n.report.Until = reason, time.Time{}
		*n.acted = true
	}
}

// wait gives the reason why something does not happen on the node; an action goes before
// it, and so does an earlier reason to wait.
func (n node) wait(reason Reason, until time.Time) {
	if n.report.Reason == "" {
		n.report.Reason, n.report.Until = reason, until
	}
}

// podsByName lists the pods that satisfy is, in the order in which pods are treated when
// none is preferred to another. It matters for what a burst cut leaves out.
func (n node) podsByName(is func(*pod) bool) []*pod {
	var order []*pod
	for i := range n.pods {
		if is(&n.pods[i]) {
			order = append(order, &n.pods[i])
		}
	}
	if len(order) > 1 {
		slices.SortFunc(order, func(a, b *pod) int { return strings.Compare(a.ref.Name, b.ref.Name) })
	}
	return order
}

// muster lines up the nodes and, unless a fitter does that later, judges them.
func (p *pass) muster(nodes []*corev1.Node) (*fleet, error) {
	sorted, err := sortNodes(nodes)
	if err != nil {
		return nil, err
	}
	f := &fleet{
		nodes:   sorted,
		reports: make([]NodeReport, len(sorted)),
		acted:   make([]bool, len(sorted)),
		index:   newIndex(len(sorted)),
	}
	for i, obj := range sorted {
		f.reports[i].Name = obj.Name
		if p.fitter == nil {
			f.judged(int32(i), p.matcher.Evaluate(obj))
		}
		f.index.add(obj.Name, int32(i))
	}
	return f, nil
}

// judged notes what a node may carry.
func (f *fleet) judged(number int32, verdict placement.Verdict) {
	f.reports[number].Verdict = verdict
	if verdict.Decision.Wants() {
		f.desired++
	}
}

// number finds a node by name; a name that no node has becomes a missing node.
func (f *fleet) number(name string) int32 {
	if number, ok := f.index.find(name, f.nameOf); ok {
		return number
	}
	if number, ok := f.strays[name]; ok {
		return number
	}
	number := int32(len(f.acted))
	f.missing = append(f.missing, &NodeReport{Name: name})
	f.acted = append(f.acted, false)
	if f.strays == nil {
		f.strays = map[string]int32{}
	}
	f.strays[name] = number
	return number
}

// place gives each node its pods: a counting sort of the given slice, in place. Pods that
// are on no node go to the end.
func (f *fleet) place(pods []pod) {
	f.starts = make([]int32, len(f.acted)+1)
	for i := range pods {
		switch on := &pods[i]; {
		case on.placed():
			f.starts[on.node+1]++
			f.behind = f.behind || on.staying() && !on.current
		case on.node == nowhere:
			f.lost = append(f.lost, on.obj)
		}
	}
	for i := 1; i < len(f.starts); i++ {
		f.starts[i] += f.starts[i-1]
	}
	permute(pods, f.targets(pods))
	f.pods = pods[:f.starts[len(f.acted)]]
	for i := range f.acted {
		if on := f.pods[f.starts[i]:f.starts[i+1]]; len(on) > 1 {
			slices.SortFunc(on, keepFirst)
		}
	}
	slices.SortFunc(f.lost, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
}

// targets says to which index each pod goes.
func (f *fleet) targets(pods []pod) []int32 {
	next := slices.Clone(f.starts)
	rest := f.starts[len(f.acted)]
	targets := make([]int32, len(pods))
	for i := range pods {
		slot := &rest
		if on := &pods[i]; on.placed() {
			slot = &next[on.node]
		}
		targets[i] = *slot
		*slot++
	}
	return targets
}

// permute moves each element to its target, and uses the targets up.
func permute(pods []pod, targets []int32) {
	for i := range targets {
		for int(targets[i]) != i {
			j := targets[i]
			pods[i], pods[j] = pods[j], pods[i]
			targets[i], targets[j] = targets[j], targets[i]
		}
	}
}

// sortNodes returns the nodes by name, without touching the caller's slice.
func sortNodes(nodes []*corev1.Node) ([]*corev1.Node, error) {
	ordered := true
	for i, n := range nodes {
		switch {
		case n == nil:
			return nil, invalidEntry("nodes", i, errIsNil)
		case n.Name == "":
			return nil, invalidEntry("nodes", i, errHasNoName)
		case i > 0 && nodes[i-1].Name >= n.Name:
			ordered = false
		}
	}
	if ordered {
		return nodes, nil
	}
	sorted := slices.SortedFunc(slices.Values(nodes), func(a, b *corev1.Node) int {
		return strings.Compare(a.Name, b.Name)
	})
	for i := 1; i < len(sorted); i++ {
		if sorted[i-1].Name == sorted[i].Name {
			return nil, &InvalidError{Field: "nodes", Err: fmt.Errorf("two are named %q", sorted[i].Name)}
		}
	}
	return sorted, nil
}

// keepFirst orders the pods of one node by who stays when only one may: bound before
// unbound, then the oldest, then by name.
func keepFirst(a, b pod) int {
	if a.bound() != b.bound() {
		if a.bound() {
			return -1
		}
		return 1
	}
	return cmp.Or(
		a.obj.CreationTimestamp.Compare(b.obj.CreationTimestamp.Time),
		strings.Compare(a.ref.Name, b.ref.Name),
	)
}
