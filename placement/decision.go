package placement

import (
	"fmt"
	"strconv"
)

// Decision is what a node may carry. It has three values, because a pair of booleans
// (place one, keep one) has a fourth combination that cannot occur. It marshals as text.
type Decision uint8

// The decisions that [Matcher.Evaluate] returns; the zero value means that none was taken.
const (
	Undecided Decision = iota // there was no node to judge
	Run                       // place a pod where there is none
	Keep                      // leave a pod that is there, place no new one
	Evict                     // no daemon pod may stay
)

// String returns the name of the constant, or Decision(n) for a value that has none.
func (d Decision) String() string {
	switch d {
	case Undecided:
		return "Undecided"
	case Run:
		return "Run"
	case Keep:
		return "Keep"
	case Evict:
		return "Evict"
	}
	return "Decision(" + strconv.Itoa(int(d)) + ")"
}

// MarshalText returns the name of the constant. A value without a name is an error.
func (d Decision) MarshalText() ([]byte, error) {
	if d > Evict {
		return nil, fmt.Errorf("placement: %s has no text form", d)
	}
	return []byte(d.String()), nil
}

// UnmarshalText sets d to the constant named by text. Any other text, also the empty one,
// is an error that leaves d as it was.
func (d *Decision) UnmarshalText(text []byte) error {
	for known := range Evict + 1 {
		if known.String() == string(text) {
			*d = known
			return nil
		}
	}
	return fmt.Errorf("placement: unknown decision %s", quote(string(text)))
}
