package fake

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"k8s.io/apimachinery/pkg/types"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
)

// chance decides what a real cluster leaves to chance, by a hash of the seed and of what is
// decided about. So no decision depends on how many were made before it.
type chance struct {
	seed uint64
}

// source gives the numbers for one question. The same words give the same numbers.
func (c chance) source(words ...string) *rand.Rand {
	h := fnv.New64a()
	for _, word := range words {
		_, _ = h.Write([]byte(word))
		_, _ = h.Write([]byte{0})
	}
	return rand.New(rand.NewPCG(c.seed, h.Sum64()))
}

// suffix is the random end of a generated name: five characters of the alphabet that the
// API server takes them from.
func (c chance) suffix(words ...string) string {
	source := c.source(append([]string{"name"}, words...)...)
	raw := make([]byte, 5)
	for i := range raw {
		raw[i] = byte(source.UintN(27))
	}
	return utilrand.SafeEncodeString(string(raw))
}

// uid is a random (version 4) UUID.
func (c chance) uid(kind string, key types.NamespacedName, incarnation string) types.UID {
	source := c.source("uid", kind, key.Namespace, key.Name, incarnation)
	high, low := source.Uint64(), source.Uint64()
	high = high&^0xf000 | 0x4000
	low = low&^(3<<62) | 1<<63
	return types.UID(fmt.Sprintf("%08x-%04x-%04x-%04x-%012x",
		high>>32, high>>16&0xffff, high&0xffff, low>>48, low&0xffffffffffff))
}
