package daemonset_test

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemonplan/daemonplan/internal/gen"
)

// pods says what is on node i of a fleet.
type pods func(i int) (hash string, there bool)

// Hashes in a fleet.
const (
	oldHash = "old"
	newHash = "" // stands for the current one
)

func currentPods(int) (string, bool) { return newHash, true }
func oldPods(int) (string, bool)     { return oldHash, true }
func halfUpdated(i int) (string, bool) {
	if i%2 == 0 {
		return oldHash, true
	}
	return newHash, true
}
func everySecond(i int) (string, bool) { return newHash, i%2 == 0 }

func rolling(unavailable, surge intstr.IntOrString) appsv1.DaemonSetUpdateStrategy {
	return appsv1.DaemonSetUpdateStrategy{
		Type:          appsv1.RollingUpdateDaemonSetStrategyType,
		RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &unavailable, MaxSurge: &surge},
	}
}

// fleetCase is a set on many nodes, made from the plainest case. Every object has its own
// memory, as in a cache.
func fleetCase(nodes int, strategy appsv1.DaemonSetUpdateStrategy, on pods) gen.Case {
	c := plainCase()
	objects := &c.Snapshot.Objects
	objects.DaemonSet.Spec.UpdateStrategy = strategy
	node, pod := objects.Nodes[0], objects.Pods[0]
	objects.Nodes = make([]*corev1.Node, 0, nodes)
	objects.Pods = make([]*corev1.Pod, 0, nodes)
	for i := range nodes {
		n := node.DeepCopy()
		n.Name = fmt.Sprintf("node-%02d", i)
		if nodes > 100 {
			n.Name = fmt.Sprintf("node-%05d", i)
		}
		n.UID = types.UID("uid-" + n.Name)
		n.Labels[corev1.LabelHostname] = n.Name
		objects.Nodes = append(objects.Nodes, n)
		hash, there := on(i)
		if !there {
			continue
		}
		p := pod.DeepCopy()
		p.Name = fmt.Sprintf("agent-%05d", i)
		p.UID = types.UID("uid-" + p.Name)
		p.Spec.NodeName = n.Name
		if hash != newHash {
			p.Labels[appsv1.ControllerRevisionHashLabelKey] = hash
		}
		objects.Pods = append(objects.Pods, p)
	}
	return c
}
