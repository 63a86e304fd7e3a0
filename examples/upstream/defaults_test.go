package upstream_test

import (
	"testing"

	"github.com/daemonplan/daemonplan/daemonset/diff"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsdefaults "k8s.io/kubernetes/pkg/apis/apps/v1"
)

// TestDefaultsAreUpstreams applies manifests that leave open what can be left open, and
// compares with the defaults of Kubernetes itself.
func TestDefaultsAreUpstreams(t *testing.T) {
	probe := func(handler corev1.ProbeHandler) *corev1.Probe { return &corev1.Probe{ProbeHandler: handler} }
	get := &corev1.HTTPGetAction{}
	full := corev1.Container{
		Name: "full", Image: "registry.example:5000/agent",
		Ports: []corev1.ContainerPort{{ContainerPort: 1}, {ContainerPort: 2, Protocol: corev1.ProtocolUDP}},
		Env: []corev1.EnvVar{
			{Name: "a"},
			{Name: "b", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}},
			{Name: "c", ValueFrom: &corev1.EnvVarSource{FileKeyRef: &corev1.FileKeySelector{Key: "k"}}},
		},
		LivenessProbe:  probe(corev1.ProbeHandler{HTTPGet: get.DeepCopy()}),
		ReadinessProbe: probe(corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 1}}),
		StartupProbe:   probe(corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{}}),
		Lifecycle: &corev1.Lifecycle{
			PostStart: &corev1.LifecycleHandler{HTTPGet: get.DeepCopy()}, PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{}},
		},
		Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100500u")}},
	}
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		HostNetwork: true, DeprecatedServiceAccount: "agent",
		InitContainers: []corev1.Container{*full.DeepCopy()}, Containers: []corev1.Container{full},
		Volumes: []corev1.Volume{
			{Name: "empty"},
			{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}},
			{Name: "secret", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{}}},
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}},
			{Name: "down", VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{{FieldRef: &corev1.ObjectFieldSelector{}}, {}}}}},
			{Name: "projected", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{}},
				{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{FieldRef: &corev1.ObjectFieldSelector{}}}}},
			}}}},
			{Name: "iscsi", VolumeSource: corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{}}},
			{Name: "rbd", VolumeSource: corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{}}},
			{Name: "scale", VolumeSource: corev1.VolumeSource{ScaleIO: &corev1.ScaleIOVolumeSource{}}},
			{Name: "azure", VolumeSource: corev1.VolumeSource{AzureDisk: &corev1.AzureDiskVolumeSource{}}},
			{Name: "image", VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "a:latest"}}},
			{Name: "ephemeral", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{}}}},
		},
		Overhead:  corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1500m")},
		Resources: &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1n")}},
	}}
	for _, image := range []string{"a", "a:1", "a:latest", "h:1/a", "h:1/a:2", "a@sha256:" + digest, "a:latest@sha256:" + digest, "a:1@sha256:" + digest, ""} {
		template.Spec.Containers = append(template.Spec.Containers, corev1.Container{Image: image})
	}
	for _, strategy := range []appsv1.DaemonSetUpdateStrategy{{}, {Type: appsv1.OnDeleteDaemonSetStrategyType}, {RollingUpdate: &appsv1.RollingUpdateDaemonSet{}}} {
		manifest := &appsv1.DaemonSet{
			ObjectMeta: metav1.ObjectMeta{Name: "agent"},
			Spec:       appsv1.DaemonSetSpec{Template: template, UpdateStrategy: strategy},
		}
		got, err := diff.Apply(nil, manifest)
		require.NoError(t, err)
		want := manifest.DeepCopy()
		appsdefaults.SetObjectDefaults_DaemonSet(want)
		require.Empty(t, cmp.Diff(want.Spec, got.Spec))
	}
	require.Empty(t, template.Spec.DNSPolicy, "the manifest is only read")
}

const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
