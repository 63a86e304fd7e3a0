package placement_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/placement"
)

// asked returns what a template asks for, as it is said on a node that has nothing.
func asked(spec *corev1.PodSpec) map[string]string {
	n := node("n", nil)
	n.Status.Allocatable = list("pods", "1")
	got := map[string]string{}
	for _, f := range placement.NewFitter(spec, placement.FitOptions{}).Fit(n, nil).Findings {
		if f.Contention != nil {
			got[f.Contention.Subject] = f.Contention.Asked.String()
		}
	}
	return got
}

// held returns how much of cpu and memory a pod holds, as what is missing on a node that has
// nothing.
func held(pod *corev1.Pod) map[string]string {
	n := node("n", nil)
	n.Status.Allocatable = list("pods", "10")
	probe := asking("cpu", "1", "memory", "1", "hugepages-2Mi", "1")
	got := map[string]string{}
	for _, f := range placement.NewFitter(&probe, placement.FitOptions{}).Fit(n, placement.NewOccupancy(pod)).Findings {
		for _, h := range f.Contention.Holders {
			got[f.Contention.Subject] = h.Amount.String()
		}
	}
	return got
}

func init1(restarts bool, pairs ...string) corev1.Container {
	c := corev1.Container{Resources: needs(pairs...)}
	if restarts {
		c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
	}
	return c
}

func limited(c corev1.Container, pairs ...string) corev1.Container {
	c.Resources.Limits = list(pairs...)
	return c
}

// TestRequests: how requests are added up, in a template and in a pod that runs.
func TestRequests(t *testing.T) {
	one := corev1.Container{Resources: needs("cpu", "1")}
	tests := []struct {
		name, why string
		give      corev1.PodSpec
		want      map[string]string
	}{
		{"containers", "they run together", corev1.PodSpec{Containers: []corev1.Container{one, one}}, map[string]string{"cpu": "2"}},
		{"large init container", "it runs alone, and before", corev1.PodSpec{Containers: []corev1.Container{one}, InitContainers: []corev1.Container{init1(false, "cpu", "3"), init1(false, "cpu", "2")}}, map[string]string{"cpu": "3"}},
		{"small init container", "the containers need more", corev1.PodSpec{Containers: []corev1.Container{one, one}, InitContainers: []corev1.Container{init1(false, "cpu", "1")}}, map[string]string{"cpu": "2"}},
		{"sidecar", "it runs with the containers", corev1.PodSpec{Containers: []corev1.Container{one}, InitContainers: []corev1.Container{init1(true, "cpu", "2")}}, map[string]string{"cpu": "3"}},
		{"sidecar before", "and with the init containers after it", corev1.PodSpec{Containers: []corev1.Container{one}, InitContainers: []corev1.Container{init1(true, "cpu", "2"), init1(false, "cpu", "4")}}, map[string]string{"cpu": "6"}},
		{"sidecar after", "not with those before", corev1.PodSpec{Containers: []corev1.Container{one}, InitContainers: []corev1.Container{init1(false, "cpu", "4"), init1(true, "cpu", "2")}}, map[string]string{"cpu": "4"}},
		{"resource by resource", "the larger may be another each time", corev1.PodSpec{Containers: []corev1.Container{{Resources: needs("cpu", "2", "memory", "1")}}, InitContainers: []corev1.Container{init1(false, "cpu", "1", "memory", "2")}}, map[string]string{"cpu": "2", "memory": "2"}},
		{"overhead", "on top of either", corev1.PodSpec{Containers: []corev1.Container{one}, Overhead: list("cpu", "500m", "memory", "1Mi")}, map[string]string{"cpu": "1500m", "memory": "1Mi"}},
		{"limits", "an API server takes them for requests that are not named", corev1.PodSpec{Containers: []corev1.Container{limited(one, "cpu", "5", "memory", "1Gi")}}, map[string]string{"cpu": "1", "memory": "1Gi"}},
		{"rounding", "containers in thousandths, up; the sum in whole units, up", corev1.PodSpec{Containers: []corev1.Container{init1(false, "cpu", "1500u", "memory", "100m"), init1(false, "cpu", "1500u", "memory", "100m")}}, map[string]string{"cpu": "4m", "memory": "1"}},
		{"pod level", "in place of the containers, also if less, and under the overhead", corev1.PodSpec{Containers: []corev1.Container{{Resources: needs("cpu", "2", "memory", "1")}}, Resources: &corev1.ResourceRequirements{Requests: list("cpu", "1")}, Overhead: list("cpu", "1")}, map[string]string{"cpu": "2", "memory": "1"}},
		{"pod level, other resource", "only cpu, memory and huge pages are for the pod as a whole", corev1.PodSpec{Containers: []corev1.Container{{Resources: needs("ephemeral-storage", "2Gi")}}, Resources: &corev1.ResourceRequirements{Requests: list("ephemeral-storage", "1Gi")}}, map[string]string{"ephemeral-storage": "2Gi"}},
		{"pod level limits", "they stand in for what nobody asks for", corev1.PodSpec{Containers: []corev1.Container{one}, Resources: &corev1.ResourceRequirements{Limits: list("cpu", "7", "memory", "3")}}, map[string]string{"cpu": "1", "memory": "3"}},
		{"pod level huge pages", "their limit is their request", corev1.PodSpec{Containers: []corev1.Container{{Resources: needs("hugepages-2Mi", "2Mi")}}, Resources: &corev1.ResourceRequirements{Limits: list("hugepages-2Mi", "8Mi")}}, map[string]string{"hugepages-2Mi": "8Mi"}},
		{"zero", "asks for nothing", corev1.PodSpec{Containers: []corev1.Container{init1(false, "cpu", "0", "example.com/gpu", "0")}}, map[string]string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, asked(&tt.give), tt.why)
			inPod := held(podOf("a", &tt.give))
			for _, name := range []string{"cpu", "memory", "hugepages-2Mi"} {
				assert.Equal(t, tt.want[name], inPod[name], "a pod that runs holds what it asked for")
			}
		})
	}
}

