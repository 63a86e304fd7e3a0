package gen

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/placement"
)

// legacyLabel is the label that pods carry since extensions/v1beta1.
const legacyLabel = "pod-template-generation"

// makePods puts pods on nodes as the mood has it, and some elsewhere.
func (w *world) makePods() {
	matcher := placement.NewMatcher(&w.set.Spec.Template.Spec, placement.Options{})
	for _, node := range w.nodes {
		decision := matcher.Evaluate(node).Decision
		if decision == placement.Evict && !w.odd() || decision == placement.Keep && w.oneIn(2) {
			continue
		}
		for _, version := range w.versions() {
			w.addPod(node.Name, version)
		}
	}
	if w.odd() || w.mood == anything && w.oneIn(2) {
		for range 1 + w.below(4) {
			w.addPod(pick(&w.source, "gone-2", "gone-1", "gone-3", "", ""), w.version())
		}
	}
	if w.odd() {
		w.addPod(nodeName(w.below(3)), w.version())
	}
}

// versions lists the template versions of the pods of one node.
func (w *world) versions() []int {
	switch w.mood {
	case atRest:
		return []int{current}
	case updating:
		return []int{w.version()}
	case surging:
		if w.oneIn(3) {
			return []int{w.below(current), current}
		}
		return []int{w.version()}
	case scalingUp:
		if w.oneIn(2) {
			return nil
		}
		return []int{w.version()}
	case anything:
	}
	versions := make([]int, pick(&w.source, 1, 1, 1, 0, 2, 2, 3))
	for i := range versions {
		versions[i] = w.version()
	}
	return versions
}

func (w *world) version() int { return pick(&w.source, current, current, 2, 2, 2, 1, 0) }

// addPod adds a pod on a node that may not exist; an empty name is no node at all.
func (w *world) addPod(node string, version int) {
	// Names in another order than the nodes', as an API server would make them up.
	number := fmt.Sprintf("%03d", (len(w.pods)*613+17)%997)
	template := w.set.Spec.Template.DeepCopy()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: setName + "-" + number, Namespace: namespace, UID: types.UID("uid-pod-" + number),
			Labels:            template.Labels,
			OwnerReferences:   []metav1.OwnerReference{owner(setName, setUID)},
			CreationTimestamp: at(epoch().Add(-time.Hour)),
		},
		Spec: template.Spec,
	}
	pod.Spec.Containers[0].Image = image(version)
	pod.Spec.NodeName = ""
	pod.Spec.Affinity = placement.PinTo(pod.Spec.Affinity, node)
	if w.oneIn(4) {
		pod.CreationTimestamp = at(epoch().Add(-time.Duration(w.below(4)) * time.Hour))
	}
	if node == "" {
		pod.Spec.Affinity = nil
	} else if w.disorder == 0 || !w.oneIn(6) {
		pod.Spec.NodeName = node
	}
	w.label(pod, version)
	w.live(pod)
	w.estrange(pod)
	w.pods = append(w.pods, pod)
}

// label says of which revision the pod is.
func (w *world) label(pod *corev1.Pod, version int) {
	hash := w.hashes[version]
	if version == current && w.twin != "" && w.oneIn(2) {
		hash = w.twin
	}
	if w.odd() {
		hash = pick(&w.source, "", "unknown")
	}
	if hash != "" {
		pod.Labels[appsv1.ControllerRevisionHashLabelKey] = hash
	}
	if len(w.set.Annotations) > 0 && w.oneIn(3) {
		pod.Labels[legacyLabel] = pick(&w.source, "7", "6", "07")
	}
}

// live gives the pod a state of health.
func (w *world) live(pod *corev1.Pod) {
	pod.Status.Phase = corev1.PodRunning
	minReady := time.Duration(w.set.Spec.MinReadySeconds) * time.Second
	switch {
	case !w.sick(pod):
		ago := pick(&w.source, 10*time.Minute, minReady, minReady+time.Second, minReady-time.Second, 0)
		if w.oneIn(2) {
			ago = 10 * time.Minute
		}
		pod.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, readySince(w.now.Add(-ago)),
		}
	case w.oneIn(3):
		ready := readySince(w.now.Add(-time.Minute))
		ready.Status = pick(&w.source, corev1.ConditionFalse, corev1.ConditionUnknown)
		pod.Status.Conditions = []corev1.PodCondition{ready}
	case w.odd():
		pod.Status.Conditions = []corev1.PodCondition{readySince(time.Time{})}
	default:
		pod.Status.Phase = corev1.PodPending
	}
	if w.odd() {
		pod.Status.Phase = pick(&w.source, corev1.PodFailed, corev1.PodFailed, corev1.PodSucceeded, corev1.PodUnknown)
	}
	if w.odd() || w.mood == updating && w.oneIn(20) {
		pod.DeletionTimestamp = new(at(w.now.Add(-time.Second)))
		pod.DeletionGracePeriodSeconds = new(int64(30))
	}
}

// sick says whether a pod is not simply ready.
func (w *world) sick(pod *corev1.Pod) bool {
	sick := w.odd() || w.oneIn(6)
	if w.mood == surging && w.starting {
		return pod.Spec.Containers[0].Image == image(current)
	}
	return sick
}

// estrange makes some pods not simply ours.
func (w *world) estrange(pod *corev1.Pod) {
	if !w.odd() {
		return
	}
	switch w.below(10) {
	case 0, 1:
		pod.OwnerReferences = nil // an orphan
	case 2:
		pod.Labels["app"] = "moved-on" // to be released
	case 3:
		pod.OwnerReferences[0].UID = otherUID // of a namesake
	case 4:
		pod.OwnerReferences = []metav1.OwnerReference{owner("other", otherUID)}
	case 5:
		pod.OwnerReferences[0].Controller = nil // an owner, but nobody's controller
	case 6:
		pod.Namespace = "elsewhere"
	case 7:
		pod.OwnerReferences = nil
		pod.Labels = map[string]string{"app": "unrelated"}
	case 8:
		pod.OwnerReferences[0].Name = "other" // by our UID
	case 9:
		pod.OwnerReferences[0].Kind = "ReplicaSet" // by our name and UID
	}
}

func owner(name string, uid types.UID) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: "apps/v1", Kind: "DaemonSet", Name: name, UID: uid,
		Controller: new(true), BlockOwnerDeletion: new(true),
	}
}
