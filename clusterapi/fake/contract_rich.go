package fake

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/placement"
)

// ownGrace is a grace period that nobody has by default.
const ownGrace int64 = 41

// richPod has something in most places where an adapter could lose it. It is meant for a
// node, as the Driver's pods are.
func (c *contract) richPod(name, node string, owner *appsv1.DaemonSet) *corev1.Pod {
	pod := c.pod(name, owner)
	pod.Labels["example.com/contract"] = "label"
	pod.Annotations = map[string]string{"example.com/contract": "annotation"}
	grace, seconds, user := ownGrace, int64(17), int64(1000)
	pod.Spec.TerminationGracePeriodSeconds = &grace
	pod.Spec.Affinity = placement.PinTo(nil, node)
	pod.Spec.NodeSelector = map[string]string{"example.com/contract": "selector"}
	pod.Spec.Tolerations = []corev1.Toleration{
		{Key: "example.com/contract", Operator: corev1.TolerationOpEqual, Value: "yes", Effect: corev1.TaintEffectNoSchedule},
		{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds},
	}
	pod.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: &user}
	pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	pod.Spec.InitContainers = []corev1.Container{{Name: "init", Image: "example.com/init:1"}}
	main := &pod.Spec.Containers[0]
	main.Args = []string{"--one", "--two"}
	main.Env = []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: "2"}}
	main.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m")}
	main.VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	return pod
}

// richRevision has all that a revision can have.
func (c *contract) richRevision(name string, owner *appsv1.DaemonSet) *appsv1.ControllerRevision {
	revision := c.revision(name, owner)
	revision.Labels = map[string]string{"app": "agent", appsv1.ControllerRevisionHashLabelKey: "abc"}
	revision.Annotations = map[string]string{"example.com/contract": "annotation"}
	revision.Data.Raw = []byte(`{"spec":{"template":{"$patch":"replace","spec":{"a":null,"large":9007199254740993,"list":[1,"two"]}}}}`)
	revision.Revision = 3
	return revision
}

// richStatus has something in every field.
func richStatus() appsv1.DaemonSetStatus {
	collisions := int32(8)
	return appsv1.DaemonSetStatus{
		CurrentNumberScheduled: 1, NumberMisscheduled: 2, DesiredNumberScheduled: 3, NumberReady: 4,
		ObservedGeneration: 1, UpdatedNumberScheduled: 5, NumberAvailable: 6, NumberUnavailable: 7,
		CollisionCount: &collisions,
		Conditions: []appsv1.DaemonSetCondition{{
			Type: "Contract", Status: corev1.ConditionTrue, Reason: "Contract", Message: "kept",
			LastTransitionTime: metav1.Unix(1700000000, 0),
		}},
	}
}

// storedPod is the pod on the server. It is looked at by a patch, because no read shows it.
func (c *contract) storedPod(t *testing.T, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	stored, err := c.api.PatchPod(t.Context(), refOf(pod), []byte(`{"metadata":{"annotations":{"contract":"1"}}}`))
	must(t, "PatchPod, which looks at the pod", err)
	return stored
}
