package script

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/backoff"
	"github.com/daemonplan/daemonplan/expectations"
)

// backOff notes that pods failed on a node: "backoff a delay=4s ago=3s". The delay (1s if
// absent) runs from the last failure, ago before now (0s if absent). Option: generation=N,
// the observed generation it belongs to (1 if absent). A second entry of a node replaces
// the first.
func (w *World) backOff(words []string) error {
	if err := someWords(words); err != nil {
		return err
	}
	ago := time.Duration(0)
	entry := backoff.Entry{
		Key:   backoff.Key{Owner: setUID, Generation: 1, Node: words[0]},
		Delay: backoff.DefaultInitial,
	}
	err := options{
		"delay":      duration(&entry.Delay),
		"ago":        duration(&ago),
		"generation": integer(&entry.Key.Generation),
	}.read(words[1:])
	entry.Since = w.snapshot.Now.Add(-ago)
	entries := &w.snapshot.Backoff
	*entries = slices.DeleteFunc(*entries, func(e backoff.Entry) bool { return e.Key == entry.Key })
	*entries = append(*entries, entry)
	return err
}

// expect says which earlier writes have not been seen yet: "pending creates=2
// deletes=p1,p2 deadline=5m". The deadline is counted from now; without one, waiting never
// ends. "pending" alone says that all have been seen.
func (w *World) expect(words []string) error {
	var pending expectations.Pending
	var deadline time.Duration
	err := options{
		"creates": integer(&pending.Creates),
		"deletes": func(value string) error {
			for name := range strings.SplitSeq(value, ",") {
				pending.Deletes = append(pending.Deletes, uidOf(name))
			}
			slices.SortFunc(pending.Deletes, func(a, b types.UID) int { return strings.Compare(string(a), string(b)) })
			return nil
		},
		"deadline": duration(&deadline),
	}.read(words)
	if deadline != 0 {
		pending.Deadline = w.snapshot.Now.Add(deadline)
	}
	w.snapshot.Pending = pending
	return err
}

// advance lets time pass: "advance 10s".
func (w *World) advance(words []string) error {
	if err := oneWord(words); err != nil {
		return err
	}
	var span time.Duration
	err := duration(&span)(words[0])
	w.snapshot.Now = w.snapshot.Now.Add(span)
	return err
}
