package fake

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/clusterapi"
)

// Client is one process that talks to a cluster: its caches, its watches and what goes
// wrong with its calls. It implements clusterapi.ClusterAPI. Make one with
// Cluster.NewClient or Client.Restart, its zero value is of no use. It is safe for concurrent
// use.
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
	released       bool // the cluster no longer keeps what the caches have not seen
	faults         []*Fault
	chaos          Chaos
	asked          map[request]int // how often at askedAt
	askedAt        time.Time
	writes         int
	crashed        bool
	others         bool // Observe shows the pods of others
}

var _ clusterapi.ClusterAPI = (*Client)(nil)

// NewClient starts a process whose caches show the cluster as it is now. Close it when it
// is not used any more, even if it crashed: until then the cluster keeps what it has not
// seen.
func (c *Cluster) NewClient() *Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.newClient()
}

func (c *Cluster) newClient() *Client {
	cl := &Client{cluster: c, number: c.clientsCreated, asked: map[request]int{}}
	c.clientsCreated++
	cl.nodes = newCache(c.nodes, byNamespace[*corev1.Node], cl.tell)
	cl.sets = newCache(c.sets, byNamespace[*appsv1.DaemonSet], cl.tell)
	cl.revisions = newCache(c.revisions, byNamespace[*appsv1.ControllerRevision], cl.tell)
	cl.pods = newCache(c.pods, byController[*corev1.Pod], cl.tell)
	return cl
}

// Restart ends the process as Close does, if it is not dead already, and starts another one
// whose caches stand where those of cl stood and lag as they did: an informer that lists
// anew may get what a lagging API server still has. It starts without faults, chaos,
// watches and a count of writes. If cl was closed before, what it had not seen is no longer
// kept, and the new caches show the cluster as it is now.
func (cl *Client) Restart() *Client {
	c := cl.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	next := c.newClient()
	next.others = cl.others
	if !cl.released {
		next.nodes.follow(cl.nodes)
		next.sets.follow(cl.sets)
		next.revisions.follow(cl.revisions)
		next.pods.follow(cl.pods)
	}
	cl.release()
	return next
}

// Close ends the process: its caches see no more, and its calls fail with ErrCrashed.
// Closing again does nothing.
func (cl *Client) Close() {
	cl.cluster.mu.Lock()
	defer cl.cluster.mu.Unlock()
	cl.release()
}

// release lets the cluster forget what the client has not seen.
func (cl *Client) release() {
	cl.die()
	cl.released = true
	for _, cached := range cl.caches() {
		cached.close()
	}
}

// die stops the process. Its caches keep their place, for one that is started after it.
func (cl *Client) die() {
	cl.crashed = true
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
