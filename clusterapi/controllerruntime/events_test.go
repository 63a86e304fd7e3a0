package controllerruntime_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/daemonplan/daemonplan/clusterapi/controllerruntime"
)

// journal is a queue and a syncer at once, so that their order shows.
type journal struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]

	mu    sync.Mutex
	lines []string
}

func (j *journal) write(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

// Add implements workqueue.
func (j *journal) Add(r reconcile.Request) { j.write("add %s", r.Name) }

// AddAfter implements workqueue.
func (j *journal) AddAfter(r reconcile.Request, d time.Duration) {
	j.write("add %s after %s", r.Name, d)
}

// Sync implements clusterapi.Syncer.
func (j *journal) Sync(context.Context, types.NamespacedName) (clusterapi.Result, error) {
	return clusterapi.Result{}, nil
}

// Settle implements clusterapi.Syncer.
func (j *journal) Settle(w daemonset.Wakes) {
	for _, owner := range w.Forget {
		j.write("forget %s", owner)
	}
	for _, s := range w.Seen {
		j.write("saw %s of %s (%d)", s.Pod, s.Owner, s.What)
	}
}

// take returns what was written since the last time.
func (j *journal) take() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := j.lines
	j.lines = nil
	return lines
}

// wired are the handlers of Events, with a journal behind them.
type wired struct {
	*journal
	*controllerruntime.Events

	ctx context.Context
}

func wire(t *testing.T, selects func(*appsv1.DaemonSet) bool) *wired {
	t.Helper()
	driver, err := clusterapi.NewDriver(clusterapi.Config{API: fake.New(1).NewClient(), Select: selects})
	require.NoError(t, err)
	j := &journal{}
	events, err := controllerruntime.NewEvents(driver.NewFeed(nil), j)
	require.NoError(t, err)
	return &wired{journal: j, Events: events, ctx: t.Context()}
}

func (w *wired) created(h handler.EventHandler, obj client.Object) []string {
	h.Create(w.ctx, event.CreateEvent{Object: obj}, w.journal)
	return w.take()
}

func (w *wired) updated(h handler.EventHandler, old, obj client.Object) []string {
	h.Update(w.ctx, event.UpdateEvent{ObjectOld: old, ObjectNew: obj}, w.journal)
	return w.take()
}

func (w *wired) deleted(h handler.EventHandler, e event.DeleteEvent) []string {
	h.Delete(w.ctx, e, w.journal)
	return w.take()
}

// stored is the agent as an API server has it.
func stored(edits ...func(*appsv1.DaemonSet)) *appsv1.DaemonSet {
	set := agent()
	set.UID, set.ResourceVersion, set.Generation = "set", "1", 1
	for _, edit := range edits {
		edit(set)
	}
	return set
}

func podOf(set *appsv1.DaemonSet, version string, edits ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: set.Namespace, Name: "pod", UID: "pod", ResourceVersion: version, Labels: set.Spec.Template.Labels,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))},
	}}
	pod.Spec.NodeName = "node"
	for _, edit := range edits {
		edit(pod)
	}
	return pod
}

