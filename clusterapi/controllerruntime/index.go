package controllerruntime

import (
	"context"
	"fmt"
	"strings"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/daemonset"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The indexes of pods. None holds the pods of other controllers, which are most of a
// cluster's.
const (
	ownerField  = "daemonplan/owner"  // UID of the DaemonSet that controls the pod
	orphanField = "daemonplan/orphan" // isOrphan for pods without a controller
)

const isOrphan = "true"

// ReadFrom lets Observe read from c, through indexes that it adds to it, so that an
// observation costs what the set has, and all nodes. It must be called before Observe, and
// before c starts. More than one API may read from a cache.
//
// c must hold all nodes, and all pods and revisions of the namespaces of the DaemonSets that
// it holds. Observe then says how far the caches have come, which protects a Driver from
// acting on what is older than its own writes. A cache of pods or revisions that is made of
// several (cache.Options with namespaces) cannot tell: there, expectations alone protect.
func (a *API) ReadFrom(ctx context.Context, c cache.Cache) error {
	for field, extract := range map[string]client.IndexerFunc{
		ownerField: byOwner, orphanField: byOrphanhood,
	} {
		if err := addIndex(ctx, c, field, extract); err != nil {
			return fmt.Errorf("controllerruntime: index pods by %s: %w", field, err)
		}
	}
	a.reader = &cacheReader{Cache: c}
	return nil
}

func addIndex(ctx context.Context, c cache.Cache, field string, extract client.IndexerFunc) error {
	informer, err := c.GetInformer(ctx, &corev1.Pod{}, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	if indexed, ok := informer.(indexed); ok {
		for name := range indexed.GetIndexer().GetIndexers() {
			if strings.HasSuffix(name, field) {
				return nil // by another API on the same cache
			}
		}
	}
	return c.IndexField(ctx, &corev1.Pod{}, field, extract)
}

func byOwner(obj client.Object) []string {
	owner, ok := daemonset.OwnerOf(as[corev1.Pod](obj))
	if !ok {
		return nil
	}
	return []string{string(owner.UID)}
}

func byOrphanhood(obj client.Object) []string {
	if obj == nil || metav1.GetControllerOfNoCopy(obj) != nil {
		return nil
	}
	return []string{isOrphan}
}

// indexed is an informer that shows its store.
type indexed interface{ GetIndexer() toolscache.Indexer }

// cacheReader reads from an indexed cache.
type cacheReader struct{ cache.Cache }

func (r *cacheReader) versions(ctx context.Context) (v clusterapi.Versions, err error) {
	if v.Pods, err = r.version(ctx, &corev1.Pod{}); err != nil {
		return clusterapi.Versions{}, err
	}
	if v.Revisions, err = r.version(ctx, &appsv1.ControllerRevision{}); err != nil {
		return clusterapi.Versions{}, err
	}
	return v, nil
}

// version is the one up to which the store of a kind has been filled. The store notes it with
// each change that it takes in, so it is never ahead of what a list shows. The informer is
// asked for anew each time, because it may have been replaced.
func (r *cacheReader) version(ctx context.Context, kind client.Object) (string, error) {
	informer, err := r.GetInformer(ctx, kind)
	if err != nil {
		return "", err
	}
	if indexed, ok := informer.(indexed); ok {
		return indexed.GetIndexer().LastStoreSyncResourceVersion(), nil
	}
	return "", nil
}

// pods takes several looks. A pod that is adopted or released between them would be missed
// by one look at the orphans and one at what is owned, in whatever order; of two looks at the
// orphans, one before and one after, none misses it. A pod that was seen twice counts as it
// was seen last.
func (r *cacheReader) pods(ctx context.Context, set *appsv1.DaemonSet) (podLook, error) {
	orphans := client.MatchingFields{orphanField: isOrphan}
	owned := client.MatchingFields{ownerField: string(set.UID)}
	looks := [3]corev1.PodList{}
	for i, fields := range []client.MatchingFields{orphans, owned, orphans} {
		if err := r.List(ctx, &looks[i], client.InNamespace(set.Namespace), fields, unshared); err != nil {
			return podLook{}, err
		}
	}
	if len(looks[0].Items)+len(looks[2].Items) == 0 {
		return podLook{pods: pointers(looks[1].Items)}, nil
	}
	return podLook{pods: newest(looks[2].Items, looks[1].Items, looks[0].Items)}, nil
}

// newest joins lists, the latest first, with each pod once.
func newest(looks ...[]corev1.Pod) []*corev1.Pod {
	var pods []*corev1.Pod
	seen := map[types.NamespacedName]struct{}{}
	for _, items := range looks {
		for i := range items {
			key := client.ObjectKeyFromObject(&items[i])
			if _, twice := seen[key]; !twice {
				seen[key] = struct{}{}
				pods = append(pods, &items[i])
			}
		}
	}
	return pods
}
