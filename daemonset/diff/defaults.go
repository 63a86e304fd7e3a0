package diff

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// setDefaults fills in what a manifest may leave open, as Kubernetes v1.37.2 does for a
// DaemonSet. Its tests compare it with that release, in examples/upstream.
func setDefaults(set *appsv1.DaemonSet) {
	orDefault(&set.Spec.RevisionHistoryLimit, 10)
	strategy := &set.Spec.UpdateStrategy
	fill(&strategy.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if strategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		orDefault(&strategy.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
		orDefault(&strategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		orDefault(&strategy.RollingUpdate.MaxSurge, intstr.FromInt32(0))
	}
	defaultPodSpec(&set.Spec.Template.Spec)
}

// orDefault points p at value if it points at nothing.
func orDefault[T any](p **T, value T) {
	if *p == nil {
		*p = &value
	}
}

// fill gives p the value if it has none.
func fill[T comparable](p *T, value T) {
	var zero T
	if *p == zero {
		*p = value
	}
}

func defaultPodSpec(spec *corev1.PodSpec) {
	fill(&spec.ServiceAccountName, spec.DeprecatedServiceAccount)
	spec.DeprecatedServiceAccount = spec.ServiceAccountName
	fill(&spec.DNSPolicy, corev1.DNSClusterFirst)
	fill(&spec.RestartPolicy, corev1.RestartPolicyAlways)
	fill(&spec.SchedulerName, corev1.DefaultSchedulerName)
	orDefault(&spec.SecurityContext, corev1.PodSecurityContext{})
	orDefault(&spec.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			defaultContainer(&containers[i])
		}
	}
	for i := range spec.Volumes {
		defaultVolume(&spec.Volumes[i])
	}
	roundUp(spec.Overhead)
	if spec.Resources != nil {
		roundUp(spec.Resources.Limits)
		roundUp(spec.Resources.Requests)
	}
}

func defaultContainer(c *corev1.Container) {
	fill(&c.ImagePullPolicy, pullPolicy(c.Image))
	fill(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	fill(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	for i := range c.Ports {
		fill(&c.Ports[i].Protocol, corev1.ProtocolTCP)
	}
	for i := range c.Env {
		defaultEnv(c.Env[i].ValueFrom)
	}
	for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		defaultProbe(probe)
	}
	if c.Lifecycle != nil {
		for _, handler := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
			if handler != nil {
				defaultGet(handler.HTTPGet)
			}
		}
	}
	roundUp(c.Resources.Limits)
	roundUp(c.Resources.Requests)
}

// pullPolicy is Always for the tag latest, which an image without tag and digest has too.
func pullPolicy(image string) corev1.PullPolicy {
	name, _, hasDigest := strings.Cut(image, "@")
	_, tag, hasTag := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ":")
	if name != "" && (tag == "latest" || !hasTag && !hasDigest) {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

func defaultEnv(source *corev1.EnvVarSource) {
	if source == nil {
		return
	}
	defaultFieldRef(source.FieldRef)
	if source.FileKeyRef != nil {
		orDefault(&source.FileKeyRef.Optional, false)
	}
}

func defaultFieldRef(ref *corev1.ObjectFieldSelector) {
	if ref != nil {
		fill(&ref.APIVersion, "v1")
	}
}

func defaultProbe(probe *corev1.Probe) {
	if probe == nil {
		return
	}
	fill(&probe.TimeoutSeconds, 1)
	fill(&probe.PeriodSeconds, 10)
	fill(&probe.SuccessThreshold, 1)
	fill(&probe.FailureThreshold, 3)
	defaultGet(probe.HTTPGet)
	if probe.GRPC != nil {
		orDefault(&probe.GRPC.Service, "")
	}
}

func defaultGet(get *corev1.HTTPGetAction) {
	if get != nil {
		fill(&get.Path, "/")
		fill(&get.Scheme, corev1.URISchemeHTTP)
	}
}

// roundUp brings amounts to whole thousandths, than which the API keeps nothing finer.
func roundUp(list corev1.ResourceList) {
	for _, name := range sortedNames(list) {
		amount := list[name]
		amount.RoundUp(resource.Milli)
		list[name] = amount
	}
}
