// Package controllerruntime runs daemonplan in a manager of sigs.k8s.io/controller-runtime.
//
// SetupWithManager is all that most programs need. Its parts can be used alone: API is the
// clusterapi.ClusterAPI on a client.Client, Reconciler makes passes when a controller asks
// for them, Events tells a controller which sets a watch event concerns, and Diet keeps
// caches small.
package controllerruntime
