package fake

import (
	"encoding/json"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/daemonset"
)

// followClauses are for implementations that are a clusterapi.Follower.
func followClauses() []clause {
	return []clause{
		{"Follow/the changes add up to what Observe shows", checkFollow},
		{"Follow/a set that is not there is NotFound", checkFollowNotFound},
	}
}

// follow follows the set of the suite until the end of the part.
func (c *contract) follow() clusterapi.Following {
	follower, ok := c.API().(clusterapi.Follower)
	if !ok {
		c.t.Skip("the implementation is no clusterapi.Follower")
	}
	following := follower.Follow(c.key("agent"))
	c.t.Cleanup(following.Stop)
	return following
}

// checkFollow changes the cluster step by step and keeps what is told beside what is shown.
func checkFollow(c *contract) {
	t := c.t
	following := c.follow()
	set := c.set(t)
	node := c.node(t, "first", corev1.NodeSpec{})
	owned := create(t, c, c.pod("owned", set))
	orphan := create(t, c, c.pod("orphan", nil))
	revision := create(t, c, c.revision("revision", set))
	others := set.DeepCopy()
	others.UID = "another"
	steps := []struct {
		name string
		do   func()
	}{
		{"the beginning", func() {}},
		{"nothing", func() {}},
		{"a pod of another, another pod and another node", func() {
			create(t, c, c.pod("foreign", others))
			create(t, c, c.pod("second", set))
			c.node(t, "second", corev1.NodeSpec{})
		}},
		{"an orphan that is adopted by another", func() {
			patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
				"uid": orphan.UID, "ownerReferences": []metav1.OwnerReference{controller(others)},
			}})
			must(t, "json.Marshal", err)
			_, err = c.api.PatchPod(t.Context(), refOf(orphan), patch)
			must(t, "PatchPod", err)
		}},
		{"a pod, a node and a revision that go", func() {
			c.Remove(t, owned)
			c.Remove(t, node)
			c.Remove(t, revision)
		}},
		{"a pod and a node that come again", func() {
			create(t, c, c.pod("owned", set))
			c.node(t, "first", corev1.NodeSpec{})
		}},
		{"a status", func() {
			live, err := c.api.Live(t.Context(), keyOf(set))
			must(t, "Live", err)
			live.Status.NumberReady = 7
			_, err = c.api.UpdateStatus(t.Context(), live)
			must(t, "UpdateStatus", err)
		}},
	}
	planner := daemonset.NewPlanner(daemonset.Options{})
	for _, step := range steps {
		step.do()
		c.Sync(t)
		changes, err := following.Changes(t.Context())
		must(t, "Changes", err)
		changes.Tell(planner)
		c.compareFollowed(step.name, planner.Objects())
	}
}

// compareFollowed compares what was told with what is shown, set aside what may be shown or not.
func (c *contract) compareFollowed(after string, told daemonset.Objects) {
	shown := c.observe(c.t)
	if told.DaemonSet.ResourceVersion != shown.DaemonSet.ResourceVersion {
		c.t.Errorf("after %s: the set is told at %s and shown at %s", after, told.DaemonSet.ResourceVersion, shown.DaemonSet.ResourceVersion)
	}
	ours := func(pod *corev1.Pod) bool {
		owner := metav1.GetControllerOfNoCopy(pod)
		return pod.Namespace == c.Namespace() && (owner == nil || owner.UID == shown.DaemonSet.UID)
	}
	mine := func(node *corev1.Node) bool {
		return c.nodes[node.Name] != nil || node.Labels["example.com/contract"] != ""
	}
	sameObjects(c.t, "pods after "+after, picked(told.Pods, ours), picked(shown.Pods, ours))
	sameObjects(c.t, "nodes after "+after, picked(told.Nodes, mine), picked(shown.Nodes, mine))
	sameObjects(c.t, "revisions after "+after, within(told.Revisions, c.Namespace()), shown.Revisions)
}

// picked lists those that are wanted.
func picked[T any](objects []T, want func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(objects), func(obj T) bool { return !want(obj) })
}

func sameObjects[T Object](t *testing.T, what string, told, shown []T) {
	t.Helper()
	list := func(objects []T) []string {
		names := make([]string, 0, len(objects))
		for _, obj := range objects {
			names = append(names, obj.GetName()+" "+string(obj.GetUID()))
		}
		slices.Sort(names)
		return names
	}
	if a, b := list(told), list(shown); !slices.Equal(a, b) {
		t.Errorf("the %s: told are %q, shown are %q", what, a, b)
	}
}

func checkFollowNotFound(c *contract) {
	t := c.t
	following := c.follow()
	c.Sync(t)
	_, err := following.Changes(t.Context())
	if !apierrors.IsNotFound(err) {
		t.Errorf("Changes without a set: got %v, want NotFound", err)
	}
}
