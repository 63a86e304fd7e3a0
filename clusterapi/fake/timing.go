package fake

import "time"

// Timing is how long things take. A field of zero or less means at once, which is at the
// next Step.
type Timing struct {
	Bind        time.Duration // from a pod's creation until it is bound
	Start       time.Duration // from there until its containers run
	Ready       time.Duration // from there until it is ready
	Stop        time.Duration // from its deletion until its containers ended, at most the grace period
	Jitter      float64       // the four above are longer by up to this share, by chance for each pod
	Collect     time.Duration // until the garbage collector deletes what lost its owners
	LostNode    time.Duration // from a node's removal until its pods are removed
	Unreachable time.Duration // from the loss of a node until it is marked as such
}

// DefaultTiming returns round figures for a cluster at ease: bound after 100 ms, running
// 2 s later, ready after 3 s more, stopped 1 s after deletion, 20 % jitter; garbage is
// collected after 1 s, and a node counts as lost, and the pods of a removed one are
// removed, after 40 s as in Kubernetes v1.37.2 (kube-controller-manager's defaults).
func DefaultTiming() Timing {
	return Timing{
		Bind:        100 * time.Millisecond,
		Start:       2 * time.Second,
		Ready:       3 * time.Second,
		Stop:        time.Second,
		Jitter:      0.2,
		Collect:     time.Second,
		LostNode:    40 * time.Second,
		Unreachable: 50 * time.Second,
	}
}

// SetTiming changes how long things take from now on, also for what has begun.
func (c *Cluster) SetTiming(t Timing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.life.timing = t
	c.scheduleAll()
}
