package fake

import (
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Cluster is a cluster in memory. Make one with New, its zero value is of no use. It is safe
// for concurrent use.
type Cluster struct {
	chance chance

	mu      sync.Mutex
	now     time.Time
	ticked  chan struct{} // closed when now moves
	version uint64
	named   map[nameRequest]int

	nodes     *store[*corev1.Node]
	pods      *store[*corev1.Pod]
	sets      *store[*appsv1.DaemonSet]
	revisions *store[*appsv1.ControllerRevision]

	podsOn         groups[string, *corev1.Pod]    // by the node they are bound or pinned to
	podsOf         groups[types.UID, *corev1.Pod] // by owner
	revisionsOf    groups[types.UID, *appsv1.ControllerRevision]
	agenda         agenda
	life           life
	namespaces     map[string]namespace
	recorded       []publication
	clientsCreated int
}

// New returns an empty cluster, at noon of 1 January 2026, with DefaultTiming. Two clusters
// of one seed to which the same is done hold the same.
func New(seed uint64) *Cluster {
	c := &Cluster{
		chance:      chance{seed: seed},
		now:         time.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC),
		ticked:      make(chan struct{}),
		version:     1, // "0" is no version that could be compared
		named:       map[nameRequest]int{},
		podsOn:      newGroups(placeOf),
		podsOf:      newGroups(ownersOf[*corev1.Pod]),
		revisionsOf: newGroups(ownersOf[*appsv1.ControllerRevision]),
		agenda:      newAgenda(),
		life:        newLife(),
		namespaces:  map[string]namespace{},
	}
	c.nodes = newStore(c, nodeRules(), c.nodeChanged)
	c.pods = newStore(c, podRules(), c.podChanged)
	c.sets = newStore(c, setRules(), c.setChanged)
	c.revisions = newStore(c, revisionRules(), c.revisionChanged)
	return c
}

// Now returns the time of the cluster's clock, in UTC.
func (c *Cluster) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock on by d and lets nothing happen: what is due happens at the next
// Step. Zero or less does nothing. See Run for time that passes with all that happens in it.
func (c *Cluster) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advanceTo(c.now.Add(d))
}

func (c *Cluster) advanceTo(t time.Time) {
	if !t.After(c.now) {
		return
	}
	c.now = t
	close(c.ticked)
	c.ticked = make(chan struct{})
}

// Version returns the resource version of the latest write of any kind; "1" before the
// first.
func (c *Cluster) Version() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return formatVersion(c.version)
}

func (c *Cluster) nextVersion() uint64 {
	c.version++
	return c.version
}

// stamp is now as an object holds it: in whole seconds.
func (c *Cluster) stamp() metav1.Time { return metav1.NewTime(c.now.Truncate(time.Second)) }
