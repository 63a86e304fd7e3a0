// Package backoff spaces out the replacement of pods that keep failing.
//
// A pod that the kubelet rejects fails at once, is replaced, and fails again. Each
// failure on a node doubles the time before the next replacement there. [Policy], [Entry]
// and [Entries] are values: the time is an argument, and nothing is remembered between
// calls. A [Store] keeps entries between passes, and is saved and restored as [Entries].
package backoff

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Defaults of a Policy, as in Kubernetes v1.37.2.
const (
	DefaultInitial = time.Second
	DefaultMax     = 15 * time.Minute
)

// Key identifies what is backing off: one generation of one DaemonSet on one node. A new
// generation starts with a clean slate, because a new template may well not fail.
type Key struct {
	Owner      types.UID `json:"owner"`
	Generation int64     `json:"generation"` // the DaemonSet's status.observedGeneration
	Node       string    `json:"node"`
}

// Compare orders keys by owner, then generation, then node.
func (k Key) Compare(other Key) int {
	return cmp.Or(
		strings.Compare(string(k.Owner), string(other.Owner)),
		cmp.Compare(k.Generation, other.Generation),
		strings.Compare(k.Node, other.Node),
	)
}

// Entry is the state of one key. An entry with no Delay has never failed.
type Entry struct {
	Key   Key           `json:"key"`
	Delay time.Duration `json:"delay"` // nanoseconds in JSON
	Since time.Time     `json:"since"` // the last failure
}

// Policy is the curve. A field that is zero or negative means its default: one second and
// fifteen minutes.
type Policy struct {
	Initial time.Duration `json:"initial,omitempty"`
	Max     time.Duration `json:"max,omitempty"`
}

func (p Policy) initial() time.Duration {
	if p.Initial <= 0 {
		return min(DefaultInitial, p.max())
	}
	return min(p.Initial, p.max())
}

func (p Policy) max() time.Duration {
	if p.Max <= 0 {
		return DefaultMax
	}
	return p.Max
}

// Next is the entry after one more failure at now: the initial delay for a key that never
// failed or whose entry has decayed, otherwise twice the last delay, at most the maximum.
func (p Policy) Next(e Entry, now time.Time) Entry {
	delay := p.initial()
	if e.Delay > 0 && !p.Decayed(e, now) {
		delay = p.max()
		if e.Delay < delay-e.Delay { // doubling stays below, and cannot overflow
			delay = 2 * e.Delay
		}
	}
	return Entry{Key: e.Key, Delay: delay, Since: now}
}

// Wait is how long e still forbids a replacement at now; zero when it does not. It is never
// longer than the maximum delay, nor than e's own, whatever the clock did since.
func (p Policy) Wait(e Entry, now time.Time) time.Duration {
	if e.Delay <= 0 || p.Decayed(e, now) {
		return 0
	}
	delay := min(e.Delay, p.max())
	return min(delay, max(0, e.Since.Add(delay).Sub(now)))
}

// Decayed reports whether e is too old to matter: untouched for more than twice the
// maximum delay. An entry from as far in the future does not matter either; it is not from
// this clock.
func (p Policy) Decayed(e Entry, now time.Time) bool {
	age, limit := now.Sub(e.Since).Abs(), p.max()
	return age > limit && age-limit > limit
}

// Turns is the first instant after now at which time alone changes whether e forbids a
// replacement, or how long the delay is that Next gives; zero if there is none. Until then
// both stay as they are at now.
func (p Policy) Turns(e Entry, now time.Time) time.Time {
	if e.Delay <= 0 {
		return time.Time{}
	}
	turns := []time.Time{e.Since.Add(min(e.Delay, p.max()))}
	if limit := 2 * p.max(); limit > 0 { // else it is too long to decay
		turns = append(turns, e.Since.Add(-limit), e.Since.Add(limit+1))
	}
	var first time.Time
	for _, turn := range turns {
		if turn.After(now) && (first.IsZero() || turn.Before(first)) {
			first = turn
		}
	}
	return first
}

// Entries is a read-only view, sorted by key: no map, so that it prints, compares and
// marshals the same every time.
type Entries []Entry

// Sorted returns es in key order: es itself when it is in order already, otherwise a copy.
func (es Entries) Sorted() Entries {
	byKey := func(a, b Entry) int { return a.Key.Compare(b.Key) }
	if slices.IsSortedFunc(es, byKey) {
		return es
	}
	sorted := slices.Clone(es)
	slices.SortStableFunc(sorted, byKey)
	return sorted
}

// Get finds the entry of one key by binary search; es must be sorted. The entry of a key
// that is not there has that key and no delay.
func (es Entries) Get(k Key) (Entry, bool) {
	i, ok := slices.BinarySearchFunc(es, k, func(e Entry, k Key) int { return e.Key.Compare(k) })
	if !ok {
		return Entry{Key: k}, false
	}
	return es[i], true
}
