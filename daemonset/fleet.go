package daemonset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/placement"
)

// fleet is the nodes of a cluster with the set's pods on them.
//
// The nodes are numbered: the existing ones as the snapshot has them, then those that pods
// name but that do not exist. All that is kept for each lies in arrays, because there may be
// many, and the arrays are used again. What comes out of a fleet is put in order by name; a
// snapshot that is in order makes that cheap, and otherwise only what comes out is sorted.
type fleet struct {
	nodes   []*corev1.Node // the existing ones, by number
	ordered bool           // they are in order by name
	names   []string       // by number, those that do not exist as they are met
	sites   []site         // by number
	notes   []note         // of the sites that have one
	starts  []int32        // by number: where its pods start; they end where the next ones start
	pods    []pod          // by node, in keep order
	lost    []*corev1.Pod  // of the set, but on no node that could be told, by name
	desired int            // how many nodes should run a pod
	behind  bool           // a pod that stays is outdated

	next    int32            // the node that is tried first, because lists may go together
	tries   int              // how many more nodes are tried in vain before that is given up
	index   index            // of the existing nodes, once it is needed
	strays  map[string]int32 // the same for the missing ones
	targets []int32          // where pods go
	cursors []int32          // by number: where its next pod goes
	numbers []int32          // of nodes to go through
	due     []due            // in an update
}

// site is what is kept for each node.
type site struct {
	decision placement.Decision
	note     int32 // its place in notes, plus 1; 0: there is none
}

// note is why something happens on a node, or does not.
type note struct {
	reason Reason
	until  time.Time
	acted  bool // the reason is that of an action
}

// node is a view of one node of a fleet.
type node struct {
	fleet  *fleet
	number int32
	pods   []pod
}

// nodeCount is how many nodes exist.
func (f *fleet) nodeCount() int32 { return int32(len(f.nodes)) }

// named lists the nodes that satisfy is, by name. The list is used again.
func (f *fleet) named(is func(node) bool) []int32 {
	f.numbers = f.numbers[:0]
	for number := range f.nodeCount() {
		if is(f.node(number)) {
			f.numbers = append(f.numbers, number)
		}
	}
	if !f.ordered {
		f.sortByName(f.numbers)
	}
	return f.numbers
}

// gone lists the nodes that do not exist, by name.
func (f *fleet) gone() []int32 {
	if len(f.names) == len(f.nodes) {
		return nil
	}
	numbers := make([]int32, len(f.names)-len(f.nodes))
	for i := range numbers {
		numbers[i] = f.nodeCount() + int32(i)
	}
	f.sortByName(numbers)
	return numbers
}

func (f *fleet) sortByName(numbers []int32) {
	slices.SortFunc(numbers, func(a, b int32) int { return strings.Compare(f.nameOf(a), f.nameOf(b)) })
}

func (f *fleet) nameOf(number int32) string { return f.names[number] }

func (f *fleet) node(number int32) node {
	n := node{fleet: f, number: number}
	if len(f.starts) > 0 {
		start, end := f.starts[number], f.starts[number+1]
		n.pods = f.pods[start:end:end]
	}
	return n
}

func (n node) name() string { return n.fleet.nameOf(n.number) }

func (n node) decision() placement.Decision { return n.fleet.sites[n.number].decision }

// eligible reports whether the node should run a pod, now or when it can.
func (n node) eligible() bool { return n.decision().Wants() }

// open reports whether a pod may be placed on the node now.
func (n node) open() bool { return n.decision().Schedules() }

// note is the reason that the node has been given, the zero note if none.
func (n node) note() note {
	if at := n.fleet.sites[n.number].note; at > 0 {
		return n.fleet.notes[at-1]
	}
	return note{}
}

// act gives the reason for something that happens on the node; the first one stands.
func (n node) act(reason Reason) {
	if !n.note().acted {
		n.set(note{reason: reason, acted: true})
	}
}

// wait gives the reason why something does not happen on the node; an action goes before
// it, and so does an earlier reason to wait.
func (n node) wait(reason Reason, until time.Time) {
	if n.note().reason == "" {
		n.set(note{reason: reason, until: until})
	}
}

// set gives the node a note. Neighbours with the same one share it.
func (n node) set(why note) {
	f := n.fleet
	if last := len(f.notes) - 1; last < 0 || f.notes[last] != why {
		f.notes = append(f.notes, why)
	}
	f.sites[n.number].note = int32(len(f.notes))
}

// forget takes back the note of a node, and all notes but the first so many.
func (f *fleet) forget(number int32, notes int) {
	f.sites[number].note = 0
	f.notes = f.notes[:notes]
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
		slices.SortFunc(order, func(a, b *pod) int { return strings.Compare(a.obj.Name, b.obj.Name) })
	}
	return order
}

