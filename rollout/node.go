package rollout

import "k8s.io/apimachinery/pkg/types"

// Pod is all that rollout arithmetic needs of a pod.
type Pod struct {
	Name string
	UID  types.UID
	// Current says that the pod carries the target revision; false is an outdated pod.
	Current bool
	Health  Health
}

// available reports whether there is a pod and it is available.
func (p *Pod) available() bool { return p != nil && p.Health == Available }

// Node is one node with its pods of the set.
type Node struct {
	Name string
	// Eligible says that a new pod may be placed here. Only an update with surge asks.
	Eligible bool
	// Room says what there is room for. Only an update with surge asks.
	Room Room
	// Pods are the pods that are not terminating, in any order. Failed and succeeded pods
	// belong here as long as they are not terminating: Kubernetes v1.37.2 counts them as
	// unavailable pods of their revision. Empty, or nil, is a node that waits for its first
	// pod or has only terminating ones.
	Pods []Pod
}

// Room says which pods of the set can run on a node at the same time. The zero value is the
// assumption of Kubernetes v1.37.2, which never asks.
type Room uint8

// The rooms.
const (
	RoomForBoth Room = iota // a current pod can start beside the outdated one
	RoomForOne              // it can start once the outdated one has gone
	RoomForNone             // it could not start even then
)

// pair is the pods of a node when there is at most one of each revision.
type pair struct {
	current, outdated *Pod
	excess            bool // there are more, and it is open which of them is meant
}

func pairUp(pods []Pod) pair {
	var p pair
	for i := range pods {
		place := &p.outdated
		if pods[i].Current {
			place = &p.current
		}
		if *place != nil {
			return pair{excess: true}
		}
		*place = &pods[i]
	}
	return p
}
