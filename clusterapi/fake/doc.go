// Package fake is a Kubernetes cluster in memory, for the tests of controllers.
//
// A Cluster holds nodes, pods, DaemonSets and ControllerRevisions behind an API server. Its
// scheduler, kubelets, garbage collector and node lifecycle act only when Step or Run is
// called, on a clock that moves only when Advance or Run is called. A Client is one process
// that talks to it: it implements clusterapi.ClusterAPI, its caches may lag, its calls may
// fail before or after they took effect, and it may be killed at any of them. A Watch hands
// out what an informer's handler would have seen, if need be late, twice or not at all.
//
// The server is as strict as that of Kubernetes v1.37.2, with its default feature gates,
// about metadata, UIDs and resource versions, DaemonSets and their status,
// ControllerRevisions and taints. Of pod specs and templates it checks names and images of
// containers, node selectors, tolerations, grace periods and deadlines, and nothing else:
// not affinity, volumes, ports, probes, resources or security. It is stricter where a pod
// waits for scheduling gates: these cannot be taken away.
//
// Everything that a real cluster leaves to chance follows from the seed and from what is
// decided about, not from the order of calls: the n-th pod made for a node by one
// generateName has the same name however many goroutines made pods at once.
//
// What there is not: namespaces exist as soon as they are named, there are no resources
// that could run out on a node, no preemption, and of admission only namespaces being
// deleted and a limit on pods. Timestamps of objects have whole seconds, as on the wire.
//
// TestClusterAPI is the contract that every implementation of clusterapi.ClusterAPI has to
// meet; the Client here does.
package fake
