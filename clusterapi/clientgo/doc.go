// Package clientgo runs daemonplan on a cluster through k8s.io/client-go.
//
// [New] makes a [Controller], which is all that most programs need: shared informers, a
// work queue, the Driver of package clusterapi, leader election, metrics and health. Its
// parts can be used alone: [API] is the ClusterAPI on a clientset and [Informers], and
// [Informers.Handle] turns watch events into wakes for any queue.
package clientgo
