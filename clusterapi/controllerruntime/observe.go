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
	set(ctx context.Context, key types.NamespacedName) (*appsv1.DaemonSet, error)
	nodes(ctx context.Context) ([]*corev1.Node, error)
	// pods returns the pods of a set and the orphans of its namespace.
	pods(ctx context.Context, set *appsv1.DaemonSet) (look[corev1.Pod], error)
	revisions(ctx context.Context, namespace string) (look[appsv1.ControllerRevision], error)
	// others returns the pods of all namespaces.
	others(ctx context.Context) ([]*corev1.Pod, error)
}

// look is what a reader saw of a kind: all writes up to a version, which is empty if nobody
// can tell. It may show later ones, too.
type look[T any] struct {
	objects []*T
	version string
}

func observe(ctx context.Context, r reader, key types.NamespacedName) (clusterapi.Observation, error) {
	if ctx.Err() != nil {
		return clusterapi.Observation{}, context.Cause(ctx) // a cache would answer all the same
	}
	set, err := r.set(ctx, key)
	if err != nil {
		return clusterapi.Observation{}, err
	}
	nodes, err := r.nodes(ctx)
	if err != nil {
		return clusterapi.Observation{}, err
	}
	pods, err := r.pods(ctx, set)
	if err != nil {
		return clusterapi.Observation{}, err
	}
	revisions, err := r.revisions(ctx, key.Namespace)
	if err != nil {
		return clusterapi.Observation{}, err
	}
	return clusterapi.Observation{
		Objects: daemonset.Objects{DaemonSet: set, Nodes: nodes, Pods: pods.objects, Revisions: revisions.objects},
		AsOf: clusterapi.Versions{
			// Our writes to the kind DaemonSet are to this very set, so its own version tells
			// whether they are in.
			DaemonSets: set.ResourceVersion,
			Pods:       pods.version,
			Revisions:  revisions.version,
		},
	}, nil
}

// unshared spares copying what is only read.
const unshared = client.UnsafeDisableDeepCopy

// plainReader reads through any client. A client without a cache says of each list how old
// it is; one with a cache leaves that empty.
type plainReader struct{ client.Reader }

func (r plainReader) set(ctx context.Context, key types.NamespacedName) (*appsv1.DaemonSet, error) {
	set := &appsv1.DaemonSet{}
	if err := r.Get(ctx, key, set, unshared); err != nil {
		return nil, err
	}
	return set, nil
}

func (r plainReader) nodes(ctx context.Context) ([]*corev1.Node, error) {
	list := &corev1.NodeList{}
	if err := r.List(ctx, list, unshared); err != nil {
		return nil, err
	}
	return pointers(list.Items), nil
}

// pods lists the whole namespace at once, so no pod can slip through while it changes hands.
func (r plainReader) pods(ctx context.Context, set *appsv1.DaemonSet) (look[corev1.Pod], error) {
	list := &corev1.PodList{}
	if err := r.List(ctx, list, client.InNamespace(set.Namespace), unshared); err != nil {
		return look[corev1.Pod]{}, err
	}
	return look[corev1.Pod]{objects: pointers(list.Items), version: list.ResourceVersion}, nil
}

func (r plainReader) others(ctx context.Context) ([]*corev1.Pod, error) {
	list := &corev1.PodList{}
	if err := r.List(ctx, list, unshared); err != nil {
		return nil, err
	}
	return pointers(list.Items), nil
}

func (r plainReader) revisions(ctx context.Context, namespace string) (look[appsv1.ControllerRevision], error) {
	list := &appsv1.ControllerRevisionList{}
	if err := r.List(ctx, list, client.InNamespace(namespace), unshared); err != nil {
		return look[appsv1.ControllerRevision]{}, err
	}
	return look[appsv1.ControllerRevision]{objects: pointers(list.Items), version: list.ResourceVersion}, nil
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
