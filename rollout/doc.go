// Package rollout spends an update budget on a set of nodes.
//
// It is the update step of a DaemonSet with the RollingUpdate strategy, on plain values:
// each node with its pods, and a [Budget]. [Decide] says which outdated pods to delete,
// where to add a current pod beside an outdated one, and which nodes have to wait, each
// with a [Reason]. The rules are those of Kubernetes v1.37.2, or of an older [Profile]; the one difference is that
// the choice among equals is fixed (by preference, then by name) rather than random.
//
// [Input.Judge] and [Input.Room] are the two halves of Decide, one node at a time and all
// nodes in numbers, for who keeps count of a fleet from one change to the next.
//
// Everything here is a pure function of its arguments: nothing is read from a clock, a
// cluster or a random source, and no argument is written.
package rollout
