package fake

import (
	"context"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/daemonset"
)

func callClauses() []clause {
	return []clause{
		{"every call/fails and has no effect if its context was done before", checkContext},
		{"every call/ends with its context while the server does not answer", checkStalled},
		{"every call/may be made by several goroutines at once", checkConcurrent},
	}
}

// checkContext makes every call with a context that is done. RecordEvent reports no error.
func checkContext(c *contract) {
	t := c.t
	s := c.subjects(t)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, call := range c.callsOn(done, c.api, s) {
		if err := call.make(); err == nil && call.name != RecordEvent {
			t.Errorf("%s: got no error, want one, because its context was done before it began", call.name)
		}
	}
	c.wantUntouched(t, s)
}

// checkStalled lets the context of each call end while the call is under way. Observe may
// answer from caches. Whether a write arrived is left open: it was sent.
func checkStalled(c *contract) {
	t := c.t
	staller, ok := c.Harness.(Staller)
	if !ok {
		t.Skip("the harness is no Staller: it cannot keep the server from answering")
	}
	s := c.subjects(t)
	resume := staller.Stall(t)
	defer resume()
	for number := range c.callsOn(t.Context(), c.api, s) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		call := c.callsOn(ctx, c.api, s)[number]
		err := call.make()
		cancel()
		if err == nil && call.name != Observe && call.name != RecordEvent {
			t.Errorf("%s: got no error, though the server did not answer", call.name)
		}
	}
}

// wantUntouched checks that callsOn had no effect. Pods are looked at by a patch, because
// no read shows the server's.
func (c *contract) wantUntouched(t *testing.T, s subjects) {
	t.Helper()
	pod, err := c.api.PatchPod(t.Context(), refOf(s.pod), []byte(`{"metadata":{"annotations":{"contract":"1"}}}`))
	must(t, "PatchPod, which looks at the pod", err)
	wantSame(t, "labels of the pod", pod.Labels, s.pod.Labels)
	if pod.DeletionTimestamp != nil {
		t.Error("the pod was deleted")
	}
	revision, err := c.api.Revision(t.Context(), keyOf(s.revision))
	must(t, "Revision", err)
	wantSame(t, "the revision", revision, s.revision)
	set, err := c.api.Live(t.Context(), keyOf(s.set))
	must(t, "Live", err)
	wantSame(t, "the set's status", set.Status, s.set.Status)
	_, err = c.api.CreatePod(t.Context(), c.pod("another", nil))
	must(t, "CreatePod, of a name that nobody was to take", err)
	_, err = c.api.CreateRevision(t.Context(), c.revision("another", nil))
	must(t, "CreateRevision, of a name that nobody was to take", err)
}

// checkConcurrent is for the race detector, and for calls that wait for each other.
func checkConcurrent(c *contract) {
	t := c.t
	s := c.subjects(t)
	ctx, cancel := context.WithTimeout(t.Context(), c.api.limits.deadline)
	defer cancel()
	var mu sync.Mutex
	under := map[Call]int{}
	count := func(name Call, by int) {
		mu.Lock()
		defer mu.Unlock()
		under[name] += by
	}
	var all sync.WaitGroup
	for _, call := range c.callsOn(ctx, c.api.api, s) {
		for range 4 {
			count(call.name, 1)
			all.Go(func() {
				_ = call.make() // conflicts are to be expected
				count(call.name, -1)
			})
		}
	}
	if returns(c.api.limits.deadline+c.api.limits.patience, all.Wait) {
		return
	}
	mu.Lock()
	defer mu.Unlock()
	for name, calls := range under {
		if calls > 0 {
			t.Errorf("%s has not returned %v after its context was done", name, c.api.limits.patience)
		}
	}
}

// subjects are what callsOn is about, as stored and as Observe shows them.
type subjects struct {
	set      *appsv1.DaemonSet
	pod      *corev1.Pod
	revision *appsv1.ControllerRevision
}

func (c *contract) subjects(t *testing.T) subjects {
	t.Helper()
	s := subjects{set: c.set(t), pod: create(t, c, c.pod("one", nil)), revision: create(t, c, c.revision("one", nil))}
	c.Sync(t)
	return s
}

type anyCall struct {
	name Call
	make func() error
}

// callsOn is every method once. None of them needs to succeed, and each that writes would
// have an effect if it went first.
func (c *contract) callsOn(ctx context.Context, api clusterapi.ClusterAPI, s subjects) []anyCall {
	patch := []byte(`{"metadata":{"labels":{"a":"1"}}}`)
	pod, revision := refOf(s.pod), refOf(s.revision)
	set, update := s.set.DeepCopy(), s.revision.DeepCopy()
	set.Status.NumberReady++
	update.Revision++
	return []anyCall{
		{Observe, func() error { _, err := api.Observe(ctx, keyOf(set)); return err }},
		{Live, func() error { _, err := api.Live(ctx, keyOf(set)); return err }},
		{Revision, func() error { _, err := api.Revision(ctx, keyOf(update)); return err }},
		{CreatePod, func() error { _, err := api.CreatePod(ctx, c.pod("another", nil)); return err }},
		{PatchPod, func() error { _, err := api.PatchPod(ctx, pod, patch); return err }},
		{DeletePod, func() error { return api.DeletePod(ctx, pod) }},
		{CreateRevision, func() error { _, err := api.CreateRevision(ctx, c.revision("another", nil)); return err }},
		{UpdateRevision, func() error { _, err := api.UpdateRevision(ctx, update); return err }},
		{PatchRevision, func() error { _, err := api.PatchRevision(ctx, revision, patch); return err }},
		{DeleteRevision, func() error { return api.DeleteRevision(ctx, revision) }},
		{UpdateSetStatus, func() error { _, err := api.UpdateStatus(ctx, set); return err }},
		{RecordEvent, func() error { api.RecordEvent(ctx, refOf(set), daemonset.Event{Type: "Normal"}); return nil }},
	}
}
