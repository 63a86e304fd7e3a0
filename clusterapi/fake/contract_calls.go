package fake

import (
	"context"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/daemonplan/daemonplan/daemonset"
)

// patience is how long a call may go on once its context is done.
const patience = 10 * time.Second

func setClauses() []clause {
	return []clause{
		{"UpdateStatus/replaces the status and nothing else", checkUpdateStatus},
		{"UpdateStatus/another resource version is a Conflict", checkUpdateStaleStatus},
		{"UpdateStatus/a set that is not there is NotFound", func(c *contract) {
			t := c.t
			set := c.set(t)
			c.Remove(t, set)
			_, err := c.api.UpdateStatus(t.Context(), set)
			wantError(t, "UpdateStatus", err, apierrors.IsNotFound)
		}},
		{"RecordEvent/publishes", checkRecordEvent},
	}
}

func checkUpdateStatus(c *contract) {
	t := c.t
	set := c.set(t)
	give := set.DeepCopy()
	give.Status.DesiredNumberScheduled = 3
	give.Spec.MinReadySeconds = 77
	give.Labels = map[string]string{"changed": "1"}
	before := give.DeepCopy()
	got, err := c.api.UpdateStatus(t.Context(), give)
	must(t, "UpdateStatus", err)
	wantSame(t, "the set that was given", give, before)
	stored, err := c.api.Live(t.Context(), keyOf(set))
	must(t, "Live", err)
	for what, s := range map[string]*appsv1.DaemonSet{"what was returned": got, "what is stored": stored} {
		if s.Status.DesiredNumberScheduled != 3 {
			t.Errorf("%s: got %d desired, want 3", what, s.Status.DesiredNumberScheduled)
		}
		wantSame(t, what+": spec", s.Spec, set.Spec)
		wantSame(t, what+": labels", s.Labels, set.Labels)
		wantSame(t, what+": generation", s.Generation, set.Generation)
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
	wantError(t, "UpdateStatus at an old resource version", err, apierrors.IsConflict)
	stored, err := c.api.Live(t.Context(), keyOf(stale))
	must(t, "Live", err)
	if stored.Status.NumberReady != 1 {
		t.Errorf("got %d ready, want the refused write to have no effect", stored.Status.NumberReady)
	}
}

func checkRecordEvent(c *contract) {
	t := c.t
	ref := refOf(c.set(t))
	event := daemonset.Event{Type: "Warning", Reason: "FailedDaemonPod", Note: "Found failed daemon pod"}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if !returns(ctx, func() { c.api.RecordEvent(t.Context(), ref, event) }) {
		t.Fatal("RecordEvent blocks")
	}
	recorder, ok := c.Harness.(Recorder)
	if !ok {
		t.Skip("the harness cannot tell which events arrived")
	}
	wantSame(t, "recorded", recorder.Recorded(t), []RecordedEvent{{About: ref, Event: event}})
}

func callClauses() []clause {
	return []clause{
		{"every call/returns when its context is done", checkContext},
		{"every call/may be made by several goroutines at once", checkConcurrent},
	}
}

// checkContext makes every call with a context that is done. Observe may serve from a cache
// without looking at it, and RecordEvent reports no error.
func checkContext(c *contract) {
	t := c.t
	set := c.set(t)
	pod := create(t, c, c.pod("one", set))
	revision := create(t, c, c.revision("one", set))
	c.Sync(t)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, call := range callsOn(done, c, set) {
		var err error
		ctx, stop := context.WithTimeout(t.Context(), patience)
		if !returns(ctx, func() { err = call.make(refOf(pod), refOf(revision)) }) {
			t.Errorf("%s does not return", call.name)
		} else if err == nil && call.name != Observe && call.name != RecordEvent {
			t.Errorf("%s: got no error, want one, because its context was done before it began", call.name)
		}
		stop()
	}
}

// checkConcurrent is for the race detector, and for calls that wait for each other.
func checkConcurrent(c *contract) {
	t := c.t
	set := c.set(t)
	pod := create(t, c, c.pod("one", nil))
	revision := create(t, c, c.revision("one", nil))
	c.Sync(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	defer cancel()
	var all sync.WaitGroup
	for _, call := range callsOn(ctx, c, set) {
		for range 4 {
			all.Go(func() { _ = call.make(refOf(pod), refOf(revision)) }) // conflicts are to be expected
		}
	}
	if !returns(ctx, all.Wait) {
		t.Error("calls that are made at once do not return")
	}
}

type anyCall struct {
	name Call
	make func(pod, revision daemonset.Ref) error
}

// callsOn is every method once. None of them needs to succeed.
func callsOn(ctx context.Context, c *contract, set *appsv1.DaemonSet) []anyCall {
	type ref = daemonset.Ref
	patch := []byte(`{"metadata":{"labels":{"a":"1"}}}`)
	update := c.revision("one", set)
	return []anyCall{
		{Observe, func(_, _ ref) error { _, err := c.api.Observe(ctx, keyOf(set)); return err }},
		{Live, func(_, _ ref) error { _, err := c.api.Live(ctx, keyOf(set)); return err }},
		{Revision, func(_, r ref) error { _, err := c.api.Revision(ctx, keyIn(r.Namespace, r.Name)); return err }},
		{CreatePod, func(_, _ ref) error { _, err := c.api.CreatePod(ctx, c.pod("another", nil)); return err }},
		{PatchPod, func(p, _ ref) error { _, err := c.api.PatchPod(ctx, p, patch); return err }},
		{DeletePod, func(p, _ ref) error { return c.api.DeletePod(ctx, p) }},
		{CreateRevision, func(_, _ ref) error { _, err := c.api.CreateRevision(ctx, c.revision("another", nil)); return err }},
		{UpdateRevision, func(_, _ ref) error { _, err := c.api.UpdateRevision(ctx, update); return err }},
		{PatchRevision, func(_, r ref) error { _, err := c.api.PatchRevision(ctx, r, patch); return err }},
		{DeleteRevision, func(_, r ref) error { return c.api.DeleteRevision(ctx, r) }},
		{UpdateSetStatus, func(_, _ ref) error { _, err := c.api.UpdateStatus(ctx, set); return err }},
		{RecordEvent, func(_, _ ref) error { c.api.RecordEvent(ctx, refOf(set), daemonset.Event{Type: "Normal"}); return nil }},
	}
}

// returns tells whether f returned before ctx was done.
func returns(ctx context.Context, f func()) bool {
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		f()
	}()
	select {
	case <-finished:
		return true
	case <-ctx.Done():
		return false
	}
}
