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

// podsByName yields the node's pods in the order in which they are treated when none is
// preferred to another. It matters for what a burst cut leaves out.
func (n *node) podsByName() iter.Seq[*pod] {
	return func(yield func(*pod) bool) {
		if len(n.pods) == 1 {
			yield(&n.pods[0])
			return
		}
		order := make([]*pod, len(n.pods))
		for i := range n.pods {
			order[i] = &n.pods[i]
		}
		slices.SortFunc(order, func(a, b *pod) int { return strings.Compare(a.obj.Name, b.obj.Name) })
		for _, p := range order {
			if !yield(p) {
				return
			}
		}
	}
}

// pod is one pod of the set, as the steps see it.
type pod struct {
	obj     *corev1.Pod
	state   PodState
	hashed  bool // carries the current hash
	current bool // carries the current hash or the legacy generation
	health  rollout.Health
}

func (p *pod) bound() bool { return p.obj.Spec.NodeName != "" }

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
	f.place(p.station(f, index, pods))
	return f, nil
}

// stationed is a pod with the position of its node, which is counted on from the
// existing nodes into the missing ones.
type stationed struct {
	pod  pod
	node int
}

// station finds each pod's node and names the missing ones.
func (p *pass) station(f *fleet, index map[string]int, pods []*corev1.Pod) []stationed {
	placed := make([]stationed, 0, len(pods))
	for _, obj := range pods {
		read := p.read(obj)
		if read.state == Terminating && finished(obj) {
			continue // over and on its way out: nothing to do with it, and it holds no node
		}
		name, ok := placement.TargetNode(obj)
		if !ok {
			f.lost = append(f.lost, obj)
			continue
		}
		i, ok := index[name]
		if !ok {
			i = len(f.nodes) + len(f.missing)
			index[name] = i
			f.missing = append(f.missing, node{name: name})
		}
		placed = append(placed, stationed{pod: read, node: i})
	}
	slices.SortFunc(f.lost, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return placed
}

// place gives each node its pods: a counting sort into one array that all nodes share.
func (f *fleet) place(placed []stationed) {
	ends := make([]int, len(f.nodes)+len(f.missing))
	for _, s := range placed {
		ends[s.node]++
	}
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	pods := make([]pod, len(placed))
	starts := ends
	for _, s := range slices.Backward(placed) {
		starts[s.node]--
		pods[starts[s.node]] = s.pod
	}
	for i := range starts {
		end := len(pods)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		on := pods[starts[i]:end:end]
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
