package witness_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/daemonplan/daemonplan/examples/e2e/witness"
)

var start = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// tape writes a history, one version and one second a change.
type tape struct {
	history witness.History
	set     *appsv1.DaemonSet
	pods    map[string]*corev1.Pod
}

// newTape has a set that is on three nodes, with one pod each, all ready.
func newTape(unavailable, surge int) *tape {
	down, extra := intstr.FromInt(unavailable), intstr.FromInt(surge)
	labels := map[string]string{"app": "x"}
	t := &tape{pods: map[string]*corev1.Pod{}, set: &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "s", UID: "set"},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{NodeSelector: map[string]string{"pool": "a"}}},
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
				Type:          appsv1.RollingUpdateDaemonSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &down, MaxSurge: &extra},
			},
		},
	}}
	t.add(watch.Added, t.set)
	for _, name := range []string{"a", "b", "c"} {
		t.node(name)
	}
	t.node("other").Labels = nil
	for _, name := range []string{"a", "b", "c"} {
		t.create("p-"+name, name, "1")
		t.ready("p-" + name)
	}
	return t
}

func (t *tape) now() time.Time { return start.Add(time.Duration(len(t.history)) * time.Second) }

func (t *tape) add(what watch.EventType, object witness.Object) {
	object.SetResourceVersion(strconv.Itoa(100 + len(t.history)))
	t.history = append(t.history, witness.Change{Type: what, Object: object, Seen: t.now()})
}

func (t *tape) node(name string) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{"pool": "a"}}}
	t.add(watch.Added, node)
	return node
}

// pass lets seconds go by.
func (t *tape) pass(seconds int) {
	for range seconds {
		t.node("other").Labels = nil
	}
}

func (t *tape) create(name, node, revision string) {
	controller := true
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "n", Name: name, UID: types.UID(name),
		Labels:          map[string]string{"app": "x", appsv1.ControllerRevisionHashLabelKey: revision},
		OwnerReferences: []metav1.OwnerReference{{UID: "set", Kind: "DaemonSet", Name: "s", Controller: &controller}},
	}, Spec: corev1.PodSpec{NodeName: node}}
	t.pods[name] = pod
	t.add(watch.Added, pod)
}

func (t *tape) change(name string, f func(*corev1.Pod)) {
	pod := t.pods[name].DeepCopy()
	f(pod)
	t.pods[name] = pod
	t.add(watch.Modified, pod)
}

func (t *tape) ready(name string) {
	t.change(name, func(pod *corev1.Pod) {
		pod.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(t.now()),
		}}
	})
}

func (t *tape) unready(name string) {
	t.change(name, func(pod *corev1.Pod) { pod.Status.Conditions = nil })
}

// ask is the deletion with a grace period, gone its end.
func (t *tape) ask(name string) {
	t.change(name, func(pod *corev1.Pod) { pod.DeletionTimestamp = new(metav1.NewTime(t.now())) })
}

func (t *tape) gone(name string) { t.add(watch.Deleted, t.pods[name].DeepCopy()) }