func TestEventsOfPods(t *testing.T) {
	set := stored(func(s *appsv1.DaemonSet) { s.Spec.MinReadySeconds = 30 })
	orphaned := func(p *corev1.Pod) { p.OwnerReferences = nil }
	others := func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "ReplicaSet" }
	leaving := func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }
	ready := func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	const created, gone = "saw pod of set (1)", "saw pod of set (2)"
	tests := []struct {
		name string
		why  string
		do   func(w *wired) []string
		want []string
	}{
		{"created", "the syncer knows before the set is woken", func(w *wired) []string {
			return w.created(w.Pods(), podOf(set, "1"))
		}, []string{created, "add agent"}},
		{"deleted", "as above", func(w *wired) []string {
			return w.deleted(w.Pods(), event.DeleteEvent{Object: podOf(set, "1")})
		}, []string{gone, "add agent"}},
		{"deleted, learned late", "the last known state says whose it was", func(w *wired) []string {
			return w.deleted(w.Pods(), event.DeleteEvent{Object: podOf(set, "1"), DeleteStateUnknown: true})
		}, []string{gone, "add agent"}},
		{"deleted, nothing known", "it could be anybody's", func(w *wired) []string {
			return w.deleted(w.Pods(), event.DeleteEvent{DeleteStateUnknown: true})
		}, nil},
		{"being deleted", "it counts as deleted", func(w *wired) []string {
			return w.updated(w.Pods(), podOf(set, "1"), podOf(set, "2", leaving))
		}, []string{gone, "add agent"}},
		{"ready", "once more when it is available", func(w *wired) []string {
			return w.updated(w.Pods(), podOf(set, "1"), podOf(set, "2", ready))
		}, []string{"add agent", "add agent after 31s"}},
		{"resync", "nothing new", func(w *wired) []string {
			return w.updated(w.Pods(), podOf(set, "1"), podOf(set, "1"))
		}, nil},
		{"orphan", "to be adopted", func(w *wired) []string {
			return w.created(w.Pods(), podOf(set, "1", orphaned))
		}, []string{"add agent"}},
		{"of others", "no business of ours", func(w *wired) []string {
			return w.created(w.Pods(), podOf(set, "1", others))
		}, nil},
		{"of others, updated", "as above", func(w *wired) []string {
			return w.updated(w.Pods(), podOf(set, "1", others), podOf(set, "2", others, ready))
		}, nil},
		{"from others to nobody", "to be adopted", func(w *wired) []string {
			return w.updated(w.Pods(), podOf(set, "1", others), podOf(set, "2", orphaned))
		}, []string{"add agent"}},
		{"from others to us", "adopted", func(w *wired) []string {
			return w.updated(w.Pods(), podOf(set, "1", others), podOf(set, "2"))
		}, []string{"add agent"}},
		{"from us to others", "lost", func(w *wired) []string {
			return w.updated(w.Pods(), podOf(set, "1"), podOf(set, "2", others))
		}, []string{"add agent"}},
		{"unstructured", "what it holds counts, not how", func(w *wired) []string {
			return w.created(w.Pods(), loose(podOf(set, "1")))
		}, []string{created, "add agent"}},
		{"unstructured and broken", "nothing can be told", func(w *wired) []string {
			return w.created(w.Pods(), &unstructured.Unstructured{Object: map[string]any{"spec": "none"}})
		}, nil},
		{"nil", "no pod", func(w *wired) []string { return w.created(w.Pods(), nil) }, nil},
		{"typed nil", "no pod", func(w *wired) []string { return w.created(w.Pods(), (*corev1.Pod)(nil)) }, nil},
		{"unstructured nil", "no pod", func(w *wired) []string { return w.created(w.Pods(), (*unstructured.Unstructured)(nil)) }, nil},
		{"another kind", "no pod", func(w *wired) []string { return w.created(w.Pods(), set) }, nil},
		{"update from nil", "as good as created", func(w *wired) []string {
			return w.updated(w.Pods(), nil, podOf(set, "1"))
		}, []string{created, "add agent"}},
		{"generic", "nothing is known to have changed", func(w *wired) []string {
			w.Pods().Generic(w.ctx, event.GenericEvent{Object: podOf(set, "1")}, w.journal)
			return w.take()
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := wire(t, nil)
			require.Equal(t, []string{"add agent"}, w.created(w.DaemonSets(), set))
			require.Equal(t, tt.want, tt.do(w), tt.why)
		})
	}
}

func loose(obj runtime.Object) *unstructured.Unstructured {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		panic(err)
	}
	return &unstructured.Unstructured{Object: content}
}

func TestEventsOfSets(t *testing.T) {
	w := wire(t, nil)
	sets := w.DaemonSets()
	require.Equal(t, []string{"add agent"}, w.created(sets, stored()))
	require.Equal(t, []string{"add agent"}, w.updated(sets, stored(), stored()), "a resync mends what an event left behind")
	sets.Generic(t.Context(), event.GenericEvent{Object: stored()}, w.journal)
	require.Equal(t, []string{"add agent"}, w.take())
	successor := stored(func(s *appsv1.DaemonSet) { s.UID = "successor" })
	require.Equal(t, []string{"forget set", "add agent"}, w.updated(sets, stored(), successor))
	gone := event.DeleteEvent{Object: successor, DeleteStateUnknown: true}
	require.Equal(t, []string{"forget successor", "add agent"}, w.deleted(sets, gone))
	require.Empty(t, w.created(w.Pods(), podOf(successor, "1", func(p *corev1.Pod) { p.OwnerReferences = nil })), "nobody is left to adopt it")
	require.Empty(t, w.created(sets, nil))
	require.Empty(t, w.deleted(sets, event.DeleteEvent{}))
}

