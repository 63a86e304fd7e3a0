package clusterapi

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/daemonplan/daemonplan/expectations"
)

// own keeps the resource versions of our latest writes, for each set. Reads that are older
// must not be acted on: they do not show what was done. Its zero value is ready.
type own struct {
	mu   sync.Mutex
	sets map[types.NamespacedName]*written
	any  written // the latest of all sets
}

type written struct {
	owner types.UID
	at    time.Time
	by    Versions
}

// wrote notes the version of an object as it was stored at now.
func (o *own) wrote(key types.NamespacedName, owner types.UID, now time.Time, version Versions) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sets == nil {
		o.sets = map[types.NamespacedName]*written{}
	}
	w := o.sets[key]
	if w == nil || w.owner != owner {
		w = &written{owner: owner}
		o.sets[key] = w
	}
	w.note(now, version)
	o.any.note(now, version)
}

func (w *written) note(now time.Time, version Versions) {
	w.at = now
	w.by = Versions{
		DaemonSets: newer(w.by.DaemonSets, version.DaemonSets),
		Pods:       newer(w.by.Pods, version.Pods),
		Revisions:  newer(w.by.Revisions, version.Revisions),
	}
}

// stale says which cache is behind our writes, if any. A cache that never catches up is
// believed in the end: its server may have been restored from a backup. So is it when the
// clock was turned back.
func (o *own) stale(key types.NamespacedName, asOf Versions, now time.Time) *StaleError {
	o.mu.Lock()
	defer o.mu.Unlock()
	w := o.sets[key]
	if w == nil || now.Sub(w.at).Abs() >= expectations.DefaultTimeout {
		return nil
	}
	switch {
	case behind(asOf.DaemonSets, w.by.DaemonSets):
		return &StaleError{Kind: "DaemonSet", Seen: asOf.DaemonSets, Written: w.by.DaemonSets}
	case behind(asOf.Revisions, w.by.Revisions):
		return &StaleError{Kind: "ControllerRevision", Seen: asOf.Revisions, Written: w.by.Revisions}
	case behind(asOf.Pods, w.by.Pods):
		return &StaleError{Kind: "Pod", Seen: asOf.Pods, Written: w.by.Pods}
	}
	return nil
}

// staleByAny says whether reads of pods are behind what was written for any set.
func (o *own) staleByAny(asOf Versions, now time.Time) *StaleError {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now.Sub(o.any.at).Abs() >= expectations.DefaultTimeout || !behind(asOf.Pods, o.any.by.Pods) {
		return nil
	}
	return &StaleError{Kind: "Pod", Seen: asOf.Pods, Written: o.any.by.Pods}
}

// covered reports whether reads of pods at a version are certain to show all that was written
// about the pods of a set.
func (o *own) covered(key types.NamespacedName, pods string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	w := o.sets[key]
	if w == nil || pods == "" || w.by.Pods == "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(pods, w.by.Pods)
	return err == nil && order >= 0
}

// forget drops what is known of a set and returns the UID under which it was known.
func (o *own) forget(key types.NamespacedName) types.UID {
	o.mu.Lock()
	defer o.mu.Unlock()
	w := o.sets[key]
	delete(o.sets, key)
	if w == nil {
		return ""
	}
	return w.owner
}

// know remembers the UID of a set, so that it can be forgotten by name, and returns the one
// that the name had before, if it was another.
func (o *own) know(key types.NamespacedName, owner types.UID) (previous types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w := o.sets[key]
	if w != nil && w.owner == owner {
		return ""
	}
	if o.sets == nil {
		o.sets = map[types.NamespacedName]*written{}
	}
	o.sets[key] = &written{owner: owner}
	if w == nil {
		return ""
	}
	return w.owner
}

// newer is the later of two resource versions. Versions that are not numbers cannot be
// compared (Kubernetes promises an order only for those that are), and are passed over.
func newer(a, b string) string {
	if b == "" {
		return a
	}
	if order, err := resourceversion.CompareResourceVersion(b, b); err != nil || order != 0 {
		return a
	}
	if a == "" {
		return b
	}
	if order, err := resourceversion.CompareResourceVersion(a, b); err != nil || order >= 0 {
		return a
	}
	return b
}

func behind(seen, written string) bool {
	if seen == "" || written == "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(seen, written)
	return err == nil && order < 0
}
