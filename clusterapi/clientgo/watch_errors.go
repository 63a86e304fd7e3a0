package clientgo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"k8s.io/client-go/tools/cache"
)

// watchErrors keeps the last error of each informer, so that a cache that does not fill can
// be explained. Its zero value is ready.
type watchErrors struct {
	mu   sync.Mutex
	last map[string]error
}

// watch takes note of the errors of informers that have not been started; those of others
// are logged by client-go alone.
func (w *watchErrors) watch(i *Informers, logger *slog.Logger) {
	for _, n := range i.each() {
		_ = n.informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, r *cache.Reflector, err error) {
			w.note(n.resource, err)
			logger.WarnContext(ctx, "reading from the API server", "resource", n.resource, "error", err)
			cache.DefaultWatchErrorHandler(ctx, r, err)
		})
	}
}

func (w *watchErrors) note(resource string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		w.last = map[string]error{}
	}
	w.last[resource] = err
}

// of joins the errors of some resources, in their order.
func (w *watchErrors) of(resources []string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	for _, resource := range resources {
		if err := w.last[resource]; err != nil {
			errs = append(errs, fmt.Errorf("clientgo: reading %s: %w", resource, err))
		}
	}
	return errors.Join(errs...)
}