func TestEventsOfSelectedSets(t *testing.T) {
	ours := func(s *appsv1.DaemonSet) { s.Annotations = map[string]string{"ours": "yes"} }
	w := wire(t, func(s *appsv1.DaemonSet) bool { return s.Annotations["ours"] == "yes" })
	sets := w.DaemonSets()
	require.Empty(t, w.created(sets, stored()))
	require.NotContains(t, w.created(w.Pods(), podOf(stored(), "1")), "add agent")
	require.Equal(t, []string{"add agent"}, w.updated(sets, stored(), stored(ours)))
	require.Equal(t, []string{"saw pod of set (1)", "add agent"}, w.created(w.Pods(), podOf(stored(), "1")))
	require.Equal(t, []string{"forget set", "add agent"}, w.updated(sets, stored(ours), stored()))
	require.NotContains(t, w.created(w.Pods(), podOf(stored(), "1")), "add agent")
}

func TestEventsOfRevisions(t *testing.T) {
	w := wire(t, nil)
	w.created(w.DaemonSets(), stored())
	revision := func(version string) *appsv1.ControllerRevision {
		return &appsv1.ControllerRevision{ObjectMeta: podOf(stored(), version).ObjectMeta}
	}
	require.Equal(t, []string{"add agent"}, w.created(w.Revisions(), revision("1")))
	require.Equal(t, []string{"add agent"}, w.updated(w.Revisions(), revision("1"), revision("2")))
	require.Empty(t, w.updated(w.Revisions(), revision("2"), revision("2")))
	require.Equal(t, []string{"add agent"}, w.deleted(w.Revisions(), event.DeleteEvent{Object: revision("2"), DeleteStateUnknown: true}))
	w.Revisions().Generic(t.Context(), event.GenericEvent{Object: revision("3")}, w.journal)
	require.Empty(t, w.take())
}

func TestEventsOfNodes(t *testing.T) {
	node := func(taints ...corev1.Taint) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node", UID: "node"}, Spec: corev1.NodeSpec{Taints: taints}}
	}
	evicting := corev1.Taint{Key: "x", Effect: corev1.TaintEffectNoExecute}
	others := func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "ReplicaSet" }
	w := wire(t, nil)
	w.created(w.DaemonSets(), stored())

	w.Nodes().Create(t.Context(), event.CreateEvent{Object: node(), IsInInitialList: true}, w.journal)
	require.Empty(t, w.take(), "the set's own event woke it, and the pass saw the node")
	require.Equal(t, []string{"add agent"}, w.created(w.Nodes(), node()), "a pod is missing there")
	require.Empty(t, w.updated(w.Nodes(), node(), node(evicting)), "nothing is there to be evicted")

	w.created(w.Pods(), podOf(stored(), "1"))
	require.Empty(t, w.created(w.Nodes(), node()), "it has its pod")
	require.Equal(t, []string{"add agent"}, w.updated(w.Nodes(), node(), node(evicting)), "its pod has to go")
	require.Empty(t, w.updated(w.Nodes(), node(), node()))
	require.Empty(t, w.deleted(w.Nodes(), event.DeleteEvent{Object: node()}))
	require.Empty(t, w.created(w.Nodes(), nil))

	w.updated(w.Pods(), podOf(stored(), "1"), podOf(stored(), "2", others))
	require.Equal(t, []string{"add agent"}, w.created(w.Nodes(), node()), "the pod is somebody else's now")
	w.deleted(w.Pods(), event.DeleteEvent{Object: podOf(stored(), "2", others)})
}

func TestEventsInParallel(t *testing.T) {
	w := wire(t, nil)
	w.created(w.DaemonSets(), stored())
	handlers := []handler.EventHandler{w.DaemonSets(), w.Pods(), w.Revisions(), w.Nodes()}
	var all sync.WaitGroup
	for _, h := range handlers {
		all.Go(func() {
			for range 200 {
				h.Create(t.Context(), event.CreateEvent{Object: stored()}, w.journal)
				h.Create(t.Context(), event.CreateEvent{Object: podOf(stored(), "1")}, w.journal)
				h.Create(t.Context(), event.CreateEvent{Object: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}}}, w.journal)
			}
		})
	}
	all.Wait()
	lines := 0
	for _, line := range w.take() {
		require.Regexp(t, "^(add agent|saw pod of set)", line)
		lines++
	}
	require.GreaterOrEqual(t, lines, 200+2*200, "each event of the set is one line, of the pod two")
}

func TestNewEventsNeedsAll(t *testing.T) {
	driver, err := clusterapi.NewDriver(clusterapi.Config{API: fake.New(1).NewClient()})
	require.NoError(t, err)
	_, err = controllerruntime.NewEvents(nil, driver)
	require.ErrorContains(t, err, "Feed")
	_, err = controllerruntime.NewEvents(driver.NewFeed(nil), nil)
	require.ErrorContains(t, err, "Syncer")
}
