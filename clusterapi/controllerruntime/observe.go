package controllerruntime

import (
	"context"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/daemonset"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// reader is where an observation comes from.
type reader interface {
	client.Reader
	// versions says how far the caches have come, as far as they can tell; without a cache
	// nothing.
	versions(ctx context.Context) (clusterapi.Versions, error)
	// pods returns the pods of a set and the orphans of its namespace.
	pods(ctx context.Context, set *appsv1.DaemonSet) (podLook, error)
}

// podLook is what a reader saw of pods.
type podLook struct {
	pods    []*corev1.Pod
	version string // as of which, if the list itself says so
}

// unshared spares copying what is only read.
const unshared = client.UnsafeDisableDeepCopy

// observe asks for the versions first: caches may be further by the time they are read, and
// then the versions claim too little, which is safe.
func observe(ctx context.Context, r reader, key types.NamespacedName) (clusterapi.Observation, error) {
	if ctx.Err() != nil {
		return clusterapi.Observation{}, context.Cause(ctx) // a cache would answer all the same
	}
	asOf, err := r.versions(ctx)
	if err != nil {
		return clusterapi.Observation{}, err
	}
	set := &appsv1.DaemonSet{}
	if err := r.Get(ctx, key, set, unshared); err != nil {
		return clusterapi.Observation{}, err
	}
	nodes := &corev1.NodeList{}
	if err := r.List(ctx, nodes, unshared); err != nil {
		return clusterapi.Observation{}, err
	}
	look, err := r.pods(ctx, set)
	if err != nil {
		return clusterapi.Observation{}, err
	}
	revisions := &appsv1.ControllerRevisionList{}
	if err := r.List(ctx, revisions, client.InNamespace(key.Namespace), unshared); err != nil {
		return clusterapi.Observation{}, err
	}
	// Our writes to the kind DaemonSet are to this very set, so its own version tells whether
	// they are in.
	asOf.DaemonSets = set.ResourceVersion
	if look.version != "" {
		asOf.Pods = look.version
	}
	if revisions.ResourceVersion != "" {
		asOf.Revisions = revisions.ResourceVersion
	}
	return clusterapi.Observation{
		Objects: daemonset.Objects{
			DaemonSet: set,
			Nodes:     pointers(nodes.Items),
			Pods:      look.pods,
			Revisions: pointers(revisions.Items),
		},
		AsOf: asOf,
	}, nil
}

func pointers[T any](items []T) []*T {
	if len(items) == 0 {
		return nil
	}
	list := make([]*T, len(items))
	for i := range items {
		list[i] = &items[i]
	}
	return list
}

// plainReader reads through any client. A client without a cache says of each list how old
// it is; one with a cache leaves that empty, and nothing is concluded from it.
type plainReader struct{ client.Reader }

func (plainReader) versions(context.Context) (clusterapi.Versions, error) {
	return clusterapi.Versions{}, nil
}

// pods lists the whole namespace at once, so no pod can slip through while it changes hands.
func (r plainReader) pods(ctx context.Context, set *appsv1.DaemonSet) (podLook, error) {
	list := &corev1.PodList{}
	if err := r.List(ctx, list, client.InNamespace(set.Namespace), unshared); err != nil {
		return podLook{}, err
	}
	return podLook{pods: pointers(list.Items), version: list.ResourceVersion}, nil
}
