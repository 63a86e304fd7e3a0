// Package expectations remembers writes that reads do not show yet.
//
// A controller that reads from a cache sees the past. Until the pods it created and
// deleted show up there, planning again would create them twice.
//
// For each write a [Tracker] is told, in this order: Expect, before any call; then for each
// create Created, Lost or Cancel, once its call has returned, and Cancel or LostDelete for each
// delete that failed or got no answer; then Sent. SawCreate and SawDelete come from watch events, at any time, also
// before the call returns; Observed from reads. Pending is what is left to wait for.
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

// Empty reports whether nothing is waited for.
func (p Pending) Empty() bool { return p.Creates <= 0 && len(p.Deletes) == 0 }

// Settled reports whether a plan may be made at now: nothing is pending, or the deadline
// has come.
func (p Pending) Settled(now time.Time) bool {
	if p.Empty() {
		return true
	}
	return !p.Deadline.IsZero() && !now.Before(p.Deadline)
}
