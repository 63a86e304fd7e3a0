package fake

// history is the changes of one kind that some cache has not taken in yet. Changes are
// numbered from the first that was ever made.
type history[T Object] struct {
	first   int // number of changes[0]
	changes []change[T]
	caches  map[*cache[T]]struct{}
}

func (h *history[T]) total() int { return h.first + len(h.changes) }

func (h *history[T]) at(number int) change[T] { return h.changes[number-h.first] }

func (h *history[T]) record(c change[T]) {
	if len(h.caches) == 0 {
		h.first++
		return
	}
	h.changes = append(h.changes, c)
}

// trim forgets what every cache has taken in, once it is worth the copying.
func (h *history[T]) trim() {
	seen := h.total()
	for c := range h.caches {
		seen = min(seen, c.position)
	}
	done := seen - h.first
	if done < 64 || done < len(h.changes)/2 {
		return
	}
	rest := copy(h.changes, h.changes[done:])
	clear(h.changes[rest:])
	h.changes = h.changes[:rest]
	h.first = seen
}
