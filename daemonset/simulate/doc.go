// Package simulate runs a DaemonSet's plans to their end on a virtual clock: how long a
// change takes, how bad it gets on the way, what it writes, and whether it ends at all.
//
// [Run] is a pure function of a snapshot, a model of the kubelets and a seed. It reads no
// clock, does no I/O and starts nothing. What decides is [daemonset.Compute], pass after
// pass; what is simulated is only what a cluster does with a plan.
package simulate