// TestHeldWhileResized: what a pod holds while it is resized in place.
func TestHeldWhileResized(t *testing.T) {
	status := func(allocated, actual string) corev1.PodStatus {
		s := corev1.ContainerStatus{Name: "c"}
		if allocated != "" {
			s.AllocatedResources = list("cpu", allocated)
		}
		if actual != "" {
			s.Resources = &corev1.ResourceRequirements{Requests: list("cpu", actual)}
		}
		return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{s}}
	}
	pending := func(s corev1.PodStatus, reason string) corev1.PodStatus {
		s.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Reason: reason}}
		return s
	}
	wholePod := corev1.PodStatus{AllocatedResources: list("cpu", "5"), Resources: &corev1.ResourceRequirements{Requests: list("cpu", "4")}}
	tests := []struct {
		name, why string
		status    corev1.PodStatus
		pod       *corev1.ResourceRequirements
		want      string
	}{
		{"settled", "", status("2", "2"), nil, "2"},
		{"growing", "what is asked for is kept free", status("1", "1"), nil, "2"},
		{"shrinking", "what is in force is in use", status("2", "3"), nil, "3"},
		{"allocated", "what the kubelet promised is in use", status("3", "2"), nil, "3"},
		{"infeasible", "what cannot be had is not held", pending(status("1", "1"), corev1.PodReasonInfeasible), nil, "1"},
		{"infeasible and unreported", "nothing is known to be held", pending(status("", ""), corev1.PodReasonInfeasible), nil, ""},
		{"deferred", "it can still come", pending(status("1", "1"), corev1.PodReasonDeferred), nil, "2"},
		{"pod status", "it says what the containers have together", wholePod, nil, "5"},
		{"pod level", "the largest again", corev1.PodStatus{AllocatedResources: list("cpu", "5"), Resources: &corev1.ResourceRequirements{}}, &corev1.ResourceRequirements{Requests: list("cpu", "3")}, "5"},
		{"pod level, growing", "", corev1.PodStatus{Resources: &corev1.ResourceRequirements{Requests: list("cpu", "1")}}, &corev1.ResourceRequirements{Requests: list("cpu", "3")}, "3"},
		{"pod level, infeasible", "", pending(corev1.PodStatus{Resources: &corev1.ResourceRequirements{Requests: list("cpu", "1")}}, corev1.PodReasonInfeasible), &corev1.ResourceRequirements{Requests: list("cpu", "3")}, "1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pod := container("a", "cpu", "2")
			pod.Spec.Resources = tt.pod
			pod.Status = tt.status
			assert.Equal(t, tt.want, held(pod)["cpu"], tt.why)
		})
	}
}