func TestCheck(t *testing.T) {
	tests := []struct {
		name               string
		unavailable, surge int
		give               func(*tape)
		want               []witness.Kind
	}{
		{"all is well", 1, 0, func(*tape) {}, nil},
		{"one after the other", 1, 0, func(w *tape) {
			for _, node := range []string{"a", "b", "c"} {
				w.ask("p-" + node)
				w.gone("p-" + node)
				w.create("q-"+node, node, "2")
				w.ready("q-" + node)
			}
		}, nil},
		{"the next one before the last one is ready", 1, 0, func(w *tape) {
			w.ask("p-a")
			w.gone("p-a")
			w.create("q-a", "a", "2")
			w.gone("p-b")
			w.create("q-b", "b", "2")
		}, []witness.Kind{witness.OverBudget}},
		{"the next one before it has been ready for long enough", 1, 0, func(w *tape) {
			w.set.Spec.MinReadySeconds = 3
			w.pass(3)
			w.ask("p-a")
			w.gone("p-a")
			w.create("q-a", "a", "2")
			w.ready("q-a")
			w.ask("p-b")
			w.gone("p-b")
			w.create("q-b", "b", "2")
		}, []witness.Kind{witness.OverBudget}},
		{"a pod that is not ready may go at any time", 1, 0, func(w *tape) {
			w.unready("p-a")
			w.unready("p-b")
			w.ask("p-b")
			w.gone("p-b")
			w.create("q-b", "b", "2")
		}, nil},
		{"one in trouble leaves nothing to take down", 1, 0, func(w *tape) {
			w.unready("p-a")
			w.ask("p-b")
			w.gone("p-b")
			w.create("q-b", "b", "2")
		}, []witness.Kind{witness.OverBudget}},
		{"two pods on a node", 1, 0, func(w *tape) {
			w.create("q-a", "a", "2")
		}, []witness.Kind{witness.Twins}},
		{"a successor beside one that ends", 1, 0, func(w *tape) {
			w.ask("p-a")
			w.create("q-a", "a", "2")
		}, nil},
		{"a twin that the scheduler has not seen", 1, 0, func(w *tape) {
			w.create("q-a", "", "1")
			w.history[len(w.history)-1].Object.(*corev1.Pod).Spec.Affinity = pinned("a")
		}, []witness.Kind{witness.Twins}},
		{"surge", 0, 1, func(w *tape) {
			w.create("q-a", "a", "2")
			w.ready("q-a")
			w.ask("p-a")
			w.gone("p-a")
			w.create("q-b", "b", "2")
		}, nil},
		{"surge of one revision", 0, 1, func(w *tape) {
			w.create("q-a", "a", "1")
		}, []witness.Kind{witness.Twins}},
		{"surge on two nodes", 0, 1, func(w *tape) {
			w.create("q-a", "a", "2")
			w.create("q-b", "b", "2")
		}, []witness.Kind{witness.OverSurge}},
		{"surge takes the old one down too soon", 0, 1, func(w *tape) {
			w.create("q-a", "a", "2")
			w.ask("p-a")
		}, []witness.Kind{witness.OverBudget}},
		{"three on a node", 0, 3, func(w *tape) {
			w.create("q-a", "a", "2")
			w.create("r-a", "a", "3")
		}, []witness.Kind{witness.Twins}},
		{"a pod without an owner", 1, 0, func(w *tape) {
			w.change("p-a", func(pod *corev1.Pod) { pod.OwnerReferences = nil })
			w.create("q-a", "a", "1")
		}, []witness.Kind{witness.Dropped}},
		{"a pod that is let go because its labels changed", 1, 0, func(w *tape) {
			w.change("p-a", func(pod *corev1.Pod) { pod.OwnerReferences, pod.Labels = nil, nil })
			w.create("q-a", "a", "1")
		}, nil},
		{"a pod that is not replaced", 1, 0, func(w *tape) {
			w.ask("p-a")
			w.gone("p-a")
		}, []witness.Kind{witness.Missing}},
		{"a node that was never served", 1, 0, func(w *tape) {
			w.node("d")
		}, []witness.Kind{witness.Missing}},
		{"a node that keeps pods out", 1, 0, func(w *tape) {
			w.node("d").Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}
		}, nil},
		{"a node in trouble is served all the same", 1, 0, func(w *tape) {
			w.node("d").Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoExecute}}
		}, []witness.Kind{witness.Missing}},
		{"a node that pods are told to tolerate", 1, 0, func(w *tape) {
			w.node("d").Spec.Taints = []corev1.Taint{{Key: "gpu", Value: "x", Effect: corev1.TaintEffectNoSchedule}}
			w.set.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "gpu", Value: "x"}}
		}, []witness.Kind{witness.Missing}},
		{"a pod where none belongs", 1, 0, func(w *tape) {
			w.create("q", "other", "1")
		}, []witness.Kind{witness.Unwanted}},
		{"on delete, the user takes down what they like", 1, 0, func(w *tape) {
			w.set.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
			for _, node := range []string{"a", "b"} {
				w.ask("p-" + node)
				w.create("q-"+node, node, "2")
			}
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newTape(tt.unavailable, tt.surge)
			tt.give(w)
			var got []witness.Kind
			for _, violation := range witness.Check(w.history) {
				got = append(got, violation.Kind)
			}
			assert.Equal(t, tt.want, got, "%v", witness.Check(w.history))
		})
	}
}

func pinned(node string) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchFields: []corev1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
		}}},
	}}
}

func TestCheckOrdersByVersion(t *testing.T) {
	w := newTape(1, 0)
	w.ask("p-a")
	w.gone("p-a")
	w.create("q-a", "a", "2")
	w.ready("q-a")
	shuffled := append(witness.History{}, w.history...)
	for i, j := 0, len(shuffled)-1; i < j; i, j = i+1, j-1 {
		shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
	}
	assert.Empty(t, witness.Check(shuffled))
}

func TestLives(t *testing.T) {
	w := newTape(1, 0)
	w.ask("p-a")
	w.gone("p-a")
	w.create("q-a", "a", "2")
	lives := w.history.Lives(w.set)
	require.Len(t, lives, 4)
	first, last := lives[0], lives[3]
	assert.Equal(t, "p-a", first.Pod.Name)
	assert.False(t, first.Ready.IsZero())
	assert.Equal(t, time.Second, first.Gone.Sub(first.Asked))
	assert.Equal(t, "q-a", last.Pod.Name)
	assert.True(t, last.Ready.IsZero() && last.Asked.IsZero() && last.Gone.IsZero())
}

func TestWorstUnavailable(t *testing.T) {
	w := newTape(2, 0)
	after := w.history[len(w.history)-1].Version()
	w.ask("p-a")
	w.ask("p-b")
	w.gone("p-a")
	w.gone("p-b")
	for _, node := range []string{"a", "b"} {
		w.create("q-"+node, node, "2")
		w.ready("q-" + node)
	}
	assert.Equal(t, 2, witness.WorstUnavailable(w.history, w.set, after))
	assert.Equal(t, 0, witness.WorstUnavailable(w.history, w.set, w.history[len(w.history)-1].Version()-1))
}
