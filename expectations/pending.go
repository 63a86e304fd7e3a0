// Package expectations remembers writes that reads do not show yet.
//
// A controller that reads from a cache sees the past. Until the pods it created and
// deleted show up there, planning again would create them twice.
package expectations

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Pending is what one owner is still waiting to see. The zero value waits for nothing.
type Pending struct {
	Creates  int         `json:"creates,omitempty"`
	Deletes  []types.UID `json:"deletes,omitempty"` // sorted
	Deadline time.Time   `json:"deadline,omitzero"` // when waiting ends regardless; zero means never
}

// Settled reports whether a plan may be made at now: nothing is pending, or the deadline
// has come.
func (p Pending) Settled(now time.Time) bool {
	if p.Creates <= 0 && len(p.Deletes) == 0 {
		return true
	}
	return !p.Deadline.IsZero() && !now.Before(p.Deadline)
}
