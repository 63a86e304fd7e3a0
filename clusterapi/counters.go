package clusterapi

import (
	"cmp"
	"errors"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/daemonset"
)

// Pass is one pass that a Runner had made.
type Pass struct {
	Key      types.NamespacedName
	Result   Result // empty for a pass that panicked or hangs
	Err      error  // what Sync returned, or a *PanicError, or a *HangError
	Duration time.Duration
}

// ServerDelay returns the longest delay that a server asked for in the answers to the pass;
// zero for none. The next pass for the key should not be made before it is over.
func (p Pass) ServerDelay() time.Duration {
	longest, _ := apierrors.SuggestsClientDelay(p.Err)
	for _, w := range p.Result.Writes {
		seconds, _ := apierrors.SuggestsClientDelay(w.Err)
		longest = max(longest, seconds)
	}
	return time.Duration(longest) * time.Second
}

// Idle reports whether the pass could not do its work, without an error: its reads were too
// old, or earlier writes were not seen yet. Such a pass proves nothing: retries after errors
// go on from where they were.
func (p Pass) Idle() bool {
	return p.Err == nil && (p.Result.Stale != nil || p.Result.Plan.Reason == daemonset.WritesPending)
}

// Counters say what a Runner has done since it was made, and how its queue stands. They are
// a plain value: reading it costs and changes nothing. The zero value has counted nothing.
//
// Who has a queue of their own can keep Counters by feeding them with Add; what stands under
// "now" is then zero.
type Counters struct {
	Passes   PassCounts
	Writes   []WriteCount // by verb and outcome, without zero counts
	Expired  int          // creates and deletes that were never seen, and given up
	Retries  int          // passes to be made again because of an error
	Added    int          // keys that Add made ready
	Repeated int          // calls of Add for keys that were ready already, or that rest
	PassTime Durations

	Queued  int // now: keys that are ready and wait for a worker
	Delayed int // now: keys that wait for a time, whether or not they are ready as well
	Running int // now: passes under way, the stuck ones included
	Stuck   int // now: passes that go on although their context is done
}

// PassCounts counts passes by how they ended; each is counted once.
type PassCounts struct {
	Succeeded int
	Refused   int // by the driver, because its reads were older than its own writes
	Gone      int // there was no such DaemonSet
	Failed    int // with an error, other than those below
	Panicked  int // the Syncer did; a panic of an adapter is a failure that wraps ErrAdapter
	Hung      int // went on although their context was done, and were left alone
}

// WriteCount says how many writes of one verb had one outcome.
type WriteCount struct {
	Verb    Verb
	Outcome Outcome
	Count   int
}

// Durations sums up durations.
type Durations struct {
	Count    int
	Sum, Max time.Duration
}

// Total counts all passes.
func (p PassCounts) Total() int {
	return p.Succeeded + p.Refused + p.Gone + p.Failed + p.Panicked + p.Hung
}

// Write returns how many writes of a verb had an outcome.
func (c Counters) Write(verb Verb, outcome Outcome) int {
	if i, ok := c.search(verb, outcome); ok {
		return c.Writes[i].Count
	}
	return 0
}

// Add counts one pass. It is not safe for concurrent use.
func (c *Counters) Add(p Pass) {
	c.Passes.add(p)
	c.PassTime.add(p.Duration)
	c.addResult(p.Result)
}

// addResult counts what a pass did, and not the pass itself.
func (c *Counters) addResult(r Result) {
	c.Expired += r.Expired.Creates + len(r.Expired.Deletes)
	for _, w := range r.Writes {
		i, ok := c.search(w.Verb, w.Outcome)
		if !ok {
			c.Writes = slices.Insert(c.Writes, i, WriteCount{Verb: w.Verb, Outcome: w.Outcome})
		}
		c.Writes[i].Count++
	}
}

func (c Counters) search(verb Verb, outcome Outcome) (at int, found bool) {
	wanted := WriteCount{Verb: verb, Outcome: outcome}
	return slices.BinarySearchFunc(c.Writes, wanted, func(a, b WriteCount) int {
		return cmp.Or(cmp.Compare(a.Verb, b.Verb), cmp.Compare(a.Outcome, b.Outcome))
	})
}

func (p *PassCounts) add(pass Pass) {
	_, panicked := errors.AsType[*PanicError](pass.Err)
	_, hung := errors.AsType[*HangError](pass.Err)
	switch {
	case hung:
		p.Hung++
	case panicked:
		p.Panicked++
	case pass.Err != nil:
		p.Failed++
	case pass.Result.Stale != nil:
		p.Refused++
	case pass.Result.Gone:
		p.Gone++
	default:
		p.Succeeded++
	}
}

func (d *Durations) add(took time.Duration) {
	d.Count++
	d.Sum += took
	d.Max = max(d.Max, took)
}
