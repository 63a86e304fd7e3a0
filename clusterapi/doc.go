// Package clusterapi carries plans out against an API server that the caller supplies.
//
// A Driver makes one pass for one DaemonSet: it observes through a ClusterAPI, plans with
// package daemonset, and applies the plan in the plan's order. It judges nothing itself.
// (The project named Cluster API is unrelated.)
package clusterapi
