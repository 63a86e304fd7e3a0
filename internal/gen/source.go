package gen

import "encoding/binary"

// seedLength is how many bytes Bytes returns: enough that the largest case does not run out.
const seedLength = 4096

// Bytes returns the bytes that seed stands for, always the same ones. They are what a fuzz
// target would be given, so a failing seed can be kept as a corpus file.
func Bytes(seed uint64) []byte {
	data := make([]byte, 0, seedLength)
	for state := seed; len(data) < seedLength; {
		// SplitMix64: one addition and a finalizer that spreads every bit of the counter.
		state += 0x9e3779b97f4a7c15
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		data = binary.LittleEndian.AppendUint64(data, z^z>>31)
	}
	return data
}

// source hands out choices. Each uses up one byte; when there are none left every choice is
// the first, which is the plainest, so that shorter inputs are simpler cases.
type source struct {
	data     []byte
	disorder int // of 100 things, how many are odd
}

// below returns a number from 0 up to but without n, which is at most 256.
func (s *source) below(n int) int {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return int(b) % n
}

// oneIn is true for one of n bytes.
func (s *source) oneIn(n int) bool { return s.below(n) == n-1 }

// odd is true as often as the case is disorderly.
func (s *source) odd() bool { return s.below(100) >= 100-s.disorder }

// pick returns one of items; the first is the plainest.
func pick[T any](s *source, items ...T) T { return items[s.below(len(items))] }
