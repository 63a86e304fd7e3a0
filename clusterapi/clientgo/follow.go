package clientgo

import (
	"context"
	"slices"

	"github.com/daemonplan/daemonplan/clusterapi"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

var _ clusterapi.Follower = (*API)(nil)

// following is one DaemonSet that is followed in the caches.
type following struct {
	api   *API
	key   types.NamespacedName
	begun bool
	dirty dirty // guarded by the journal's lock
}

// Follow tells what changes in the caches about one DaemonSet. What it costs depends on the
// changes and not on the size of the caches, but for the first time.
func (a *API) Follow(key types.NamespacedName) clusterapi.Following {
	f := &following{api: a, key: key}
	j := a.informers.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.followers == nil {
		j.followers = map[types.NamespacedName][]*following{}
	}
	j.followers[key] = append(j.followers[key], f)
	return f
}

// Stop ends it.
func (f *following) Stop() {
	j := f.api.informers.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	rest := slices.DeleteFunc(j.followers[f.key], func(other *following) bool { return other == f })
	if len(rest) == 0 {
		delete(j.followers, f.key)
		return
	}
	j.followers[f.key] = rest
}

// take returns what has changed since it was asked last.
func (f *following) take() dirty {
	j := f.api.informers.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	j.settleNode()
	d := f.dirty
	f.dirty = dirty{}
	return d
}

// Changes returns what the caches show now and did not show when it was called last.
func (f *following) Changes(ctx context.Context) (clusterapi.Changes, error) {
	if !f.begun {
		return f.begin(ctx)
	}
	if err := ctx.Err(); err != nil {
		return clusterapi.Changes{}, err
	}
	i := f.api.informers
	// The versions come first, then the names: what is read after that is no older.
	changes := clusterapi.Changes{AsOf: i.reached()}
	d := f.take()
	var err error
	if changes.DaemonSet, err = i.set(f.key); err != nil {
		return clusterapi.Changes{}, err
	}
	if changes.DaemonSet == nil {
		return clusterapi.Changes{}, apierrors.NewNotFound(appsv1.Resource("daemonsets"), f.key.Name)
	}
	changes.Nodes, changes.GoneNodes = looked[*corev1.Node](i.nodes, d.nodes, func(name string) string { return name })
	changes.Revisions, changes.GoneRevisions = looked[*appsv1.ControllerRevision](i.revisions, d.revisions, types.NamespacedName.String)
	changes.Pods, changes.GonePods = looked[*corev1.Pod](i.pods, d.pods, types.NamespacedName.String)
	changes.Pods = slices.DeleteFunc(changes.Pods, func(pod *corev1.Pod) bool {
		owner := metav1.GetControllerOfNoCopy(pod)
		if owner == nil || owner.UID == changes.DaemonSet.UID {
			return false
		}
		changes.GonePods = append(changes.GonePods, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name})
		return true
	})
	return changes, nil
}

// begin tells everything.
func (f *following) begin(ctx context.Context) (clusterapi.Changes, error) {
	f.take() // is told now
	seen, err := f.api.Observe(ctx, f.key)
	if err != nil {
		return clusterapi.Changes{}, err
	}
	f.begun = true
	return clusterapi.Changes{
		DaemonSet: seen.Objects.DaemonSet,
		Nodes:     seen.Objects.Nodes,
		Pods:      seen.Objects.Pods,
		Revisions: seen.Objects.Revisions,
		AsOf:      seen.AsOf,
	}, nil
}

// looked lists the objects of these names that are there, and the names of the others.
func looked[T any, N comparable](informer cache.SharedIndexInformer, names map[N]struct{}, key func(N) string) (there []T, gone []N) {
	for name := range names {
		// An error is one of computing the key, which is given.
		if obj, exists, err := informer.GetIndexer().GetByKey(key(name)); err == nil && exists {
			if object, ok := obj.(T); ok {
				there = append(there, object)
				continue
			}
		}
		gone = append(gone, name)
	}
	return there, gone
}
