package controllerruntime

import (
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// rests are the sets for which no pass is made for a while. The zero value has none.
type rests struct {
	mu   sync.Mutex
	sets map[reconcile.Request]rest
}

type rest struct {
	began  time.Time
	length time.Duration
}

// begin lets a set rest from now on; zero or less ends a rest.
func (r *rests) begin(request reconcile.Request, now time.Time, length time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if length <= 0 {
		delete(r.sets, request)
		return
	}
	if r.sets == nil {
		r.sets = map[reconcile.Request]rest{}
	}
	r.sets[request] = rest{began: now, length: length}
}

// left is how long a set goes on resting; zero if it does not. When the clock was turned back
// the rest begins anew.
func (r *rests) left(request reconcile.Request, now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.sets[request]
	switch past := now.Sub(s.began); {
	case !ok:
		return 0
	case past < 0:
		r.sets[request] = rest{began: now, length: s.length}
		return s.length
	case past < s.length:
		return s.length - past
	}
	delete(r.sets, request)
	return 0
}