// muster lines up the nodes and, unless a fitter does that later, judges them.
func (p *pass) muster(f *fleet, nodes []*corev1.Node) error {
	f.reset(nodes)
	series, previous := placement.NewSeries(p.matcher), ""
	for i, obj := range nodes {
		switch {
		case obj == nil:
			return invalidEntry("nodes", i, errIsNil)
		case obj.Name == "":
			return invalidEntry("nodes", i, errHasNoName)
		}
		f.ordered = f.ordered && previous < obj.Name
		previous = obj.Name
		f.names = append(f.names, obj.Name)
		if p.fitter == nil {
			f.judged(int32(i), series.Decide(obj))
		}
	}
	if f.ordered { // then no name can occur twice
		return nil
	}
	return f.enter()
}

// reset empties the fleet and gives it nodes. What it remembers from before is memory only.
func (f *fleet) reset(nodes []*corev1.Node) {
	clear(f.lost)
	clear(f.names)
	clear(f.strays)
	*f = fleet{
		nodes:   nodes,
		ordered: true,
		names:   slices.Grow(f.names[:0], len(nodes)),
		sites:   resized(f.sites, len(nodes)),
		notes:   f.notes[:0],
		starts:  f.starts[:0],
		lost:    f.lost[:0],
		tries:   maxTries,
		index:   index{seed: f.index.seed, slots: f.index.slots[:0]},
		strays:  f.strays,
		targets: f.targets,
		cursors: f.cursors,
		numbers: f.numbers,
		due:     f.due,
	}
}

// resized returns a slice of count zero values, in the memory of s if there is enough.
func resized[T any](s []T, count int) []T {
	if count > cap(s) {
		return make([]T, count)
	}
	s = s[:count]
	clear(s)
	return s
}

// judged notes what a node may carry.
func (f *fleet) judged(number int32, decision placement.Decision) {
	f.sites[number].decision = decision
	if decision.Wants() {
		f.desired++
	}
}

// enter fills the index.
func (f *fleet) enter() error {
	f.index.reset(len(f.nodes))
	if name := f.index.addAll(f.names[:len(f.nodes)]); name != "" {
		return &InvalidError{Field: "nodes", Err: fmt.Errorf("two are named %q", name)}
	}
	return nil
}

// maxTries is how many nodes in a row may be without a pod before nodes and pods are taken not
// to be in the same order.
const maxTries = 16

// number finds a node by name; a name that no node has becomes a missing node.
func (f *fleet) number(name string) int32 {
	for ; f.tries > 0 && f.next < f.nodeCount(); f.tries-- {
		number := f.next
		f.next++
		if f.names[number] == name {
			f.tries = maxTries
			return number
		}
	}
	if len(f.index.slots) == 0 {
		_ = f.enter() // two of one name have been refused by then
	}
	if number, found := f.index.find(f.names, name); found {
		return number
	}
	return f.stray(name)
}

// stray is number for a name that no node has.
func (f *fleet) stray(name string) int32 {
	if number, ok := f.strays[name]; ok {
		return number
	}
	number := int32(len(f.names))
	f.names = append(f.names, name)
	f.sites = append(f.sites, site{})
	if f.strays == nil {
		f.strays = map[string]int32{}
	}
	f.strays[name] = number
	return number
}

// place gives each node its pods: a counting sort of the given slice, in place. Pods that
// are on no node go to the end.
func (f *fleet) place(pods []pod) {
	f.starts = resized(f.starts, len(f.sites)+1)
	sorted, last := true, int32(0)
	for i := range pods {
		on := &pods[i]
		if !on.placed() {
			sorted = false
			if on.node == nowhere {
				f.lost = append(f.lost, on.obj)
			}
			continue
		}
		f.starts[on.node+1]++
		f.behind = f.behind || on.staying() && !on.current
		sorted = sorted && last <= on.node
		last = on.node
	}
	for i := 1; i < len(f.starts); i++ {
		f.starts[i] += f.starts[i-1]
	}
	if !sorted {
		permute(pods, f.target(pods))
	}
	f.pods = pods[:f.starts[len(f.sites)]]
	for i := range f.sites {
		if on := f.pods[f.starts[i]:f.starts[i+1]]; len(on) > 1 {
			slices.SortFunc(on, keepFirst)
		}
	}
	slices.SortFunc(f.lost, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
}

// target says to which index each pod goes.
func (f *fleet) target(pods []pod) []int32 {
	f.cursors = append(f.cursors[:0], f.starts...)
	rest := f.starts[len(f.sites)]
	f.targets = resized(f.targets, len(pods))
	for i := range pods {
		slot := &rest
		if on := &pods[i]; on.placed() {
			slot = &f.cursors[on.node]
		}
		f.targets[i] = *slot
		*slot++
	}
	return f.targets
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

// keepFirst orders the pods of one node by who stays when only one may: bound before
// unbound, then the oldest, then by name.
func keepFirst(a, b pod) int {
	if a.bound != b.bound {
		if a.bound {
			return -1
		}
		return 1
	}
	return cmp.Or(
		a.obj.CreationTimestamp.Compare(b.obj.CreationTimestamp.Time),
		strings.Compare(a.obj.Name, b.obj.Name),
	)
}
