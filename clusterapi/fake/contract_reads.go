package fake

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func readClauses() []clause {
	return []clause{
		{"Observe/returns the set with all that a plan needs", checkObserve},
		{"Observe/shows owned pods that the selector does not match", checkObserveUnmatched},
		{"Observe/shows pods that are being deleted", checkObserveDeleted},
		{"Observe/shows pods that have finished and nodes that are not ready", checkObserveStatus},
		{"Observe/no longer shows what is gone", checkObserveGone},
		{"Observe/a set that is not there is NotFound", func(c *contract) {
			t := c.t
			_, err := c.api.Observe(t.Context(), c.key("absent"))
			wantNotFound(t, "Observe", err)
		}},
		{"Observe/AsOf covers what was written before", checkAsOf},
		{"Live/returns the set", checkLive},
		{"Live/a set that is not there is NotFound", func(c *contract) {
			t := c.t
			_, err := c.api.Live(t.Context(), c.key("absent"))
			wantNotFound(t, "Live", err)
		}},
		{"Revision/one that is not there is NotFound", func(c *contract) {
			t := c.t
			_, err := c.api.Revision(t.Context(), c.key("absent"))
			wantNotFound(t, "Revision", err)
		}},
	}
}

// checkObserve has nodes that no pod would go to, because who leaves nodes out takes those
// for granted.
func checkObserve(c *contract) {
	t := c.t
	set := c.set(t)
	other := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "other", UID: "00000000-0000-4000-8000-000000000001"}}
	plain := c.node(t, "plain", corev1.NodeSpec{})
	cordoned := c.node(t, "cordoned", corev1.NodeSpec{Unschedulable: true})
	tainted := c.node(t, "tainted", corev1.NodeSpec{Taints: []corev1.Taint{
		{Key: "example.com/contract", Value: "yes", Effect: corev1.TaintEffectNoSchedule},
		{Key: "example.com/contract", Effect: corev1.TaintEffectPreferNoSchedule},
	}})
	owned := create(t, c, c.richPod("owned", tainted.Name, set))
	onNode := c.pod("bound", set)
	onNode.Spec.NodeName = plain.Name
	onNode = create(t, c, onNode)
	orphan := create(t, c, c.richPod("orphan", plain.Name, nil))
	revisions := []*appsv1.ControllerRevision{
		create(t, c, c.richRevision("owned", set)), create(t, c, c.richRevision("orphan", nil)), create(t, c, c.revision("of-another", other)),
	}
	c.Sync(t)
	seen := c.observe(t)
	wantRead(t, seen.DaemonSet, set)
	wantNames(t, "nodes", seen.Nodes, plain.Name, cordoned.Name, tainted.Name)
	wantNames(t, "pods", seen.Pods, "owned", "bound", "orphan")
	wantNames(t, "revisions", seen.Revisions, "owned", "orphan", "of-another")
	wantSeen(t, seen.Nodes, plain, cordoned, tainted)
	wantSeen(t, seen.Pods, owned, onNode, orphan)
	wantSeen(t, seen.Revisions, revisions...)
}

func checkObserveUnmatched(c *contract) {
	t := c.t
	set := c.set(t)
	for name, labels := range map[string]map[string]string{"relabelled": {"app": "other"}, "unlabelled": nil} {
		pod := c.pod(name, set)
		pod.Labels = labels
		create(t, c, pod)
	}
	c.Sync(t)
	wantNames(t, "pods", c.observe(t).Pods, "relabelled", "unlabelled")
}

