package fake

import (
	"slices"
	"time"
)

// Lag is how far a client's cache of one kind stays behind the server. The conditions add
// up; the zero value does not lag. What was seen once stays seen.
//
// With Changes or Hold the last writes stay unseen until others follow, or until Sync. For a
// lag that ends by itself use Age.
type Lag struct {
	Changes int           // this many of the latest writes of the kind stay unseen
	Age     time.Duration // writes younger than this stay unseen
	Hold    bool          // nothing more is seen, until Deliver, Sync or Relist
}

// SetLag lets the caches of the named kinds lag from now on; without kinds, all of them.
func (cl *Client) SetLag(lag Lag, kinds ...Kind) {
	cl.locked(func() { cl.each(kinds, func(f follower) { f.setLag(lag) }) })
}

// Deliver shows the next writes of a kind to the client, at most n, whatever its lag, and
// returns how many there were.
func (cl *Client) Deliver(kind Kind, n int) int {
	delivered := 0
	cl.locked(func() {
		cl.each([]Kind{kind}, func(f follower) { delivered = f.catchUp(n) })
	})
	return delivered
}

// Sync shows all writes of the named kinds to the client, whatever its lag; without kinds,
// all writes.
func (cl *Client) Sync(kinds ...Kind) {
	cl.locked(func() {
		cl.each(kinds, func(f follower) { f.catchUp(f.behind()) })
	})
}

// Relist does what a client does whose watch broke for too long: it lists the named kinds
// anew, or all. Writes that it had not seen become one update for each object; one that is
// gone becomes a deletion with the last state that the client knew (Event.Missed); one that
// was deleted and made anew becomes an update with another UID.
func (cl *Client) Relist(kinds ...Kind) {
	cl.locked(func() { cl.each(kinds, follower.relist) })
}

// each calls f for the caches of the named kinds, or for all, in the order of kinds.
func (cl *Client) each(kinds []Kind, f func(follower)) {
	for _, cached := range cl.caches() {
		if len(kinds) == 0 || slices.Contains(kinds, cached.kind()) {
			f(cached)
		}
	}
	cl.publish()
}

// locked runs f while nobody else uses the cluster. A client that is dead sees no more.
func (cl *Client) locked(f func()) {
	cl.cluster.mu.Lock()
	defer cl.cluster.mu.Unlock()
	if !cl.crashed {
		f()
	}
}
