package fake_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/clusterapi/fake"
)

// told is what handlers hear of events.
func told(events []fake.Event) []string {
	list := []string{}
	for _, e := range events {
		say := func(kind, old, obj string) { list = append(list, kind+" "+old+">"+obj) }
		fake.Handlers{
			Node: func(old, obj *corev1.Node) {
				say("node", nameOr(old != nil, func() string { return old.Name }), nameOr(obj != nil, func() string { return obj.Name }))
			},
			Pod: func(old, obj *corev1.Pod) {
				say("pod", nameOr(old != nil, func() string { return old.Name + phase(old) }), nameOr(obj != nil, func() string { return obj.Name + phase(obj) }))
			},
			DaemonSet: func(old, obj *appsv1.DaemonSet) {
				say("set", nameOr(old != nil, func() string { return old.Name }), nameOr(obj != nil, func() string { return obj.Name }))
			},
			Revision: func(old, obj *appsv1.ControllerRevision) {
				say("revision", nameOr(old != nil, func() string { return old.Name }), nameOr(obj != nil, func() string { return obj.Name }))
			},
		}.Handle(e)
	}
	return list
}

func nameOr(there bool, name func() string) string {
	if !there {
		return ""
	}
	return name()
}

func phase(pod *corev1.Pod) string {
	if pod.Status.Phase == corev1.PodPending {
		return ""
	}
	return "(" + string(pod.Status.Phase) + ")"
}

func fail(t *testing.T, c *fake.Cluster, name string) {
	t.Helper()
	pod := mustGet[*corev1.Pod](t, c, key(name))
	pod.Status.Phase = corev1.PodFailed
	_, err := fake.UpdateStatus(c, pod)
	require.NoError(t, err)
}

func remove(t *testing.T, c *fake.Cluster, name string) {
	t.Helper()
	require.NoError(t, fake.Delete[*corev1.Pod](c, key(name), fake.DeleteOptions{}))
}

func TestWatchTellsInOrder(t *testing.T) {
	c := fake.New(1)
	mustCreate(t, c, newPod("before"))
	mustCreate(t, c, newNode("before"))
	cl := c.NewClient()
	defer cl.Close()
	w := cl.Watch()
	assert.Equal(t, []string{"node >before", "pod >before"}, told(w.Drain()), "first what is there")
	assert.Empty(t, w.Drain())

	mustCreate(t, c, newPod("p"))
	mustCreate(t, c, newSet("s"))
	fail(t, c, "p")
	mustCreate(t, c, newRevision("r"))
	require.NoError(t, fake.Delete[*corev1.Node](c, nodeKey("before"), fake.DeleteOptions{}))
	remove(t, c, "p")
	events := w.Drain()
	assert.Equal(t, []string{
		"pod >p", "set >s", "pod p>p(Failed)", "revision >r", "node before>", "pod p(Failed)>",
	}, told(events), "in the order of the writes, across kinds")
	assert.Equal(t, c.Version(), events[5].Old.GetResourceVersion(), "a deletion is a write")
}

func TestWatchFollowsTheClientsCache(t *testing.T) {
	c, cl := withSet(t)
	cl.SetLag(fake.Lag{Hold: true})
	w := cl.Watch()
	assert.Equal(t, []string{"set >set"}, told(w.Drain()))
	cl.Deliver(fake.PodKind, 1)
	assert.Equal(t, []string{"pod >a"}, told(w.Drain()))
	cl.SetLag(fake.Lag{})
	observe(t, cl)
	second := cl.Watch()
	assert.Equal(t, []string{"pod >b", "pod >c"}, told(w.Drain()), "looking makes it visible")
	assert.Equal(t, []string{"set >set", "pod >a", "pod >b", "pod >c"}, told(second.Drain()))
	w.Stop()
	mustCreate(t, c, newPod("d"))
	assert.Empty(t, w.Drain())
	assert.Equal(t, []string{"pod >d"}, told(second.Drain()))
}

func TestRelistLearnsLate(t *testing.T) {
	c, cl := withSet(t)
	w := cl.Watch()
	w.Drain()
	before := observe(t, cl).Objects.Pods
	cl.SetLag(fake.Lag{Hold: true})
	fail(t, c, "a")
	remove(t, c, "a")
	fail(t, c, "b")
	remove(t, c, "b")
	mustCreate(t, c, newPod("b"))
	mustCreate(t, c, newPod("short"))
	remove(t, c, "short")
	mustCreate(t, c, newPod("d"))
	cl.Relist()

	events := w.Drain()
	assert.Equal(t, []string{"pod a>", "pod b>b", "pod >d"}, told(events),
		"states in between are skipped, also of what came and went")
	assert.True(t, events[0].Missed)
	assert.Same(t, before[0], events[0].Old, "the last state that the client knew, not the failed one")
	assert.False(t, events[1].Missed)
	assert.NotEqual(t, events[1].Old.GetUID(), events[1].New.GetUID(), "a successor looks like an update")
	assert.Equal(t, c.Version(), observe(t, cl).AsOf.Pods)
	cl.Sync()
	assert.Empty(t, w.Drain(), "what was skipped is not told later")
}

