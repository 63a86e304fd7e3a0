package placement_test

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func quantity(text string) *resource.Quantity {
	q := resource.MustParse(text)
	return &q
}

// list reads pairs of resource and quantity.
func list(pairs ...string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		l[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return l
}

func needs(pairs ...string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: list(pairs...)}
}

func podOf(name string, spec *corev1.PodSpec) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("uid-" + name)}, Spec: *spec}
}

// container builds a pod of one container that asks for pairs.
func container(name string, pairs ...string) *corev1.Pod {
	return podOf(name, &corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Resources: needs(pairs...)}}})
}

func volume(source corev1.VolumeSource) corev1.Volume {
	return corev1.Volume{Name: "v", VolumeSource: source}
}

func claimed(name string) corev1.Volume {
	return volume(corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}})
}

// boundTo builds a CSI volume that is bound to a claim in namespace ns.
func boundTo(claim, driver, handle string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pv-" + claim},
		Spec: corev1.PersistentVolumeSpec{
			ClaimRef:               &corev1.ObjectReference{Namespace: "ns", Name: claim},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: handle}},
		},
	}
}
