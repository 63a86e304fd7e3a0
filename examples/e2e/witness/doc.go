// Package witness watches a cluster from outside and says what a DaemonSet controller did
// wrong. It knows nothing of the controller: a Recorder keeps every change of DaemonSets,
// pods and nodes that etcd stores, and Check replays them in the order in which
// they were stored.
//
// It has its own reading of what a set may do, which is narrower than the planner's: it
// knows node selectors and taints, but no affinity. A test of affinity needs an eye of its
// own.
package witness