func TestDistortions(t *testing.T) {
	tests := []struct {
		name, why   string
		give        fake.Distortion
		first, then []string
	}{
		{"none", "all is told once", fake.Distortion{}, []string{"pod >p", "pod >q", "pod p>p(Failed)", "pod >r"}, []string{}},
		{"dropped", "and never told", fake.Distortion{Drop: 1}, []string{}, []string{}},
		{"repeated", "right away", fake.Distortion{Repeat: 1}, []string{
			"pod >p", "pod >p", "pod >q", "pod >q", "pod p>p(Failed)", "pod p>p(Failed)", "pod >r", "pod >r",
		}, []string{}},
		{"delayed", "until it ends", fake.Distortion{Delay: 1}, []string{}, []string{"pod >p", "pod >q", "pod p>p(Failed)", "pod >r"}},
		{
			"reordered", "an event stays behind until the next one about its object",
			fake.Distortion{Reorder: 1},
			[]string{"pod >q", "pod >p", "pod >r", "pod p>p(Failed)"},
			[]string{},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := fake.New(1)
			cl := c.NewClient()
			defer cl.Close()
			w := cl.Watch()
			w.Distort(tt.give)
			mustCreate(t, c, newPod("p"))
			mustCreate(t, c, newPod("q"))
			fail(t, c, "p")
			mustCreate(t, c, newPod("r"))
			assert.Equal(t, tt.first, told(w.Drain()), tt.why)
			w.Distort(fake.Distortion{})
			assert.Equal(t, tt.then, told(w.Drain()), tt.why)
		})
	}
}

func TestReorderedEventsAreOnePlaceBehind(t *testing.T) {
	c := fake.New(1)
	cl := c.NewClient()
	defer cl.Close()
	w := cl.Watch()
	w.Distort(fake.Distortion{Reorder: 1})
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		mustCreate(t, c, newPod(name))
	}
	assert.Equal(t, []string{"pod >b", "pod >a", "pod >d", "pod >c", "pod >e"}, told(w.Drain()))
}

// TestDistortedWatchKeepsTheOrderOfEachObject also counts that each distortion came up.
func TestDistortedWatchKeepsTheOrderOfEachObject(t *testing.T) {
	var dropped, repeated, delayed, reordered int
	for seed := range uint64(50) {
		c := fake.New(seed)
		c.SetTiming(fake.Timing{})
		mustCreate(t, c, newNode("a"))
		cl := c.NewClient()
		w := cl.Watch()
		w.Drain()
		w.Distort(fake.Distortion{Drop: 0.1, Repeat: 0.2, Delay: 0.2, Reorder: 0.3})
		for _, name := range []string{"p", "q", "r"} {
			mustCreate(t, c, newPodOn(name, "a"))
		}
		latest := map[string]string{}
		count, newest := map[string]int{}, ""
		look := func(events []fake.Event) {
			for _, e := range events {
				name, version := e.New.GetName(), e.New.GetResourceVersion()
				assert.False(t, older(version, latest[name]), "seed %d: %s at %s after %s", seed, name, version, latest[name])
				if older(version, newest) {
					reordered++
				}
				latest[name], newest = version, version
				count[version]++
			}
		}
		for range 6 {
			before := c.Version()
			c.Step()
			events := w.Drain()
			look(events)
			for _, e := range events {
				if before != c.Version() && !older(before, e.New.GetResourceVersion()) {
					delayed++
				}
			}
		}
		w.Distort(fake.Distortion{})
		look(w.Drain())
		for _, n := range count {
			if n > 1 {
				repeated++
			}
		}
		dropped += 3*4 - len(count) // created, bound, running, ready
		cl.Close()
	}
	assert.Positive(t, dropped, "dropped")
	assert.Positive(t, repeated, "repeated")
	assert.Positive(t, delayed, "delayed")
	assert.Positive(t, reordered, "reordered")
}

func older(a, b string) bool { return len(a) < len(b) || len(a) == len(b) && a < b }
