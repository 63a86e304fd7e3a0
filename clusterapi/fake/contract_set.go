package fake

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/daemonplan/daemonplan/daemonset"
)

func setClauses() []clause {
	return []clause{
		{"UpdateStatus/replaces the status, not the spec", checkUpdateStatus},
		{"UpdateStatus/another resource version is a Conflict", checkUpdateStaleStatus},
		{"UpdateStatus/never touches a successor", checkUpdateSuccessor},
		{"UpdateStatus/a set that is not there is NotFound", func(c *contract) {
			t := c.t
			set := c.set(t)
			c.Remove(t, set)
			_, err := c.api.UpdateStatus(t.Context(), set)
			wantNotFound(t, "UpdateStatus", err)
		}},
		{"RecordEvent/publishes", checkRecordEvent},
	}
}

// checkUpdateStatus writes a full status and then one that leaves out what may be left out.
func checkUpdateStatus(c *contract) {
	t := c.t
	set := c.set(t)
	status := richStatus()
	less := richStatus()
	less.Conditions = nil
	less.NumberReady = 0
	current := set
	for _, status := range []appsv1.DaemonSetStatus{status, less} {
		give := current.DeepCopy()
		give.Status = status
		give.Spec.MinReadySeconds = 77
		before := give.DeepCopy()
		got, err := c.api.UpdateStatus(t.Context(), give)
		must(t, "UpdateStatus", err)
		wantSame(t, "the set that was given", give, before)
		stored, err := c.api.Live(t.Context(), keyOf(set))
		must(t, "Live", err)
		for _, s := range []struct {
			what string
			set  *appsv1.DaemonSet
		}{{"what was returned", got}, {"what is stored", stored}} {
			want := set.DeepCopy()
			want.Status = status
			wantKept(t, s.what, s.set, whole(want))
			wantSame(t, s.what+": status", s.set.Status, status)
			wantSame(t, s.what+": spec", s.set.Spec, set.Spec)
		}
		if got.ResourceVersion == current.ResourceVersion {
			t.Errorf("got version %s, want another one than before", got.ResourceVersion)
		}
		current = got
	}
}

func checkUpdateStaleStatus(c *contract) {
	t := c.t
	stale := c.set(t)
	first := stale.DeepCopy()
	first.Status.NumberReady = 1
	_, err := c.api.UpdateStatus(t.Context(), first)
	must(t, "UpdateStatus", err)
	stale.Status.NumberReady = 2
	_, err = c.api.UpdateStatus(t.Context(), stale)
	wantConflict(t, "UpdateStatus at an old resource version", err)
	stored, err := c.api.Live(t.Context(), keyOf(stale))
	must(t, "Live", err)
	if stored.Status.NumberReady != 1 {
		t.Errorf("got %d ready, want the refused write to have no effect", stored.Status.NumberReady)
	}
}

// checkUpdateSuccessor also gives the successor's version, as who looked it up would.
func checkUpdateSuccessor(c *contract) {
	t := c.t
	gone := c.set(t)
	c.Remove(t, gone)
	successor := c.set(t)
	for _, version := range []string{gone.ResourceVersion, successor.ResourceVersion} {
		give := gone.DeepCopy()
		give.ResourceVersion = version
		give.Status.NumberReady = 9
		_, err := c.api.UpdateStatus(t.Context(), give)
		wantConflict(t, "UpdateStatus of a set that has a successor", err)
	}
	stored, err := c.api.Live(t.Context(), keyOf(successor))
	must(t, "Live", err)
	wantSame(t, "status of the successor", stored.Status, successor.Status)
}

func checkRecordEvent(c *contract) {
	t := c.t
	ref := refOf(c.set(t))
	event := daemonset.Event{Type: "Warning", Reason: "FailedDaemonPod", Note: "Found failed daemon pod"}
	c.api.RecordEvent(t.Context(), ref, event)
	recorder, ok := c.Harness.(Recorder)
	if !ok {
		t.Skip("the harness is no Recorder: it cannot tell which events arrived")
	}
	recorded := slices.DeleteFunc(recorder.Recorded(t), func(e RecordedEvent) bool { return e.About != ref })
	wantSame(t, "recorded", recorded, []RecordedEvent{{About: ref, Event: event}})
}
