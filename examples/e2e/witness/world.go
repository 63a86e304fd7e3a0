package witness

import (
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
)

// world is the cluster at one version.
type world struct {
	sets  map[types.UID]*appsv1.DaemonSet
	nodes map[string]*corev1.Node
	pods  map[types.UID]*corev1.Pod
}

func newWorld() *world {
	return &world{
		sets:  map[types.UID]*appsv1.DaemonSet{},
		nodes: map[string]*corev1.Node{},
		pods:  map[types.UID]*corev1.Pod{},
	}
}

func (w *world) apply(change Change) {
	switch object := change.Object.(type) {
	case *appsv1.DaemonSet:
		w.sets[object.UID] = object
	case *corev1.Node:
		w.nodes[object.Name] = object
	case *corev1.Pod:
		w.pods[object.UID] = object
	}
	if change.Type == watch.Deleted {
		w.remove(change.Object)
	}
}

func (w *world) remove(object Object) {
	switch object := object.(type) {
	case *appsv1.DaemonSet:
		delete(w.sets, object.UID)
	case *corev1.Node:
		delete(w.nodes, object.Name)
	case *corev1.Pod:
		delete(w.pods, object.UID)
	}
}

// wants reports whether a set is to have a pod on a node, by its node selector and the
// node's taints.
func wants(set *appsv1.DaemonSet, node *corev1.Node) bool {
	spec := set.Spec.Template.Spec
	if !labels.SelectorFromSet(spec.NodeSelector).Matches(labels.Set(node.Labels)) {
		return false
	}
	return !slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
		return keepsOut(taint) && !tolerated(spec.Tolerations, taint)
	})
}

// keepsOut reports whether a taint concerns a set at all. Those that Kubernetes puts on nodes in
// trouble do not: pods of DaemonSets tolerate them.
func keepsOut(taint corev1.Taint) bool {
	return taint.Effect != corev1.TaintEffectPreferNoSchedule && !strings.HasPrefix(taint.Key, "node.kubernetes.io/")
}

func tolerated(tolerations []corev1.Toleration, taint corev1.Taint) bool {
	return slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool {
		if t.Effect != "" && t.Effect != taint.Effect {
			return false
		}
		if t.Operator == corev1.TolerationOpExists {
			return t.Key == "" || t.Key == taint.Key
		}
		return t.Key == taint.Key && t.Value == taint.Value
	})
}

// wanted counts the nodes that a set is to have a pod on.
func (w *world) wanted(set *appsv1.DaemonSet) []string {
	var names []string
	for name, node := range w.nodes {
		if wants(set, node) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// podsOf returns the set's pods by node, live or not.
func (w *world) podsOf(set *appsv1.DaemonSet) map[string][]*corev1.Pod {
	byNode := map[string][]*corev1.Pod{}
	for _, pod := range w.pods {
		if owned(pod, set) {
			byNode[target(pod)] = append(byNode[target(pod)], pod)
		}
	}
	return byNode
}

// available reports whether a pod counts as available: live, and ready for as long as the
// set wants.
func available(set *appsv1.DaemonSet, pod *corev1.Pod, now time.Time) bool {
	if !isLive(pod) {
		return false
	}
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue &&
			!now.Before(c.LastTransitionTime.Add(time.Duration(set.Spec.MinReadySeconds)*time.Second))
	})
}

// unavailable counts the wanted nodes on which no pod of the set is available.
func (w *world) unavailable(set *appsv1.DaemonSet, now time.Time) int {
	pods := w.podsOf(set)
	count := 0
	for _, node := range w.wanted(set) {
		if !slices.ContainsFunc(pods[node], func(pod *corev1.Pod) bool { return available(set, pod, now) }) {
			count++
		}
	}
	return count
}

// target is the node that a pod is on, or made for. A DaemonSet's pods name it in a node
// affinity until the scheduler has bound them.
func target(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" {
		return pod.Spec.NodeName
	}
	affinity := pod.Spec.Affinity
	if affinity == nil || affinity.NodeAffinity == nil || affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	for _, term := range affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, field := range term.MatchFields {
			if field.Key == metav1.ObjectNameField && len(field.Values) == 1 {
				return field.Values[0]
			}
		}
	}
	return ""
}

// budget returns how many nodes may be without an available pod, and how many may have two,
// by the set's strategy. Without a rolling update nothing may be taken down.
func budget(set *appsv1.DaemonSet, wanted int) (unavailable, surge int) {
	rolling := set.Spec.UpdateStrategy.RollingUpdate
	if set.Spec.UpdateStrategy.Type != appsv1.RollingUpdateDaemonSetStrategyType || rolling == nil {
		return 0, 0
	}
	return scaled(rolling.MaxUnavailable, wanted), scaled(rolling.MaxSurge, wanted)
}

func scaled(value *intstr.IntOrString, total int) int {
	if value == nil {
		return 0
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(value, total, true)
	if err != nil {
		return 0
	}
	return n
}
