package plantest

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// SetOption changes a set that is being built.
type SetOption func(*appsv1.DaemonSet)

// Set builds a DaemonSet named "namespace/name". Its selector is app=name, its template has
// one container of that name with the image "registry.example/name:v1", and its strategy is
// RollingUpdate with the defaults. Two sets of the same name have the same UID: they are two
// states of one set.
func Set(key string, options ...SetOption) *appsv1.DaemonSet {
	namespace, name, ok := strings.Cut(key, "/")
	if !ok || namespace == "" || name == "" {
		panic(fmt.Sprintf("plantest: %q is not namespace/name", key))
	}
	labels := map[string]string{"app": name}
	set := &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("set-" + key), Generation: 1},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: name, Image: "registry.example/" + name + ":v1"}}},
			},
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
				Type:          appsv1.RollingUpdateDaemonSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDaemonSet{},
			},
		},
	}
	for _, option := range options {
		option(set)
	}
	return set
}

// Image gives the first container an image.
func Image(image string) SetOption {
	return func(set *appsv1.DaemonSet) { set.Spec.Template.Spec.Containers[0].Image = image }
}

// MaxUnavailable limits an update by a number such as "2" or a percentage such as "10%".
func MaxUnavailable(limit string) SetOption {
	return func(set *appsv1.DaemonSet) {
		value := intstr.Parse(limit)
		set.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = &value
	}
}

// MaxSurge has an update put new pods beside old ones; maxUnavailable is then 0, as the API
// asks for.
func MaxSurge(limit string) SetOption {
	return func(set *appsv1.DaemonSet) {
		zero, value := intstr.FromInt32(0), intstr.Parse(limit)
		set.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = &zero
		set.Spec.UpdateStrategy.RollingUpdate.MaxSurge = &value
	}
}

// OnDelete leaves updates to whoever deletes pods.
func OnDelete() SetOption {
	return func(set *appsv1.DaemonSet) {
		set.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
	}
}

// MinReady has pods count as available only after they have been ready for that long, which
// the API keeps in whole seconds.
func MinReady(d time.Duration) SetOption {
	return func(set *appsv1.DaemonSet) { set.Spec.MinReadySeconds = int32(d / time.Second) }
}

// Select has pods only on nodes with the label.
func Select(key, value string) SetOption {
	return func(set *appsv1.DaemonSet) {
		spec := &set.Spec.Template.Spec
		if spec.NodeSelector == nil {
			spec.NodeSelector = map[string]string{}
		}
		spec.NodeSelector[key] = value
	}
}

// Tolerate has pods also on nodes with the taint, written as for [Taint].
func Tolerate(taint string) SetOption {
	return func(set *appsv1.DaemonSet) {
		t := parseTaint(taint)
		spec := &set.Spec.Template.Spec
		spec.Tolerations = append(spec.Tolerations, corev1.Toleration{
			Key: t.Key, Operator: corev1.TolerationOpEqual, Value: t.Value, Effect: t.Effect,
		})
	}
}

// Generation sets metadata.generation, which is 1 otherwise.
func Generation(generation int64) SetOption {
	return func(set *appsv1.DaemonSet) { set.Generation = generation }
}