// checkObserveDeleted holds the pod by a finalizer, because a server without kubelets may
// let it go at once.
func checkObserveDeleted(c *contract) {
	t := c.t
	pod := c.pod("one", c.set(t))
	pod.Finalizers = []string{"example.com/contract"}
	ref := refOf(create(t, c, pod))
	must(t, "DeletePod", c.api.DeletePod(t.Context(), ref))
	held, err := c.api.PatchPod(t.Context(), ref, []byte(`{"metadata":{"annotations":{"contract":"1"}}}`))
	if err != nil || held.DeletionTimestamp == nil {
		t.Skipf("the server does not keep a pod for its finalizer: %v", err)
	}
	c.Sync(t)
	switch got := c.seenPod(t); {
	case got == nil:
		t.Error("the pod is not shown, though it is there until its finalizer is gone")
	case got.DeletionTimestamp == nil:
		t.Error("the pod is shown as if it had not been deleted")
	}
	_, err = c.api.PatchPod(t.Context(), ref, []byte(`{"metadata":{"finalizers":null}}`))
	must(t, "PatchPod, to let the pod go", err)
}

func checkObserveStatus(c *contract) {
	t := c.t
	writer, ok := c.Harness.(StatusWriter)
	if !ok {
		t.Skip("the harness is no StatusWriter: pods cannot finish, and nodes cannot be not ready")
	}
	set := c.set(t)
	var pods []*corev1.Pod
	for name, phase := range map[string]corev1.PodPhase{"failed": corev1.PodFailed, "succeeded": corev1.PodSucceeded, "ready": corev1.PodRunning} {
		pod := create(t, c, c.pod(name, set))
		pod.Status.Phase = phase
		pod.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.ContainersReady, Status: corev1.ConditionFalse},
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Unix(1700000000, 0)},
		}
		pod, ok := writer.WriteStatus(t, pod).(*corev1.Pod)
		if !ok {
			t.Fatal("the harness returned no pod from WriteStatus")
		}
		pods = append(pods, pod)
	}
	node := c.node(t, "down", corev1.NodeSpec{})
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "Contract"}}
	writer.WriteStatus(t, node)
	c.Sync(t)
	seen := c.observe(t)
	wantNames(t, "pods", seen.Pods, "failed", "succeeded", "ready")
	wantSeen(t, seen.Pods, pods...)
	wantNames(t, "nodes", seen.Nodes, node.Name)
}

func checkObserveGone(c *contract) {
	t := c.t
	set := c.set(t)
	pod := create(t, c, c.pod("one", nil))
	revision := create(t, c, c.revision("one", nil))
	node := c.node(t, "one", corev1.NodeSpec{})
	c.Sync(t)
	c.observe(t)
	c.Remove(t, pod)
	c.Remove(t, revision)
	c.Remove(t, node)
	c.Sync(t)
	seen := c.observe(t)
	wantWithout(t, "pods", seen.Pods, pod)
	wantWithout(t, "revisions", seen.Revisions, revision)
	wantWithout(t, "nodes", seen.Nodes, node)
	c.Remove(t, set)
	c.Sync(t)
	_, err := c.api.Observe(t.Context(), keyOf(set))
	wantNotFound(t, "Observe of a set that is gone", err)
}

func checkAsOf(c *contract) {
	t := c.t
	w := c.writeAll(t, c.set(t))
	c.Sync(t)
	asOf := c.observation(t).AsOf
	wantCovered(t, "DaemonSets", asOf.DaemonSets, w.set.ResourceVersion)
	wantCovered(t, "Pods", asOf.Pods, w.pod.ResourceVersion)
	wantCovered(t, "Revisions", asOf.Revisions, w.revision.ResourceVersion)
}

func checkLive(c *contract) {
	t := c.t
	set := c.set(t)
	live, err := c.api.Live(t.Context(), keyOf(set))
	must(t, "Live", err)
	wantKept(t, "the set", live, whole(set))
	c.Remove(t, set)
	_, err = c.api.Live(t.Context(), keyOf(set))
	wantNotFound(t, "Live of a set that is gone", err)
}

// wantWithout checks that an object is not there. One of its name may be.
func wantWithout[T Object](t *testing.T, what string, objects []T, gone T) {
	t.Helper()
	if slices.ContainsFunc(objects, func(obj T) bool { return obj.GetUID() == gone.GetUID() }) {
		t.Errorf("%s: got %s, which is gone", what, gone.GetName())
	}
}
