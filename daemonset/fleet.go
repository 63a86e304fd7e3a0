package daemonset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/placement"
	"github.com/daemonplan/daemonplan/rollout"
)

// fleet is the nodes of a cluster with the set's pods on them.
type fleet struct {
	nodes   []node        // by name
	missing []node        // that pods name but that do not exist, by name
	lost    []*corev1.Pod // of the set, but on no node that could be told
}

// node is one node with the set's pods, and what is to be said about it.
type node struct {
	name        string
	verdict     placement.Verdict
	pods        []pod     // in keep order
	backoffEnds time.Time // of a failed pod that has to wait; zero if there is none
	hold        Reason    // why an update that is due waits
	reason      Reason
	until       time.Time
}

// eligible reports whether the node should run a pod.
func (n *node) eligible() bool { return n.verdict.Decision == placement.Run }

// explain records why something happens or waits; the first reason stands.
func (n *node) explain(reason Reason, until time.Time) {
	if n.reason == "" {
		n.reason, n.until = reason, until
	}
}

// podsByName lists the pods that satisfy is, in the order in which pods are treated when
// none is preferred to another. It matters for what a burst cut leaves out.
func (n *node) podsByName(is func(*pod) bool) []*pod {
	var order []*pod
	for i := range n.pods {
		if is(&n.pods[i]) {
			order = append(order, &n.pods[i])
		}
	}
	if len(order) > 1 {
		slices.SortFunc(order, func(a, b *pod) int { return strings.Compare(a.obj.Name, b.obj.Name) })
	}
	return order
}

// pod is one pod of the set, as the steps see it.
type pod struct {
	obj     *corev1.Pod
	state   PodState
	hashed  bool // carries the current hash
	current bool // carries the current hash or the legacy generation
	health  rollout.Health
}

func (p *pod) bound() bool   { return p.obj.Spec.NodeName != "" }
func (p *pod) unbound() bool { return !p.bound() }
func (p *pod) staying() bool { return p.state != Terminating }
func (p *pod) ended() bool   { return p.state == Failed || p.state == Succeeded }

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
		strings.Compare(a.obj.Name, b.obj.Name),
	)
}

// muster judges the nodes and puts the pods on them.
func (p *pass) muster(nodes []*corev1.Node, pods []*corev1.Pod) (*fleet, error) {
	sorted, err := sortNodes(nodes)
	if err != nil {
		return nil, err
	}
	f := &fleet{nodes: make([]node, len(sorted))}
	index := make(map[string]int, len(sorted))
	for i, n := range sorted {
		f.nodes[i] = node{name: n.Name, verdict: p.matcher.Evaluate(n)}
		index[n.Name] = i
	}
	p.place(f, pods, f.locate(index, pods))
	return f, nil
}

// nowhere is the position of a pod that is on no node or does not count any more.
const nowhere = -1

// locate finds the position of each pod's node and names the missing nodes, whose
// positions go on after those of the existing ones.
func (f *fleet) locate(index map[string]int, pods []*corev1.Pod) []int {
	positions := make([]int, len(pods))
	for i, obj := range pods {
		positions[i] = nowhere
		if obj.DeletionTimestamp != nil && finished(obj) {
			continue // over and on its way out: nothing to do with it, and it holds no node
		}
		name, ok := placement.TargetNode(obj)
		if !ok {
			f.lost = append(f.lost, obj)
			continue
		}
		position, ok := index[name]
		if !ok {
			position = len(f.nodes) + len(f.missing)
			index[name] = position
			f.missing = append(f.missing, node{name: name})
		}
		positions[i] = position
	}
	slices.SortFunc(f.lost, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return positions
}

// place gives each node its pods: a counting sort into one array that all nodes share.
func (p *pass) place(f *fleet, pods []*corev1.Pod, positions []int) {
	starts := make([]int, len(f.nodes)+len(f.missing)+1)
	for _, position := range positions {
		if position != nowhere {
			starts[position+1]++
		}
	}
	for i := 1; i < len(starts); i++ {
		starts[i] += starts[i-1]
	}
	placed := make([]pod, starts[len(starts)-1])
	next := slices.Clone(starts)
	for i, obj := range pods {
		if position := positions[i]; position != nowhere {
			placed[next[position]] = p.read(obj)
			next[position]++
		}
	}
	for i := range len(starts) - 1 {
		on := placed[starts[i]:starts[i+1]:starts[i+1]]
		if len(on) > 1 {
			slices.SortFunc(on, keepFirst)
		}
		f.at(i).pods = on
	}
	slices.SortFunc(f.missing, func(a, b node) int { return strings.Compare(a.name, b.name) })
}

func (f *fleet) at(i int) *node {
	if i < len(f.nodes) {
		return &f.nodes[i]
	}
	return &f.missing[i-len(f.nodes)]
}

// desired counts the nodes that should run a pod.
func (f *fleet) desired() int {
	count := 0
	for i := range f.nodes {
		if f.nodes[i].eligible() {
			count++
		}
	}
	return count
}

// sortNodes returns the nodes by name, without touching the caller's slice.
func sortNodes(nodes []*corev1.Node) ([]*corev1.Node, error) {
	if i := slices.Index(nodes, nil); i >= 0 {
		return nil, invalidEntry("nodes", i, errIsNil)
	}
	byName := func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) }
	if !slices.IsSortedFunc(nodes, byName) {
		nodes = slices.SortedFunc(slices.Values(nodes), byName)
	}
	for i := 1; i < len(nodes); i++ {
		if nodes[i-1].Name == nodes[i].Name {
			return nil, &InvalidError{Field: "nodes", Err: fmt.Errorf("two are named %q", nodes[i].Name)}
		}
	}
	return nodes, nil
}

// carriedHashes collects the revisions that pods are of. A pod that is on no node does
// not count, as in Kubernetes v1.37.2.
func carriedHashes(pods []*corev1.Pod) map[string]struct{} {
	carried := map[string]struct{}{}
	for _, pod := range pods {
		if _, ok := placement.TargetNode(pod); ok {
			carried[hashOf(pod.Labels)] = struct{}{}
		}
	}
	return carried
}
