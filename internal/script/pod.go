package script

import (
	"cmp"
	"maps"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/placement"
)

// defaultAge is how long ago pods and revisions were created unless a script says so.
const defaultAge = time.Hour

// podOptions is what the pod command says.
type podOptions struct {
	node, pinned  string
	revision      string
	hash          string
	generation    string
	owner         string
	labels        string
	namespace     string
	age, since    time.Duration
	ready, unsure bool
	terminating   bool
	phase         corev1.PodPhase
}

// addPod adds a pod: "pod p1 node=a rev=v1 available". A name that is there already is
// added once more. Without a word about its state the pod is pending.
//
//	node=N        bound to the node, and pinned to it unless pinned says another one
//	pinned=N      pinned to the node; with neither, no node can be told
//	rev=V         carries the hash of the template with that image
//	hash=H        carries that hash
//	generation=N  carries that legacy template generation
//	labels=K=V,…  has these instead of the template's labels
//	owner=O       see ownersOf; this set if absent
//	namespace=N   is in another namespace
//	age=1h        since its creation
//	available     ready for an hour
//	ready=10s     ready for that long
//	ready-undated ready without saying since when
//	unready       running, but not ready
//	failed, succeeded, unknown
//	terminating   being deleted; may be said beside any of these
func (w *World) addPod(words []string) error {
	if err := someWords(words); err != nil {
		return err
	}
	o := podOptions{namespace: namespace, age: defaultAge, phase: corev1.PodPending}
	if err := o.read(words[1:]); err != nil {
		return err
	}
	labels, err := w.podLabels(o)
	if err != nil {
		return err
	}
	owners, err := ownersOf(o.owner)
	if err != nil {
		return err
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: o.namespace, Name: words[0], UID: uidOf(words[0]), Labels: labels,
			CreationTimestamp: *w.ago(o.age), OwnerReferences: owners,
		},
		Spec:   w.podSpec(o.node),
		Status: corev1.PodStatus{Phase: o.phase},
	}
	if o.terminating {
		pod.DeletionTimestamp = w.ago(0)
	}
	if target := cmp.Or(o.pinned, o.node); target != "" {
		pod.Spec.Affinity = placement.PinTo(nil, target)
	}
	if o.phase == corev1.PodRunning {
		pod.Status.Conditions = []corev1.PodCondition{w.readiness(o)}
	}
	w.snapshot.Objects.Pods = append(w.snapshot.Objects.Pods, pod)
	return nil
}

func (o *podOptions) read(words []string) error {
	running := func(ready bool) func(string) error {
		return func(value string) error {
			o.phase, o.ready, o.since = corev1.PodRunning, ready, time.Hour
			if value == "" {
				return nil
			}
			return duration(&o.since)(value)
		}
	}
	inPhase := func(phase corev1.PodPhase) func(string) error {
		return func(string) error { o.phase = phase; return nil }
	}
	return options{
		"node":          text(&o.node),
		"pinned":        text(&o.pinned),
		"rev":           text(&o.revision),
		"hash":          text(&o.hash),
		"generation":    text(&o.generation),
		"labels":        text(&o.labels),
		"owner":         text(&o.owner),
		"namespace":     text(&o.namespace),
		"age":           duration(&o.age),
		"available":     running(true),
		"ready":         running(true),
		"ready-undated": func(string) error { o.unsure = true; return running(true)("") },
		"unready":       running(false),
		"failed":        inPhase(corev1.PodFailed),
		"succeeded":     inPhase(corev1.PodSucceeded),
		"unknown":       inPhase(corev1.PodUnknown),
		"terminating":   flag(&o.terminating),
	}.read(words)
}

func (w *World) podLabels(o podOptions) (map[string]string, error) {
	labels := maps.Clone(w.set.Spec.Template.Labels)
	if o.labels != "" {
		labels = pairs(o.labels)
	}
	if o.revision != "" {
		revision, err := w.revisionOf(o.revision)
		if err != nil {
			return nil, err
		}
		o.hash = revision.Labels[appsv1.ControllerRevisionHashLabelKey]
	}
	if o.hash != "" {
		labels[appsv1.ControllerRevisionHashLabelKey] = o.hash
	}
	if o.generation != "" {
		labels["pod-template-generation"] = o.generation
	}
	return labels, nil
}

func (w *World) readiness(o podOptions) corev1.PodCondition {
	condition := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse}
	if o.ready {
		condition.Status = corev1.ConditionTrue
	}
	if !o.unsure {
		condition.LastTransitionTime = *w.ago(o.since)
	}
	return condition
}

// ownersOf is the controller reference that an owner option stands for: "none" for no
// controller, "other" for another set, "recreated" for an earlier set of this one's name,
// "renamed" and "replicaset" for something of another name or kind with this set's UID.
func ownersOf(owner string) ([]metav1.OwnerReference, error) {
	meta, kind := &metav1.ObjectMeta{Name: setName, UID: setUID}, "DaemonSet"
	switch owner {
	case "":
	case "none":
		return nil, nil
	case "other":
		meta = &metav1.ObjectMeta{Name: "other", UID: "uid-other"}
	case "recreated":
		meta.UID = "uid-earlier"
	case "renamed":
		meta.Name = "other"
	case "replicaset":
		kind = "ReplicaSet"
	default:
		return nil, unknownKind("owner", owner)
	}
	return []metav1.OwnerReference{*metav1.NewControllerRef(meta, appsv1.SchemeGroupVersion.WithKind(kind))}, nil
}

func uidOf(name string) types.UID { return types.UID("uid-" + name) }

// podSpec is what planning may read of a pod of today's template.
func (w *World) podSpec(node string) corev1.PodSpec {
	template := w.set.Spec.Template.Spec.DeepCopy()
	return corev1.PodSpec{NodeName: node, Containers: template.Containers, HostNetwork: template.HostNetwork}
}
