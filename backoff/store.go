package backoff

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Store keeps entries between passes. Its zero value is ready and empty; it is safe for
// concurrent use, and must not be copied once it is used.
type Store struct {
	Policy Policy // set before first use

	mu      sync.Mutex
	entries map[types.UID]map[Key]Entry
}

// Record notes a failure at now and returns the entry after it.
func (s *Store) Record(k Key, now time.Time) Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.entries[k.Owner][k]
	if !ok {
		e = Entry{Key: k}
	}
	e = s.Policy.Next(e, now)
	s.put(e)
	return e
}

// View copies the entries of one owner, in key order. It is nil for none.
func (s *Store) View(owner types.UID) Entries {
	s.mu.Lock()
	defer s.mu.Unlock()
	return inOrder(nil, s.entries[owner])
}

// Save copies the whole table, in key order: what Restore takes after a restart.
func (s *Store) Save() Entries {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all Entries
	for _, of := range s.entries {
		all = inOrder(all, of)
	}
	return all.Sorted()
}

// Restore replaces the whole table. Of two entries with one key the later in the list
// counts; entries without a delay are left out.
func (s *Store) Restore(entries Entries) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries = nil
	for _, e := range entries {
		if e.Delay > 0 {
			s.put(e)
		}
	}
}

// Prune forgets entries that have decayed by now and says how many.
func (s *Store) Prune(now time.Time) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	pruned := 0
	for owner, of := range s.entries {
		for k, e := range of {
			if s.Policy.Decayed(e, now) {
				delete(of, k)
				pruned++
			}
		}
		if len(of) == 0 {
			delete(s.entries, owner)
		}
	}
	return pruned
}

// Forget drops the entries of an owner that is gone.
func (s *Store) Forget(owner types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.entries, owner)
}

func (s *Store) put(e Entry) {
	if s.entries == nil {
		s.entries = map[types.UID]map[Key]Entry{}
	}
	of := s.entries[e.Key.Owner]
	if of == nil {
		of = map[Key]Entry{}
		s.entries[e.Key.Owner] = of
	}
	of[e.Key] = e
}

func inOrder(entries Entries, of map[Key]Entry) Entries {
	entries = slices.Grow(entries, len(of))
	for _, e := range of {
		entries = append(entries, e)
	}
	return entries.Sorted()
}
