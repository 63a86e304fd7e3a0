package rollout_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/rollout"
)

const (
	headerBytes = 4
	nodeBytes   = 3
)

// decode turns any bytes into an Input: a header, then three bytes a node. Names come
// twice now and then, so do pods, and healths include one that is not declared.
func decode(data []byte) rollout.Input {
	var in rollout.Input
	if len(data) < headerBytes {
		return in
	}
	in.Budget.MaxUnavailable = int(data[0]%32) - 2
	in.Budget.MaxSurge = int(data[1]%24) - 10
	in.Desired = int(data[2]%24) - 2
	in.Prefer = preference(data[3])
	for rest := data[headerBytes:]; len(rest) >= nodeBytes; rest = rest[nodeBytes:] {
		in.Nodes = append(in.Nodes, decodeNode(rest[0], rest[1], rest[2]))
	}
	return in
}

func decodeNode(name, shape, pods byte) rollout.Node {
	n := rollout.Node{Name: "n" + strconv.Itoa(int(name)), Eligible: shape&1 != 0}
	undeclared := rollout.Available + 1
	healths := []rollout.Health{rollout.Available, rollout.Available, rollout.Ready, rollout.Unhealthy}
	if shape&2 != 0 {
		healths[3] = undeclared
	}
	// One pod is the usual case, so most of the shapes have one.
	count := []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 2, 2, 3}[shape>>2&15]
	for i := range count {
		n.Pods = append(n.Pods, rollout.Pod{
			Name:    "p" + strconv.Itoa(i) + strconv.Itoa(int(shape>>6&1)),
			UID:     types.UID("u" + strconv.Itoa(int(shape>>7))),
			Current: pods&1 != 0,
			Health:  healths[pods>>1&3],
		})
		pods = pods>>3 | pods<<5
	}
	return n
}

func preference(choice byte) func(a, b rollout.Node) int {
	switch choice % 4 {
	case 0:
		return func(a, b rollout.Node) int { return cmp.Compare(b.Name, a.Name) }
	case 1:
		return func(a, b rollout.Node) int { return cmp.Compare(a.Name[len(a.Name)-1], b.Name[len(b.Name)-1]) }
	}
	return nil
}

// generate is an Input of up to 40 nodes.
func generate(rng *rand.Rand) []byte {
	data := make([]byte, headerBytes+nodeBytes*rng.IntN(41))
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	return data
}

// shuffled is the same set of nodes and pods in another order, sharing no memory.
func shuffled(in rollout.Input, rng *rand.Rand) rollout.Input {
	in.Nodes = slices.Clone(in.Nodes)
	rng.Shuffle(len(in.Nodes), func(i, j int) { in.Nodes[i], in.Nodes[j] = in.Nodes[j], in.Nodes[i] })
	for i := range in.Nodes {
		pods := slices.Clone(in.Nodes[i].Pods)
		rng.Shuffle(len(pods), func(a, b int) { pods[a], pods[b] = pods[b], pods[a] })
		in.Nodes[i].Pods = pods
	}
	return in
}
