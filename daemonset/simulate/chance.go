package simulate

import "math/bits"

// chance is 64 even bits. It is not a generator with a state: each question has its own, made
// from the seed and from what is asked, so that the answers do not depend on the order of
// asking.
type chance uint64

// question tells the kinds of chance apart.
type question uint64

const (
	howLongToStart question = iota + 1
	howLongToStop
	whetherItFails
	whetherItIsStuck
	whetherItIsSlow
)

// ask answers one question about the nth pod of a node.
func ask(seed uint64, q question, node string, n int) chance {
	const prime, offset = 0x100000001b3, 0xcbf29ce484222325 // FNV-1a
	sum := uint64(offset)
	for i := range len(node) {
		sum = (sum ^ uint64(node[i])) * prime
	}
	z := mix(seed) ^ mix(sum+uint64(q)) ^ mix(uint64(n)<<8|uint64(q))
	return chance(mix(z))
}

// mix spreads every bit of its argument over the result: the finalizer of SplitMix64.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number from 0 up to but without n.
func (c chance) below(n uint64) uint64 {
	high, _ := bits.Mul64(uint64(c), n)
	return high
}

// happens is true for the given share of all questions. The division is by a power of two,
// and so the same on every platform.
func (c chance) happens(rate float64) bool {
	return float64(c>>11)/(1<<53) < rate
}
