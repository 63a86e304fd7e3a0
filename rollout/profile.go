package rollout

import (
	"fmt"
	"slices"
	"strings"
)

// Profile says which generation of Kubernetes the update rules are of. It is for comparing
// them and for controllers that have to behave as an older one did; the zero value is what
// this package follows otherwise.
type Profile uint8

// The profiles, newest first. What they do is told at [Decide].
const (
	Kubernetes137 Profile = iota // v1.37
	Kubernetes127                // v1.27
	Kubernetes112                // v1.12, which has no surge
)

// String returns the version, or Profile(n) for a value that has none.
func (p Profile) String() string {
	switch p {
	case Kubernetes137:
		return "v1.37"
	case Kubernetes127:
		return "v1.27"
	case Kubernetes112:
		return "v1.12"
	}
	return fmt.Sprintf("Profile(%d)", uint8(p))
}

// judgeReplacing127 is the update step without surge of the time of Kubernetes v1.27: an
// outdated pod that is not available is deleted without counting against the budget, so
// that with many of them more nodes are down at once than MaxUnavailable says.
func judgeReplacing127(n *Node) Verdict {
	v := judgeReplacing(n)
	if v.Reason == OutdatedUnavailable {
		v.Spends = false
	}
	return v
}

// decide112 is the update step of Kubernetes v1.12. It looks at pods and not at nodes: all
// outdated pods that are not available are deleted, and of the available ones as many as
// there is room for after every eligible node without an available pod is counted. How many
// pods are on a node, and of which revision, plays no part.
func decide112(in Input) Result {
	var out Result
	var candidates []candidate
	steps := make([]int, len(in.Nodes)) // deletes, by node
	down := 0
	for i := range in.Nodes {
		n := &in.Nodes[i]
		if n.Eligible && !slices.ContainsFunc(n.Pods, func(p Pod) bool { return p.available() }) {
			down++
		}
		for _, p := range n.Pods {
			switch {
			case p.Current:
			case p.available():
				candidates = append(candidates, candidate{i, p})
			default:
				out.Deletes = append(out.Deletes, Delete{Node: n.Name, Pod: p, Reason: OutdatedUnavailable})
				steps[i]++
			}
		}
	}
	slices.SortFunc(candidates, in.compareCandidates)
	room := min(max(0, max(in.Budget.MaxUnavailable, 0)-down), len(candidates))
	for _, c := range candidates[:room] {
		out.Deletes = append(out.Deletes, Delete{Node: in.Nodes[c.node].Name, Pod: c.pod, Reason: Outdated})
		steps[c.node]++
	}
	for _, c := range candidates[room:] {
		if steps[c.node] == 0 { // else the node has its step
			out.Holds = append(out.Holds, Hold{Node: in.Nodes[c.node].Name, Reason: BudgetExhausted})
			steps[c.node]++ // and waits once, whatever the number of its pods
		}
	}
	slices.SortFunc(out.Deletes, compareDeletes)
	slices.SortFunc(out.Holds, compareHolds)
	return out
}

// candidate is an available outdated pod.
type candidate struct {
	node int // its place in Input.Nodes
	pod  Pod
}

func (in Input) compareCandidates(a, b candidate) int {
	m, n := in.Nodes[a.node], in.Nodes[b.node]
	if in.Prefer != nil && a.node != b.node {
		if c := in.Prefer(m, n); c != 0 {
			return c
		}
	}
	if c := strings.Compare(m.Name, n.Name); c != 0 {
		return c
	}
	return comparePods(a.pod, b.pod)
}
