package fake

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// cacheClauses need Observe to lag.
func cacheClauses() []clause {
	return []clause{
		{"Observe/AsOf never runs ahead of what is shown", checkAsOfAhead},
		{"Live/never from a cache", checkLiveIsLive},
		{"Revision/never from a cache", checkRevisionIsLive},
	}
}

// written is one object of each kind that the Driver writes, as a write returned it.
type written struct {
	set      *appsv1.DaemonSet
	pod      *corev1.Pod
	revision *appsv1.ControllerRevision
}

// writeAll writes once to each kind, through the implementation.
func (c *contract) writeAll(t *testing.T, set *appsv1.DaemonSet) written {
	t.Helper()
	pod, err := c.api.CreatePod(t.Context(), c.pod("one", set))
	must(t, "CreatePod", err)
	revision, err := c.api.CreateRevision(t.Context(), c.revision("one", set))
	must(t, "CreateRevision", err)
	live, err := c.api.Live(t.Context(), keyOf(set))
	must(t, "Live", err)
	live.Status.NumberReady = 7
	set, err = c.api.UpdateStatus(t.Context(), live)
	must(t, "UpdateStatus", err)
	return written{set: set, pod: pod, revision: revision}
}

func checkAsOfAhead(c *contract) {
	t := c.t
	set := c.set(t)
	c.hold(t)
	w := c.writeAll(t, set)
	seen := c.observation(t)
	hidden := 0
	for _, read := range []struct {
		kind          Kind
		shown         bool
		asOf, written string
	}{
		{DaemonSetKind, covers(seen.Objects.DaemonSet.ResourceVersion, w.set.ResourceVersion), seen.AsOf.DaemonSets, w.set.ResourceVersion},
		{PodKind, shows(seen.Objects.Pods, w.pod.UID), seen.AsOf.Pods, w.pod.ResourceVersion},
		{RevisionKind, shows(seen.Objects.Revisions, w.revision.UID), seen.AsOf.Revisions, w.revision.ResourceVersion},
	} {
		if read.shown {
			continue
		}
		hidden++
		if read.asOf != "" && covers(read.asOf, read.written) {
			t.Errorf("%s: AsOf says %s, but Observe does not show the write that got %s", read.kind, read.asOf, read.written)
		}
	}
	if hidden == 0 {
		t.Skip("Observe shows all writes in spite of Hold, so nothing could be seen")
	}
}

func shows[T Object](objects []T, uid types.UID) bool {
	return slices.ContainsFunc(objects, func(obj T) bool { return obj.GetUID() == uid })
}

func checkLiveIsLive(c *contract) {
	t := c.t
	set := c.set(t)
	c.hold(t)
	w := c.writeAll(t, set)
	live, err := c.api.Live(t.Context(), keyOf(set))
	must(t, "Live", err)
	if live.Status.NumberReady != 7 || live.ResourceVersion != w.set.ResourceVersion {
		t.Errorf("got the set at %s, want what the write before returned, at %s", live.ResourceVersion, w.set.ResourceVersion)
	}
	c.Remove(t, set)
	_, err = c.api.Live(t.Context(), keyOf(set))
	wantNotFound(t, "Live of a set that is gone", err)
}

func checkRevisionIsLive(c *contract) {
	t := c.t
	set := c.set(t)
	c.hold(t)
	w := c.writeAll(t, set)
	got, err := c.api.Revision(t.Context(), keyOf(w.revision))
	must(t, "Revision", err)
	if got.UID != w.revision.UID || got.ResourceVersion != w.revision.ResourceVersion {
		t.Errorf("got %s at %s, want %s at %s", got.UID, got.ResourceVersion, w.revision.UID, w.revision.ResourceVersion)
	}
	c.Remove(t, w.revision)
	_, err = c.api.Revision(t.Context(), keyOf(w.revision))
	wantNotFound(t, "Revision of one that is gone", err)
}
