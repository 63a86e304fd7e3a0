// Package daemonset computes what to change so that a DaemonSet's pods match its spec.
//
// Compute is one pure function from a Snapshot of the cluster to a Plan. It follows the
// DaemonSet controller of Kubernetes v1.37.2, with the differences that the README lists.
// It reads no clock, keeps nothing between calls, and says for every node why something
// happens there or does not.
//
// A Planner makes the same plans for one set again and again. It is told what has changed and
// looks at that alone, so that a plan costs the same in a cluster of any size.
package daemonset
