package clientgo

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
)

// The names of the pod indexes.
const (
	claimIndex = "daemonplan.dev/claim"
	nodeIndex  = "daemonplan.dev/node"
)

// podIndexers make a pass cost what the set has. Pods that can never be a DaemonSet's
// business, which in most clusters are nearly all, are in no index.
func podIndexers() cache.Indexers {
	return cache.Indexers{claimIndex: claims, nodeIndex: targets}
}

// claims tells who may claim a pod: the DaemonSet that its controller reference names, or,
// without one, any DaemonSet of its namespace. For a DaemonSet it tells what that one may
// claim, so that Index(claimIndex, set) finds both kinds at one instant: between two
// look-ups a pod that changes hands could be missed, or be seen twice.
func claims(obj any) ([]string, error) {
	switch o := obj.(type) {
	case *appsv1.DaemonSet:
		return []string{ownedBy(o.UID), orphanIn(o.Namespace)}, nil
	case *corev1.Pod:
		if owner, ok := daemonset.OwnerOf(o); ok {
			return []string{ownedBy(owner.UID)}, nil
		}
		if metav1.GetControllerOfNoCopy(o) == nil {
			return []string{orphanIn(o.Namespace)}, nil
		}
		return nil, nil
	}
	return nil, fmt.Errorf("clientgo: no claims of a %T", obj)
}

func ownedBy(owner types.UID) string    { return "owner/" + string(owner) }
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
	node, ok := placement.TargetNode(pod)
	if !ok {
		return nil, nil
	}
	return []string{node}, nil
}
