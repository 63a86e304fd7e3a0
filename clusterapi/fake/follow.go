package fake

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
)

var _ clusterapi.Follower = (*Client)(nil)

// following is a watch of which only what Observe shows of one set is told.
type following struct {
	client *Client
	key    types.NamespacedName
	watch  *Watch
}

// Follow tells what changes in the client's caches about one DaemonSet. Faults of Observe
// concern its Changes too.
func (cl *Client) Follow(key types.NamespacedName) clusterapi.Following {
	return &following{client: cl, key: key, watch: cl.Watch()}
}

// Stop ends it.
func (f *following) Stop() { f.watch.Stop() }

// Changes returns what the caches have taken in since the last call, after they have taken in
// what their lag lets through.
func (f *following) Changes(ctx context.Context) (clusterapi.Changes, error) {
	cl := f.client
	return perform(ctx, cl, request{call: Observe, key: f.key}, func() (clusterapi.Changes, error) {
		cl.advance()
		set, ok := cl.sets.objects[f.key]
		if !ok {
			return clusterapi.Changes{}, cl.cluster.sets.notFound(f.key.Name)
		}
		changes := clusterapi.Changes{DaemonSet: set, AsOf: cl.asOf()}
		told := map[subject]bool{}
		for _, event := range f.watch.pending {
			if s := event.subject(); !told[s] {
				told[s] = true
				cl.change(&changes, s)
			}
		}
		f.watch.pending = nil
		return changes, nil
	})
}

// change adds what the caches have of one object now.
func (cl *Client) change(changes *clusterapi.Changes, s subject) {
	pod := cl.pods.objects[s.key]
	switch {
	case s.kind == NodeKind:
		changed(cl.nodes.objects[s.key], s.key.Name, &changes.Nodes, &changes.GoneNodes)
	case s.key.Namespace != changes.DaemonSet.Namespace:
	case s.kind == RevisionKind:
		changed(cl.revisions.objects[s.key], s.key, &changes.Revisions, &changes.GoneRevisions)
	case s.kind == PodKind && pod != nil && !shown(pod, changes.DaemonSet):
		changes.GonePods = append(changes.GonePods, s.key)
	case s.kind == PodKind:
		changed(pod, s.key, &changes.Pods, &changes.GonePods)
	}
}

// changed adds an object to those that are there, or without one its name to those that are
// gone.
func changed[T Object, N any](obj T, name N, there *[]T, gone *[]N) {
	if obj != nil {
		*there = append(*there, obj)
	} else {
		*gone = append(*gone, name)
	}
}

// shown reports whether Observe shows a pod of the set's namespace: one of the set's, or an
// orphan.
func shown(pod *corev1.Pod, set *appsv1.DaemonSet) bool {
	owner := metav1.GetControllerOfNoCopy(pod)
	return owner == nil || owner.UID == set.UID
}

func (cl *Client) asOf() clusterapi.Versions {
	return clusterapi.Versions{
		DaemonSets: formatVersion(cl.sets.version),
		Pods:       formatVersion(cl.pods.version),
		Revisions:  formatVersion(cl.revisions.version),
	}
}
