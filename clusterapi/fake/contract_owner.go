package fake

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// ownerClauses are about memory: what a call returns is the caller's to write to, and so is
// what it was given, once it has returned.
func ownerClauses() []clause {
	return []clause{
		{"Live/returns what belongs to the caller", func(c *contract) {
			t := c.t
			s := c.subjects(t)
			set, err := c.api.Live(t.Context(), keyOf(s.set))
			must(t, "Live", err)
			scribbleSet(set)
			c.wantNoScribble(t, s, "Live shares what it returns")
		}},
		{"Revision/returns what belongs to the caller", func(c *contract) {
			t := c.t
			s := c.subjects(t)
			revision, err := c.api.Revision(t.Context(), keyOf(s.revision))
			must(t, "Revision", err)
			scribbleRevision(revision)
			c.wantNoScribble(t, s, "Revision shares what it returns")
		}},
		{"every write/neither changes nor keeps an argument, and returns what belongs to the caller", checkHandedOver},
	}
}

func checkHandedOver(c *contract) {
	t := c.t
	ctx := t.Context()
	s := subjects{set: c.set(t)}
	revision := c.revision("one", s.set)
	revision.Labels = map[string]string{"app": "agent"}
	s.pod = handOver(c, &s, CreatePod, handed[*corev1.Pod]{
		give: c.pod("one", s.set), scribble: scribblePod,
		call: func(pod *corev1.Pod) (*corev1.Pod, error) { return c.api.CreatePod(ctx, pod) },
	})
	s.revision = handOver(c, &s, CreateRevision, handed[*appsv1.ControllerRevision]{
		give: revision, scribble: scribbleRevision,
		call: func(r *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
			return c.api.CreateRevision(ctx, r)
		},
	})
	update := s.revision.DeepCopy()
	update.Revision++
	s.revision = handOver(c, &s, UpdateRevision, handed[*appsv1.ControllerRevision]{
		give: update, scribble: scribbleRevision,
		call: func(r *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
			return c.api.UpdateRevision(ctx, r)
		},
	})
	set, err := c.api.Live(ctx, keyOf(s.set))
	must(t, "Live", err)
	set.Status.NumberReady = 5
	handOver(c, &s, UpdateSetStatus, handed[*appsv1.DaemonSet]{
		give: set, scribble: scribbleSet,
		call: func(set *appsv1.DaemonSet) (*appsv1.DaemonSet, error) { return c.api.UpdateStatus(ctx, set) },
	})
	patch := []byte(`{"metadata":{"labels":{"patched":"1"}}}`)
	before := string(patch)
	pod, err := c.api.PatchPod(ctx, refOf(s.pod), patch)
	must(t, "PatchPod", err)
	wantSame(t, "PatchPod: the patch that was given", string(patch), before)
	scribblePod(pod)
	c.wantNoScribble(t, s, "PatchPod shares what it returns")
	revision, err = c.api.PatchRevision(ctx, refOf(s.revision), patch)
	must(t, "PatchRevision", err)
	wantSame(t, "PatchRevision: the patch that was given", string(patch), before)
	scribbleRevision(revision)
	c.wantNoScribble(t, s, "PatchRevision shares what it returns")
}

// handed is a write of an object, with the means to spoil it.
type handed[T Object] struct {
	give     T
	call     func(T) (T, error)
	scribble func(T)
}

// handOver makes a write, looks whether its argument is as before, and then writes into it
// and into what came back. It returns a copy of that.
func handOver[T Object](c *contract, s *subjects, name Call, h handed[T]) T {
	t := c.t
	t.Helper()
	before := h.give.DeepCopyObject()
	got, err := h.call(h.give)
	must(t, string(name), err)
	wantSame(t, string(name)+": the argument", h.give, before)
	result, _ := got.DeepCopyObject().(T) // a deep copy has the type of its original
	h.scribble(h.give)
	c.wantNoScribble(t, *s, string(name)+" keeps its argument")
	h.scribble(got)
	c.wantNoScribble(t, *s, string(name)+" shares what it returns")
	return result
}

// scribbled is what the suite writes into objects that belong to it.
const scribbled = "scribbled-by-the-contract"

func scribblePod(pod *corev1.Pod) {
	for key := range pod.Labels {
		pod.Labels[key] = scribbled
	}
	for i := range pod.OwnerReferences {
		pod.OwnerReferences[i].Name = scribbled
	}
	for i := range pod.Spec.Containers {
		pod.Spec.Containers[i].Image = scribbled
	}
	pod.GenerateName = scribbled
}

func scribbleRevision(revision *appsv1.ControllerRevision) {
	for key := range revision.Labels {
		revision.Labels[key] = scribbled
	}
	for i := range revision.OwnerReferences {
		revision.OwnerReferences[i].Name = scribbled
	}
	revision.GenerateName = scribbled
}

func scribbleSet(set *appsv1.DaemonSet) {
	for key := range set.Spec.Selector.MatchLabels {
		set.Spec.Selector.MatchLabels[key] = scribbled
	}
	for i := range set.Spec.Template.Spec.Containers {
		set.Spec.Template.Spec.Containers[i].Image = scribbled
	}
	set.GenerateName = scribbled
}

// wantNoScribble looks at all that can be seen of the subjects that are there by now. The
// pod is looked at by a patch, because no read shows the server's.
func (c *contract) wantNoScribble(t *testing.T, s subjects, otherwise string) {
	t.Helper()
	set, err := c.api.Live(t.Context(), keyOf(s.set))
	must(t, "Live", err)
	found := []any{set}
	if s.pod != nil {
		pod, err := c.api.PatchPod(t.Context(), refOf(s.pod), []byte(`{"metadata":{"annotations":{"contract":"1"}}}`))
		must(t, "PatchPod", err)
		found = append(found, pod)
	}
	if s.revision != nil {
		revision, err := c.api.Revision(t.Context(), keyOf(s.revision))
		must(t, "Revision", err)
		found = append(found, revision)
	}
	c.Sync(t)
	seen := c.observe(t)
	found = append(found, seen.DaemonSet, seen.Pods, seen.Revisions)
	if strings.Contains(asJSON(found), scribbled) {
		t.Fatalf("%s: what the caller wrote into it is seen by others", otherwise)
	}
}
