package daemonset

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/daemonset/internal/roster"
	"github.com/daemonplan/daemonplan/placement"
)

// posts are the nodes of a planner: those that exist, and those that pods of the set name
// but that do not. Each has a number for as long as it is there.
type posts struct {
	all     []post // by number
	fleet   fleet  // names, nodes and sites by number; a node that does not exist is nil
	numbers map[string]int32
	free    []int32
	order   *roster.Roster
	touched []int32 // those to be looked at again
}

// post is what is kept for each node.
type post struct {
	pods    []pod // in keep order, once it was looked at
	share   share // what it adds to the ledger
	used    bool
	judged  bool // its decision is up to date
	touched bool
}

func (s *posts) init() {
	s.numbers = map[string]int32{}
	s.order = roster.New(s.fleet.nameOf)
}

// node is a view of one post.
func (s *posts) node(number int32) node {
	return node{fleet: &s.fleet, number: number, pods: s.all[number].pods}
}

// gone reports whether the node of a post does not exist.
func (s *posts) gone(number int32) bool { return s.fleet.nodes[number] == nil }

// numberOf finds the post of a name, or makes one for a node that does not exist.
func (s *posts) numberOf(name string) int32 {
	if number, known := s.numbers[name]; known {
		return number
	}
	if len(s.free) == 0 {
		s.free = append(s.free, int32(len(s.all)))
		s.all = append(s.all, post{})
		s.fleet.names = append(s.fleet.names, "")
		s.fleet.nodes = append(s.fleet.nodes, nil)
		s.fleet.sites = append(s.fleet.sites, site{})
	}
	number := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	s.all[number] = post{used: true}
	s.fleet.names[number] = name
	s.numbers[name] = number
	s.order.Add(number)
	return number
}

// fill puts a node on a post.
func (s *posts) fill(number int32, node *corev1.Node) {
	s.fleet.names[number], s.fleet.nodes[number] = node.Name, node
	s.all[number].judged = false
	s.touch(number)
}

// vacate takes the node away.
func (s *posts) vacate(number int32) {
	s.fleet.nodes[number] = nil
	s.all[number].judged = false
	s.touch(number)
}

// touch has a post looked at again.
func (s *posts) touch(number int32) {
	if t := &s.all[number]; !t.touched {
		t.touched = true
		s.touched = append(s.touched, number)
	}
}

// untouch has nothing looked at, and drops what is gone.
func (s *posts) untouch() {
	for _, number := range s.touched {
		s.all[number].touched = false
		if s.gone(number) {
			s.drop(number)
		}
	}
	s.touched = s.touched[:0]
}

func (s *posts) touchAll() {
	for number := range s.order.All() {
		s.touch(number)
	}
}

// drop takes a post out that nobody needs any more.
func (s *posts) drop(number int32) {
	s.order.Remove(number)
	delete(s.numbers, s.fleet.nameOf(number))
	s.all[number] = post{}
	s.fleet.names[number], s.fleet.nodes[number], s.fleet.sites[number] = "", nil, site{}
	s.free = append(s.free, number)
}

// empty forgets the pods, and the nodes that do not exist, and has all others looked at.
func (s *posts) empty() {
	s.touched = s.touched[:0]
	for number := range s.all {
		number, t := int32(number), &s.all[number]
		switch {
		case !t.used:
		case s.gone(number):
			s.drop(number)
		default:
			clear(t.pods)
			*t = post{pods: t.pods[:0], used: true}
			s.order.Mark(number, 0)
			s.touch(number)
		}
	}
}

// judge brings the decision on a node up to date.
func (s *posts) judge(number int32, matcher *placement.Matcher) {
	t := &s.all[number]
	if t.judged {
		return
	}
	t.judged = true
	s.fleet.sites[number].decision = placement.Undecided
	if !s.gone(number) {
		s.fleet.sites[number].decision = matcher.Decide(s.fleet.nodes[number])
	}
}
