package clientgo

import (
	"fmt"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// The names of the pod indexes.
const (
	claimIndex = "daemonplan.dev/claim"
	nodeIndex  = "daemonplan.dev/node"
	roomIndex  = "daemonplan.dev/room"
)

// podIndexers make a pass cost what the set has. Pods that can never be a DaemonSet's
// business, which in most clusters are nearly all, are in no index.
func podIndexers() cache.Indexers {
	return cache.Indexers{claimIndex: claims, nodeIndex: targets}
}

// onChange has changes called with the object before a change of the cache and with that after
// it, as far as there are such, before anybody can see the change: so does a cache with the
// function of an index, and this one holds nothing. Only of objects that a new list leaves out
// it is not called. whose tells the callers apart that share a factory.
func onChange[T any](informer cache.SharedIndexInformer, whose any, changes func(T)) error {
	return informer.AddIndexers(cache.Indexers{fmt.Sprintf("daemonplan.dev/changes-%p", whose): func(obj any) ([]string, error) {
		if object, ok := obj.(T); ok {
			changes(object)
		}
		return nil, nil
	}})
}

// claims tells who may claim a pod: the DaemonSet that its controller reference names, or,
// without one, any DaemonSet of its namespace.
func claims(obj any) ([]string, error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return nil, fmt.Errorf("clientgo: no claims of a %T", obj)
	}
	if owner, ours := daemonset.OwnerOf(pod); ours {
		return []string{ownedBy(owner.UID)}, nil
	}
	if metav1.GetControllerOfNoCopy(pod) == nil {
		return []string{orphanIn(pod.Namespace)}, nil
	}
	return nil, nil
}

func ownedBy(owner types.UID) string   { return "owner/" + string(owner) }
func orphanIn(namespace string) string { return "orphan/" + namespace }

// targets tells on which node a DaemonSet's pod is, or is going to be.
func targets(obj any) ([]string, error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return nil, fmt.Errorf("clientgo: no node of a %T", obj)
	}
	if _, ours := daemonset.OwnerOf(pod); !ours {
		return nil, nil
	}
	return rooms(pod)
}

// rooms tells on which node any pod takes room.
func rooms(obj any) ([]string, error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return nil, fmt.Errorf("clientgo: no room of a %T", obj)
	}
	node, ok := placement.TargetNode(pod)
	if !ok {
		return nil, nil
	}
	return []string{node}, nil
}
