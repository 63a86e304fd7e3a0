package fake

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/clusterapi"
)

// Client is one process that talks to a cluster: its caches, its watches and what goes
// wrong with its calls. It implements clusterapi.ClusterAPI. Make one with
// Cluster.NewClient; it is safe for concurrent use.
type Client struct {
	cluster *Cluster
	number  int

	// The cluster's lock guards everything below.
	nodes          *cache[*corev1.Node]
	sets           *cache[*appsv1.DaemonSet]
	revisions      *cache[*appsv1.ControllerRevision]
	pods           *cache[*corev1.Pod]
	watches        []*Watch
	watchesCreated int
	told           []Event
	closed         bool
	faults         []*Fault
	chaos          Chaos
	asked          map[request]int // how often at askedAt
	askedAt        time.Time
	writes         int
	crashed        bool
}

var _ clusterapi.ClusterAPI = (*Client)(nil)

// NewClient starts a process whose caches show the cluster as it is now. Close it when it
// is not used any more: until then the cluster keeps what it has not seen.
func (c *Cluster) NewClient() *Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	cl := &Client{cluster: c, number: c.clientsCreated, asked: map[request]int{}}
	c.clientsCreated++
	cl.nodes = newCache(c.nodes, byNamespace[*corev1.Node], cl.tell)
	cl.sets = newCache(c.sets, byNamespace[*appsv1.DaemonSet], cl.tell)
	cl.revisions = newCache(c.revisions, byNamespace[*appsv1.ControllerRevision], cl.tell)
	cl.pods = newCache(c.pods, byController[*corev1.Pod], cl.tell)
	return cl
}

// Close ends the process: its caches see no more, and its calls fail with ErrCrashed.
// Closing again does nothing.
func (cl *Client) Close() {
	cl.locked(cl.die)
}

func (cl *Client) die() {
	cl.closed, cl.crashed = true, true
	for _, cached := range cl.caches() {
		cached.close()
	}
	cl.watches = nil
}

// caches are in the order in which a controller wants to hear of their kinds.
func (cl *Client) caches() []follower { return []follower{cl.nodes, cl.sets, cl.revisions, cl.pods} }

// advance shows the client what the lag of its caches lets through.
func (cl *Client) advance() {
	for _, cached := range cl.caches() {
		cached.advance()
	}
	cl.publish()
}
