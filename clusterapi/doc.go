// Package clusterapi carries plans out against an API server that the caller supplies.
//
// A Feed turns watch events into what they ask for; a Runner queues the DaemonSets that are
// woken and has passes made; a Driver makes one pass. To write an adapter, implement
// ClusterAPI, run fake.TestClusterAPI on it, and feed it the events of all four kinds.
//
// A Driver makes one pass for one DaemonSet: it observes through a ClusterAPI, plans with
// package daemonset, and applies the plan in the plan's order. It judges nothing itself.
// (The project named Cluster API is unrelated.)
package clusterapi
