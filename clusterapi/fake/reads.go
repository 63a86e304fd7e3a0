package fake

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/daemonset"
)

// Observe returns what the client's caches show, after they have taken in what their lag
// lets through. The objects are shared with the cluster: writing to one is a data race and
// changes it for everybody. The slices are the caller's, sorted by name, the pods that the
// set owns before the orphans.
func (cl *Client) Observe(ctx context.Context, key types.NamespacedName) (clusterapi.Observation, error) {
	return perform(ctx, cl, request{call: Observe, key: key}, func() (clusterapi.Observation, error) {
		cl.advance()
		set, ok := cl.sets.objects[key]
		if !ok {
			return clusterapi.Observation{}, cl.cluster.sets.notFound(key.Name)
		}
		owned := cl.pods.scopes.members[scope{namespace: key.Namespace, controller: set.UID}]
		orphans := cl.pods.scopes.members[scope{namespace: key.Namespace}]
		objects := daemonset.Objects{
			DaemonSet: set,
			Nodes:     cl.nodes.scopes.list(scope{}),
			Pods:      slices.Concat(owned, orphans),
			Revisions: cl.revisions.scopes.list(scope{namespace: key.Namespace}),
		}
		if cl.others {
			objects.Others = cl.pods.sorted(cl.pods.objects)
		}
		return clusterapi.Observation{Objects: objects, AsOf: cl.asOf()}, nil
	})
}

// ObserveOthers lets Observe show the pods of all namespaces too (Objects.Others, by namespace
// and name), from the same cache, for a Driver with Options.Fit or Options.Surge.
func (cl *Client) ObserveOthers() {
	cl.locked(func() { cl.others = true })
}

// Live returns the set as the API server has it.
func (cl *Client) Live(ctx context.Context, key types.NamespacedName) (*appsv1.DaemonSet, error) {
	return perform(ctx, cl, request{call: Live, key: key}, func() (*appsv1.DaemonSet, error) {
		return cl.cluster.sets.get(key)
	})
}

// Revision returns the revision as the API server has it.
func (cl *Client) Revision(ctx context.Context, key types.NamespacedName) (*appsv1.ControllerRevision, error) {
	return perform(ctx, cl, request{call: Revision, key: key}, func() (*appsv1.ControllerRevision, error) {
		return cl.cluster.revisions.get(key)
	})
}
