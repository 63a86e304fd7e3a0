package controllerruntime

import (
	"context"
	"fmt"

	"github.com/daemonplan/daemonplan/clusterapi"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// cacheReader reads from a cache that ReadFrom has indexed. It goes to the stores themselves,
// because a list through the cache copies each object, if not what that points to.
type cacheReader struct {
	plainReader

	cache cache.Cache
}

// store returns the store of a kind once it is filled, nil if there are several.
func (r *cacheReader) store(ctx context.Context, kind client.Object) (toolscache.Indexer, error) {
	informer, err := r.cache.GetInformer(ctx, kind)
	if err != nil {
		return nil, err
	}
	if single, ok := informer.(singleStore); ok {
		return single.GetIndexer(), nil
	}
	return nil, nil //nolint:nilnil // no store is an answer
}

func (r *cacheReader) nodes(ctx context.Context) ([]*corev1.Node, error) {
	store, err := r.store(ctx, &corev1.Node{})
	if err != nil {
		return nil, err
	}
	if store == nil {
		return r.plainReader.nodes(ctx)
	}
	return typed[corev1.Node](store.List()), nil
}

// others refuses several stores: they hold the pods of the namespaces that they are for.
func (r *cacheReader) others(ctx context.Context) ([]*corev1.Pod, error) {
	store, err := r.store(ctx, &corev1.Pod{})
	if err != nil {
		return nil, err
	}
	if store == nil {
		return nil, fmt.Errorf("controllerruntime: %w: Options.Fit and Options.Surge need a cache of the pods of all namespaces", clusterapi.ErrAdapter)
	}
	return typed[corev1.Pod](store.List()), nil
}

func (r *cacheReader) revisions(ctx context.Context, namespace string) (look[appsv1.ControllerRevision], error) {
	store, err := r.store(ctx, &appsv1.ControllerRevision{})
	if err != nil {
		return look[appsv1.ControllerRevision]{}, err
	}
	if store == nil {
		return r.plainReader.revisions(ctx, namespace)
	}
	version := store.LastStoreSyncResourceVersion() // first: a store is further with each look
	objects, err := store.ByIndex(toolscache.NamespaceIndex, namespace)
	return look[appsv1.ControllerRevision]{objects: typed[appsv1.ControllerRevision](objects), version: version}, err
}

// pods takes several looks. A pod that is adopted or released between them would be missed
// by one look at the orphans and one at what is owned, in whatever order; of two looks at the
// orphans, one before and one after, none misses it. A pod that was seen twice counts as it
// was seen last.
func (r *cacheReader) pods(ctx context.Context, set *appsv1.DaemonSet) (look[corev1.Pod], error) {
	store, err := r.store(ctx, &corev1.Pod{})
	if err != nil {
		return look[corev1.Pod]{}, err
	}
	version := ""
	find := r.list
	if store != nil {
		version = store.LastStoreSyncResourceVersion() // first, as above
		find = func(_ context.Context, w wanted) ([]*corev1.Pod, error) {
			objects, err := store.ByIndex(w.index, inNamespace(w.namespace, w.value))
			return typed[corev1.Pod](objects), err
		}
	}
	orphans, owned := wanted{orphanIndex, isOrphan, set.Namespace}, wanted{ownerIndex, string(set.UID), set.Namespace}
	var looks [3][]*corev1.Pod
	for i, w := range []wanted{orphans, owned, orphans} {
		if looks[i], err = find(ctx, w); err != nil {
			return look[corev1.Pod]{}, err
		}
	}
	if len(looks[0])+len(looks[2]) == 0 {
		return look[corev1.Pod]{objects: looks[1], version: version}, nil
	}
	return look[corev1.Pod]{objects: newest(looks[2], looks[1], looks[0]), version: version}, nil
}

// wanted is a value in an index of pods.
type wanted struct{ index, value, namespace string }

// list finds pods in several stores.
func (r *cacheReader) list(ctx context.Context, w wanted) ([]*corev1.Pod, error) {
	list := &corev1.PodList{}
	if err := r.List(ctx, list, client.InNamespace(w.namespace), client.MatchingFields{w.index: w.value}, unshared); err != nil {
		return nil, err
	}
	return pointers(list.Items), nil
}

func typed[T any](objects []any) []*T {
	list := make([]*T, 0, len(objects))
	for _, obj := range objects {
		if obj, ok := obj.(*T); ok {
			list = append(list, obj)
		}
	}
	return list
}

// newest joins looks, the latest first, with each pod once.
func newest(looks ...[]*corev1.Pod) []*corev1.Pod {
	var pods []*corev1.Pod
	seen := map[types.NamespacedName]struct{}{}
	for _, found := range looks {
		for _, pod := range found {
			key := client.ObjectKeyFromObject(pod)
			if _, twice := seen[key]; !twice {
				seen[key] = struct{}{}
				pods = append(pods, pod)
			}
		}
	}
	return pods
}
