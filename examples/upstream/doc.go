// Package upstream runs the DaemonSet controller of Kubernetes v1.37.2 in the process,
// one sync at a time and without a server, to compare daemonplan with it.
//
// [Filters] are those of the stock scheduler, to compare package placement with.
//
// The controller is the stock one: its informers are filled and never started, its client
// is a fake that records what it is asked to write, and its sync is called directly.
package upstream
