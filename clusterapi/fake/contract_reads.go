package fake

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func readClauses() []clause {
	return []clause{
		{"Observe/returns the set with all that a plan needs", checkObserve},
		{"Observe/a set that is not there is NotFound", func(c *contract) {
			t := c.t
			_, err := c.api.Observe(t.Context(), c.key("absent"))
			wantError(t, "Observe", err, apierrors.IsNotFound)
		}},
		{"Observe/AsOf covers what was written before", checkAsOf},
		{"Live/reads from the server", checkLive},
		{"Live/a set that is not there is NotFound", func(c *contract) {
			t := c.t
			_, err := c.api.Live(t.Context(), c.key("absent"))
			wantError(t, "Live", err, apierrors.IsNotFound)
		}},
		{"Revision/reads from the server", checkRevision},
		{"Revision/one that is not there is NotFound", func(c *contract) {
			t := c.t
			_, err := c.api.Revision(t.Context(), c.key("absent"))
			wantError(t, "Revision", err, apierrors.IsNotFound)
		}},
	}
}

func checkObserve(c *contract) {
	t := c.t
	set := c.set(t)
	other := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "other", UID: "00000000-0000-4000-8000-000000000001"}}
	create(t, c, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "contract-a"}})
	create(t, c, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "contract-b"}})
	create(t, c, c.pod("owned", set))
	create(t, c, c.pod("orphan", nil))
	create(t, c, c.revision("owned", set))
	create(t, c, c.revision("of-another", other))
	c.Sync(t)
	seen := c.observe(t)
	if seen.DaemonSet.UID != set.UID {
		t.Errorf("DaemonSet: got UID %s, want %s", seen.DaemonSet.UID, set.UID)
	}
	wantNames(t, "nodes", seen.Nodes, "contract-a", "contract-b")
	wantNames(t, "pods", seen.Pods, "owned", "orphan")
	wantNames(t, "revisions", seen.Revisions, "owned", "of-another")
}

func checkAsOf(c *contract) {
	t := c.t
	set := c.set(t)
	pod, err := c.api.CreatePod(t.Context(), c.pod("one", set))
	must(t, "CreatePod", err)
	revision, err := c.api.CreateRevision(t.Context(), c.revision("one", set))
	must(t, "CreateRevision", err)
	live, err := c.api.Live(t.Context(), keyOf(set))
	must(t, "Live", err)
	live.Status.NumberReady = 1
	written, err := c.api.UpdateStatus(t.Context(), live)
	must(t, "UpdateStatus", err)
	c.Sync(t)
	observation, err := c.api.Observe(t.Context(), keyOf(set))
	must(t, "Observe", err)
	wantCovered(t, "DaemonSets", observation.AsOf.DaemonSets, written.ResourceVersion)
	wantCovered(t, "Pods", observation.AsOf.Pods, pod.ResourceVersion)
	wantCovered(t, "Revisions", observation.AsOf.Revisions, revision.ResourceVersion)
}

func checkLive(c *contract) {
	t := c.t
	set := c.set(t)
	c.Sync(t)
	c.hold(t)
	live, err := c.api.Live(t.Context(), keyOf(set))
	must(t, "Live", err)
	live.Status.NumberReady = 7
	_, err = c.api.UpdateStatus(t.Context(), live)
	must(t, "UpdateStatus", err)
	live, err = c.api.Live(t.Context(), keyOf(set))
	must(t, "Live", err)
	if live.Status.NumberReady != 7 {
		t.Error("Live does not show a write that was made before it")
	}
	observation, err := c.api.Observe(t.Context(), keyOf(set))
	must(t, "Observe", err)
	if asOf := observation.AsOf.DaemonSets; observation.Objects.DaemonSet.Status.NumberReady != 7 && covers(asOf, live.ResourceVersion) {
		t.Errorf("AsOf says %s, but Observe does not show the write %s", asOf, live.ResourceVersion)
	}
	c.Remove(t, set)
	_, err = c.api.Live(t.Context(), keyOf(set))
	wantError(t, "Live of a set that is gone", err, apierrors.IsNotFound)
}

func checkRevision(c *contract) {
	t := c.t
	c.Sync(t)
	c.hold(t)
	stored, err := c.api.CreateRevision(t.Context(), c.revision("one", nil))
	must(t, "CreateRevision", err)
	got, err := c.api.Revision(t.Context(), keyOf(stored))
	must(t, "Revision", err)
	if got.UID != stored.UID || got.ResourceVersion != stored.ResourceVersion {
		t.Errorf("got %s at %s, want %s at %s", got.UID, got.ResourceVersion, stored.UID, stored.ResourceVersion)
	}
}
