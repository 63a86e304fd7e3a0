package script

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
)

// amounts reads "cpu:500m,memory:1Gi" into a list of resources.
func amounts(to *corev1.ResourceList) func(string) error {
	return func(value string) error {
		list := corev1.ResourceList{}
		for pair := range strings.SplitSeq(value, ",") {
			name, amount, _ := strings.Cut(pair, ":")
			quantity, err := resource.ParseQuantity(amount)
			if err != nil {
				return err
			}
			list[corev1.ResourceName(name)] = quantity
		}
		*to = list
		return nil
	}
}

// hostPort gives the one container of a pod a port of the host.
func hostPort(spec *corev1.PodSpec) func(string) error {
	return func(value string) error {
		port := corev1.ContainerPort{}
		err := integer(&port.HostPort)(value)
		port.ContainerPort = port.HostPort
		spec.Containers[0].Ports = []corev1.ContainerPort{port}
		return err
	}
}

// addOther adds a pod of another owner: "other db node=a requests=cpu:500m".
//
//	node=N            where it runs
//	requests=R:Q,…    what its one container asks for
//	host-port=N       a port of the host
//	ended             it has come to its end
func (w *World) addOther(words []string) error {
	if err := someWords(words); err != nil {
		return err
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: words[0], UID: types.UID("uid-" + words[0])},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "other"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	w.snapshot.Objects.Others = append(w.snapshot.Objects.Others, pod)
	return options{
		"node":      text(&pod.Spec.NodeName),
		"requests":  amounts(&pod.Spec.Containers[0].Resources.Requests),
		"host-port": hostPort(&pod.Spec),
		"ended":     func(string) error { pod.Status.Phase = corev1.PodSucceeded; return nil },
	}.read(words[1:])
}

func (w *World) removeOthers(names []string) {
	others := &w.snapshot.Objects.Others
	*others = slices.DeleteFunc(*others, func(p *corev1.Pod) bool { return slices.Contains(names, p.Name) })
}

// remember hands the suspensions of the last plan on to the next: "remember".
func (w *World) remember([]string) error {
	w.snapshot.Suspended = w.last.Suspended
	return nil
}

// fit has the controller place the pods itself.
func fit(o *daemonset.Options) func(string) error {
	return func(string) error { o.Fit = &placement.FitOptions{}; return nil }
}

// surgePolicy reads the name of a surge policy.
func surgePolicy(to *daemonset.SurgePolicy) func(string) error {
	return func(value string) error {
		switch value {
		case "with-room":
			*to = daemonset.SurgeWithRoom
		case "or-replace":
			*to = daemonset.SurgeOrReplace
		default:
			return unknownKind("surge policy", value)
		}
		return nil
	}
}
