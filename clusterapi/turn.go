package clusterapi

import "context"

// turn lets one pass go on at a time. Nil lets all.
type turn chan struct{}

// take returns when it is one's turn, or the error of a context that is done before.
func (t turn) take(ctx context.Context) error {
	if t == nil {
		return nil
	}
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t turn) leave() {
	if t != nil {
		<-t
	}
}
