package fake

import (
	"context"
	"time"
)

// perform makes one call of a client: it checks that the process lives and its context is
// not done, lets effect happen while nobody else uses the cluster, and lets go wrong what
// is to go wrong.
func perform[T any](ctx context.Context, cl *Client, r request, effect func() (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	c := cl.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	if cl.crashed {
		return none, ErrCrashed
	}
	if !r.call.reads() {
		cl.writes++
	}
	fault := cl.strike(r)
	if fault != nil && fault.When == Before {
		if err := cl.suffer(ctx, fault); err != nil {
			return none, err
		}
	}
	result, err := effect()
	if fault != nil && fault.When == After {
		if err := cl.suffer(ctx, fault); err != nil {
			return none, err
		}
	}
	return result, err
}

// suffer is what a fault does to a call. The cluster is free for others while it waits.
func (cl *Client) suffer(ctx context.Context, f *Fault) error {
	if f.Wait > 0 {
		if err := cl.cluster.waitUntil(ctx, cl.cluster.now.Add(f.Wait)); err != nil {
			return err
		}
	}
	if f.Crash {
		cl.die()
	}
	if cl.crashed {
		return ErrCrashed
	}
	return f.Err
}

// waitUntil waits for the cluster's clock, with the lock given up meanwhile.
func (c *Cluster) waitUntil(ctx context.Context, t time.Time) error {
	for c.now.Before(t) {
		ticked := c.ticked
		c.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-ticked:
		}
		c.mu.Lock()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
