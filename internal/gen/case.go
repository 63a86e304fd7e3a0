// Package gen makes cluster snapshots from bytes, for property tests, fuzz targets and
// comparisons. It is test support.
//
// The same bytes give the same case, on every platform. The cases lean towards what is
// interesting: rollouts under way, two pods on a node, instants at which a rule turns.
package gen

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/backoff"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/expectations"
	"github.com/daemonplan/daemonplan/placement"
)

// defaultNodes is how many nodes a case has at most unless Options say otherwise.
const defaultNodes = 12

// Options widen what is generated. The zero value gives objects that an API server accepts
// and that Kubernetes v1.37.2 reads as this library does.
type Options struct {
	// Nodes is the largest number of nodes; zero or less means 12, and more than 255 is 255.
	Nodes int
	// Lenient also gives what an API server refuses but the controller gives a meaning: an
	// empty selector, maxUnavailable and maxSurge both zero or both set, a missing
	// rollingUpdate, an affinity without terms or with match fields that do not parse.
	Lenient bool
	// Rewritten also gives revisions that hold the set's template in other bytes than
	// Kubernetes writes, which here match and there do not.
	Rewritten bool
}

// Case is one input of daemonset.Compute.
type Case struct {
	Snapshot daemonset.Snapshot
	Options  daemonset.Options
}

// Make returns the case that data stands for. It is valid for Compute; the objects share no
// memory with data or with each other. Empty data is a set at rest on one node.
func Make(data []byte, o Options) Case {
	w := newWorld(data, o)
	w.makeSet()
	w.makeRevisions()
	w.makeNodes(o.Nodes)
	w.makePods()
	w.dress()
	s := daemonset.Snapshot{
		Objects: daemonset.Objects{DaemonSet: w.set, Nodes: w.nodes, Pods: w.pods, Revisions: w.revisions},
		Backoff: w.backoff(),
		Pending: w.pending(),
		Now:     w.now,
	}
	return Case{Snapshot: s, Options: daemonset.Options{
		Burst:     pick(&w.source, 0, 0, 0, 0, 1, 2, 3),
		Placement: placement.Options{ComparisonTolerations: w.oneIn(6)},
	}}
}

// epoch is when all of this happens, give or take some minutes.
func epoch() time.Time { return time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC) }

// mood is the kind of situation that a case is about.
type mood int

const (
	atRest    mood = iota // one current pod a node
	updating              // old and current pods, one a node
	surging               // old pods, current pods, and both on one node
	scalingUp             // nodes without pods
	anything
)

// newWorld reads what the case is about.
func newWorld(data []byte, o Options) *world {
	w := &world{source: source{data: data}, lenient: o.Lenient, rewritten: o.Rewritten}
	w.mood = pick(&w.source, atRest, updating, updating, surging, surging, scalingUp, anything)
	w.disorder = pick(&w.source, 0, 0, 3, 10, 30)
	w.starting = w.oneIn(2)
	w.now = epoch().Add(time.Duration(w.below(200)) * time.Second)
	if w.oneIn(8) {
		w.now = w.now.Add(time.Duration(w.below(256)) * time.Millisecond)
	}
	return w
}

// backoff gives some nodes an entry. Some run, some have run out at this very instant, some
// have decayed, and some are of another generation or another set. They come in no order.
func (w *world) backoff() backoff.Entries {
	var entries backoff.Entries
	seen := map[backoff.Key]bool{}
	for _, node := range w.nodes {
		if w.oneIn(2) {
			continue
		}
		key := backoff.Key{Owner: w.set.UID, Generation: w.set.Status.ObservedGeneration, Node: node.Name}
		if w.odd() {
			key.Generation--
		}
		if w.odd() {
			key.Owner = otherUID
		}
		delay := time.Second << w.below(10)
		if w.oneIn(8) {
			delay = backoff.DefaultMax
		}
		ago := pick(&w.source, 0, delay-1, delay, delay/2, 2*backoff.DefaultMax, 2*backoff.DefaultMax+1)
		if !seen[key] {
			seen[key] = true
			entries = append(entries, backoff.Entry{Key: key, Delay: delay, Since: w.now.Add(-ago)})
		}
	}
	if w.oneIn(2) {
		for i, j := 0, len(entries)-1; i < j; i, j = i+1, j-1 {
			entries[i], entries[j] = entries[j], entries[i]
		}
	}
	return entries
}

// pending is mostly nothing, sometimes unsettled, sometimes just expired.
func (w *world) pending() expectations.Pending {
	if !w.oneIn(6) {
		return expectations.Pending{}
	}
	p := expectations.Pending{Creates: w.below(3), Deadline: w.now.Add(time.Duration(w.below(300)+1) * time.Second)}
	if w.oneIn(2) {
		p.Deletes = []types.UID{"uid-pod-017", "uid-pod-630"}
	}
	switch w.below(5) {
	case 3:
		p.Deadline = w.now
	case 4:
		p.Deadline = time.Time{}
	}
	return p
}

// at is an API time, which has whole seconds.
func at(t time.Time) metav1.Time { return metav1.NewTime(t.Truncate(time.Second)) }

// dress gives the set a status that an earlier pass could have left, often the right one.
func (w *world) dress() {
	s := &w.set.Status
	if w.oneIn(2) {
		plan, err := daemonset.Compute(daemonset.Snapshot{
			Objects: daemonset.Objects{DaemonSet: w.set, Nodes: w.nodes, Pods: w.pods, Revisions: w.revisions},
			Now:     w.now,
		}, daemonset.Options{})
		if err == nil && plan.Status != nil {
			generation := s.ObservedGeneration
			w.set.Status = *plan.Status
			s.ObservedGeneration = generation
		}
		return
	}
	s.DesiredNumberScheduled = int32(w.below(13))
	s.CurrentNumberScheduled = int32(w.below(13))
	s.NumberReady = int32(w.below(13))
	s.NumberAvailable = int32(w.below(13))
	s.NumberMisscheduled = int32(w.below(4))
	if w.oneIn(4) {
		s.Conditions = append(s.Conditions, setCondition(w.now))
	}
}

// readySince is the Ready condition of a pod, true since t; a zero t is not written.
func readySince(t time.Time) corev1.PodCondition {
	c := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}
	if !t.IsZero() {
		c.LastTransitionTime = at(t)
	}
	return c
}
