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
	in.Budget.MaxUnavailable = int(data[0]%16) - 2
	in.Budget.MaxSurge = max(int(data[1]%16)-7, -1)
	in.Desired = int(data[2]%24) - 2
	in.Prefer = preference(data[3])
	for rest := data[headerBytes:]; len(rest) >= nodeBytes; rest = rest[nodeBytes:] {
		in.Nodes = append(in.Nodes, decodeNode(rest[0], rest[1], rest[2]))
	}
	return in
}

func decodeNode(name, shape, pods byte) rollout.Node {
	n := rollout.Node{Name: "n" + strconv.Itoa(int(name)), Eligible: shape&3 != 0}
	// One pod is the usual case, so most of the shapes have one.
	count := []int{0, 1, 1, 1, 1, 1, 2, 3}[shape>>2&7]
	for range count {
		health := rollout.Health(3 - pods>>1&3)
		if health == 0 && shape&0x80 == 0 {
			health = rollout.Available
		}
		id := strconv.Itoa(len(n.Pods)) + strconv.Itoa(int(shape>>5&1))
		n.Pods = append(n.Pods, rollout.Pod{
			Name: "p" + id, UID: types.UID("u" + strconv.Itoa(int(shape>>6&1))), Current: pods&1 != 0, Health: health,
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
