package explain

import (
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
)

// Meaning is what a word of the vocabulary says.
type Meaning struct {
	Means string `json:"means"` // a sentence
	Next  string `json:"next"`  // a sentence: what follows, or what would end it and who does that
}

// OfReason returns what a reason of package daemonset or rollout means. Ok is false for the
// empty reason and for one that this release does not know; the meaning is then zero.
func OfReason(reason daemonset.Reason) (m Meaning, ok bool) {
	for _, table := range [...][]reasonMeaning{
		createReasons(), deleteReasons(), updateReasons(), waitReasons(), standReasons(), writeReasons(), oddReasons(),
	} {
		for _, row := range table {
			if row.reason == reason {
				return row.Meaning, true
			}
		}
	}
	return Meaning{}, false
}

// OfCode returns what an obstacle of package placement means. Ok is false for a code that
// this release does not know; the meaning is then zero.
func OfCode(code placement.Code) (m Meaning, ok bool) {
	for _, table := range [...][]codeMeaning{matcherCodes(), fitterCodes()} {
		for _, row := range table {
			if row.code == code {
				return row.Meaning, true
			}
		}
	}
	return Meaning{}, false
}

type reasonMeaning struct {
	reason daemonset.Reason
	Meaning
}

type codeMeaning struct {
	code placement.Code
	Meaning
}

// dictionary keeps the meanings that were looked up, because a large plan says few words
// often.
type dictionary struct {
	reasons map[daemonset.Reason]Meaning
}

func newDictionary() dictionary { return dictionary{reasons: map[daemonset.Reason]Meaning{}} }

// reason is OfReason, with the word itself where it is not known.
func (d dictionary) reason(reason daemonset.Reason) Meaning {
	if m, ok := d.reasons[reason]; ok {
		return m
	}
	m, ok := OfReason(reason)
	if !ok {
		m = Meaning{Means: "The plan gives the reason " + string(reason) + "."}
	}
	d.reasons[reason] = m
	return m
}
