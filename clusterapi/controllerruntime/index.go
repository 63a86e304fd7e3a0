package controllerruntime

import (
	"context"
	"fmt"

	"github.com/daemonplan/daemonplan/daemonset"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The indexes of pods. Neither holds the pods of other controllers, which are most of a
// cluster's.
const (
	ownerIndex  = "daemonplan/owner"  // UID of the DaemonSet that controls the pod
	orphanIndex = "daemonplan/orphan" // isOrphan for pods without a controller
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
	for index, value := range map[string]func(*corev1.Pod) (string, bool){ownerIndex: ownerOf, orphanIndex: orphanhood} {
		if err := addIndex(ctx, c, index, value); err != nil {
			return fmt.Errorf("controllerruntime: index pods by %s: %w", index, err)
		}
	}
	a.reader = &cacheReader{plainReader{c}, c}
	return nil
}

// addIndex adds to a single store an index that can be read without copying. To several, it
// adds one of the kind that their cache can bring together.
func addIndex(ctx context.Context, c cache.Cache, index string, value func(*corev1.Pod) (string, bool)) error {
	informer, err := c.GetInformer(ctx, &corev1.Pod{}, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	single, ok := informer.(singleStore)
	if !ok {
		return c.IndexField(ctx, &corev1.Pod{}, index, func(obj client.Object) []string {
			if value, ok := value(as[corev1.Pod](obj)); ok {
				return []string{value}
			}
			return nil
		})
	}
	if _, ok := single.GetIndexer().GetIndexers()[index]; ok {
		return nil // by another API on the same cache
	}
	return informer.AddIndexers(toolscache.Indexers{index: func(obj any) ([]string, error) {
		pod, ok := obj.(*corev1.Pod)
		if !ok {
			return nil, nil
		}
		if value, ok := value(pod); ok {
			return []string{inNamespace(pod.Namespace, value)}, nil
		}
		return nil, nil
	}})
}

// singleStore is an informer that shows its store. That of a cache for several namespaces
// has more than one, and does not.
type singleStore interface{ GetIndexer() toolscache.Indexer }

func inNamespace(namespace, value string) string { return namespace + "/" + value }

func ownerOf(pod *corev1.Pod) (string, bool) {
	owner, ok := daemonset.OwnerOf(pod)
	return string(owner.UID), ok
}

func orphanhood(pod *corev1.Pod) (string, bool) {
	return isOrphan, pod != nil && metav1.GetControllerOfNoCopy(pod) == nil
}
