package placement_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/placement"
)

// fitRow is one rule: what there is, and what Fit makes of it.
type fitRow struct {
	name, why string
	spec      corev1.PodSpec
	opts      placement.FitOptions
	node      func(*corev1.Node) // on a node with 4 cpu, 8Gi, 20Gi of storage and 10 pods
	pods      []*corev1.Pod
	own       []*corev1.Pod
	want      placement.Decision
	findings  []string // code and detail
}

func (r fitRow) check(t *testing.T) {
	t.Helper()
	n := node("n", set{"zone": "a"})
	n.Status.Allocatable = list("cpu", "4", "memory", "8Gi", "ephemeral-storage", "20Gi", "pods", "10", "example.com/gpu", "2", "hugepages-2Mi", "64Mi")
	if r.node != nil {
		r.node(n)
	}
	fitter := placement.NewFitter(&r.spec, r.opts)
	beside := placement.NewOccupancy(r.pods...)
	got := fitter.Fit(n, beside, r.own...)
	var lines []string
	strictest := placement.Run
	for _, f := range got.Findings {
		lines = append(lines, string(f.Code)+": "+f.Detail)
		strictest = stricter(strictest, f.Code.Decision())
	}
	assert.Equal(t, r.findings, lines, r.why)
	assert.Equal(t, r.want, got.Decision, r.why)
	assert.Equal(t, strictest, got.Decision, "the decision is what the findings leave")
	assert.Equal(t, got.Decision, fitter.Decide(n, beside, r.own...))
}

// stricter returns what is left of a node by both.
func stricter(a, b placement.Decision) placement.Decision {
	order := map[placement.Decision]int{placement.Run: 0, placement.Suspend: 1, placement.Keep: 2, placement.Evict: 3}
	if order[a] > order[b] {
		return a
	}
	return b
}

func runRows(t *testing.T, rows []fitRow) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, r.check)
	}
}

func asking(pairs ...string) corev1.PodSpec { return container("", pairs...).Spec }

func TestFitResources(t *testing.T) {
	runRows(t, []fitRow{
		{name: "empty", why: "a pod that asks for nothing fits on an empty node", want: placement.Run},
		{name: "exactly", why: "all that is left may be taken", spec: asking("cpu", "1"), pods: []*corev1.Pod{container("a", "cpu", "3")}, want: placement.Run},
		{
			name: "one thousandth short", why: "holders are named, the largest first",
			spec: asking("cpu", "1001m"), pods: []*corev1.Pod{container("a", "cpu", "1"), container("b", "cpu", "2")},
			want:     placement.Suspend,
			findings: []string{"InsufficientResources: cpu: 1001m asked for, 1 free of 4; held by ns/b 2, ns/a 1"},
		},
		{
			name: "many holders", why: "the list is bounded, equals go by name",
			spec:     asking("memory", "1Gi"),
			pods:     []*corev1.Pod{container("e", "memory", "2Gi"), container("d", "memory", "1Gi"), container("c", "memory", "2Gi"), container("b", "memory", "2Gi"), container("a", "memory", "1Gi")},
			want:     placement.Suspend,
			findings: []string{"InsufficientResources: memory: 1Gi asked for, 0 free of 8Gi; held by ns/b 2Gi, ns/c 2Gi, ns/e 2Gi, and 2 more"},
		},
		{
			name: "every kind", why: "one finding a resource, in a fixed order",
			spec: asking("example.com/gpu", "3", "hugepages-2Mi", "128Mi", "ephemeral-storage", "21Gi", "memory", "9Gi", "cpu", "5"),
			node: func(n *corev1.Node) { n.Status.Allocatable["pods"] = *quantity("1") },
			pods: []*corev1.Pod{container("a")},
			want: placement.Suspend,
			findings: []string{
				"InsufficientResources: pods: 1 asked for, 0 free of 1; 1 are there",
				"InsufficientResources: cpu: 5 asked for, 4 free of 4",
				"InsufficientResources: memory: 9Gi asked for, 8Gi free of 8Gi",
				"InsufficientResources: ephemeral-storage: 21Gi asked for, 20Gi free of 20Gi",
				"InsufficientResources: example.com/gpu: 3 asked for, 2 free of 2",
				"InsufficientResources: hugepages-2Mi: 128Mi asked for, 64Mi free of 64Mi",
			},
		},
		{
			name: "unknown to the node", why: "a resource that the node does not name it does not have",
			spec: asking("example.com/fpga", "1"), want: placement.Suspend,
			findings: []string{"InsufficientResources: example.com/fpga: 1 asked for, 0 free of 0"},
		},
		{
			name: "negative allocatable", why: "it is reported as it is, and only where something is asked for",
			spec: asking("cpu", "100m", "memory", "0"),
			node: func(n *corev1.Node) {
				n.Status.Allocatable["cpu"], n.Status.Allocatable["memory"] = *quantity("-1"), *quantity("-1")
			},
			want:     placement.Suspend,
			findings: []string{"InsufficientResources: cpu: 100m asked for, -1 free of -1"},
		},
		{
			name: "overcommitted", why: "a node can hold more than it may",
			spec: asking("cpu", "1"), pods: []*corev1.Pod{container("a", "cpu", "6")}, want: placement.Suspend,
			findings: []string{"InsufficientResources: cpu: 1 asked for, -2 free of 4; held by ns/a 6"},
		},
		{
			name: "nothing allocatable", why: "a node without a number of pods takes none",
			node: func(n *corev1.Node) { n.Status.Allocatable = nil }, want: placement.Suspend,
			findings: []string{"InsufficientResources: pods: 1 asked for, 0 free of 0; 0 are there"},
		},
		{
			name: "capacity only", why: "an API server takes capacity for allocatable, and node templates have no more",
			spec: asking("cpu", "4"),
			node: func(n *corev1.Node) { n.Status.Capacity, n.Status.Allocatable = n.Status.Allocatable, nil },
			want: placement.Run,
		},
		{
			name: "negative request", why: "no API server admits it",
			spec: asking("cpu", "-1"), want: placement.Suspend,
			findings: []string{"InvalidRequest: cpu is asked for with a negative quantity"},
		},
		{
			name: "uncountable request", why: "it must not wrap around to something small",
			spec: asking("memory", "1e40", "cpu", "9223372036854775807"), want: placement.Suspend,
			findings: []string{
				"InvalidRequest: cpu is asked for with a quantity that is too large to count",
				"InvalidRequest: memory is asked for with a quantity that is too large to count",
			},
		},
		{
			name: "unknown resource", why: "the scheduler passes over it, an API server refuses the pod",
			spec: asking("gpu", "1", "requests.example.com/x", "1"), want: placement.Suspend,
			findings: []string{
				"InvalidRequest: gpu is no resource that a container can ask for",
				"InvalidRequest: requests.example.com/x is no resource that a container can ask for",
			},
		},
		{
			name: "uncountable", why: "more than an int64 is as much as an int64 holds",
			spec: asking("memory", "1Gi"), node: func(n *corev1.Node) { n.Status.Allocatable["memory"] = *quantity("1e30") },
			pods: []*corev1.Pod{container("a", "memory", "8Ei"), container("b", "memory", "8Ei")}, want: placement.Suspend,
			findings: []string{"InsufficientResources: memory: 1Gi asked for, -9223372036854775807 free of 9223372036854775807; held by ns/a 9223372036854775807, ns/b 9223372036854775807"},
		},
	})
}

func TestFitCritical(t *testing.T) {
	large := asking("cpu", "100", "gpu", "1")
	crowd := func(n *corev1.Node) { n.Status.Allocatable = list("pods", "0") }
	rows := []fitRow{{
		name: "ordinary", why: "resources count", spec: large, node: crowd, want: placement.Suspend,
		findings: []string{
			"InvalidRequest: gpu is no resource that a container can ask for",
			"InsufficientResources: pods: 1 asked for, 0 free of 0; 0 are there",
			"InsufficientResources: cpu: 100 asked for, 0 free of 0",
		},
	}}
	for _, class := range []string{"system-node-critical", "system-cluster-critical"} {
		critical := *large.DeepCopy()
		critical.PriorityClassName = class
		rows = append(rows, fitRow{name: class, why: "resources are left out", spec: critical, node: crowd, want: placement.Run})
	}
	byNumber := *large.DeepCopy()
	byNumber.Priority = new(int32(2_000_000_000))
	rows = append(rows, fitRow{name: "priority", why: "admission has put in the number", spec: byNumber, node: crowd, want: placement.Run})
	below := *large.DeepCopy()
	below.Priority = new(int32(1_999_999_999))
	rows = append(rows, fitRow{name: "below", why: "the system's priorities begin at two billion", spec: below, node: crowd, want: placement.Suspend, findings: rows[0].findings})
	ports := *byNumber.DeepCopy()
	ports.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80}}
	rows = append(rows, fitRow{
		name: "host port", why: "the other checks are the same", spec: ports, node: crowd, want: placement.Evict,
		pods:     []*corev1.Pod{listening("a", corev1.ContainerPort{HostPort: 80})},
		findings: []string{"HostPortTaken: host port TCP 0.0.0.0:80 is asked for and held by ns/a"},
	})
	runRows(t, rows)
}

func listening(name string, ports ...corev1.ContainerPort) *corev1.Pod {
	p := container(name)
	p.Spec.Containers[0].Ports = ports
	return p
}

func TestFitHostPorts(t *testing.T) {
	row := func(name, why string, ours, theirs corev1.ContainerPort, taken string) fitRow {
		r := fitRow{name: name, why: why, spec: listening("", ours).Spec, pods: []*corev1.Pod{listening("a", theirs)}, want: placement.Run}
		if taken != "" {
			r.want = placement.Evict
			r.findings = []string{"HostPortTaken: host port " + taken + " is asked for and held by ns/a"}
		}
		return r
	}
	port := func(number int32, address string, protocol corev1.Protocol) corev1.ContainerPort {
		return corev1.ContainerPort{HostPort: number, HostIP: address, Protocol: protocol}
	}
	rows := []fitRow{
		row("same", "defaults are TCP and all addresses", port(80, "", ""), port(80, "0.0.0.0", "TCP"), "TCP 0.0.0.0:80"),
		row("other number", "", port(80, "", ""), port(81, "", ""), ""),
		row("other protocol", "", port(80, "", "UDP"), port(80, "", "TCP"), ""),
		row("other address", "two addresses have a port each", port(80, "10.0.0.1", ""), port(80, "10.0.0.2", ""), ""),
		row("same address", "", port(80, "10.0.0.1", ""), port(80, "10.0.0.1", ""), "TCP 10.0.0.1:80"),
		row("ours on all addresses", "", port(80, "", ""), port(80, "10.0.0.2", ""), "TCP 0.0.0.0:80"),
		row("theirs on all addresses", "", port(80, "10.0.0.2", ""), port(80, "", ""), "TCP 10.0.0.2:80"),
		row("IPv6", "the scheduler of v1.37.2 takes :: for one address among others", port(80, "::", ""), port(80, "10.0.0.2", ""), ""),
		row("none", "no number is no port, nor is a negative one", port(0, "", ""), port(-1, "", ""), ""),
	}
	own := rows[0]
	own.name, own.why = "own", "a pod of the set makes room for its successor"
	own.own, own.want, own.findings = []*corev1.Pod{own.pods[0], nil, container("elsewhere")}, placement.Run, nil
	stranger := rows[0]
	stranger.name, stranger.why = "predecessor", "a pod of the same name and another UID is another pod"
	gone := own.pods[0].DeepCopy()
	gone.UID = "older"
	stranger.own = []*corev1.Pod{gone}

	host := rows[0]
	host.name, host.why = "host network", "there a container's port is the host's"
	host.spec = corev1.PodSpec{HostNetwork: true, Containers: []corev1.Container{{Ports: []corev1.ContainerPort{{ContainerPort: 80}}}}}
	sidecar := rows[0]
	sidecar.name, sidecar.why = "sidecar", "a restartable init container runs on"
	sidecar.spec = corev1.PodSpec{InitContainers: []corev1.Container{{RestartPolicy: new(corev1.ContainerRestartPolicyAlways), Ports: []corev1.ContainerPort{{HostPort: 80}}}}}
	initial := fitRow{name: "init container", why: "it is done when the pod runs", pods: rows[0].pods, want: placement.Run}
	initial.spec = corev1.PodSpec{InitContainers: []corev1.Container{{Ports: []corev1.ContainerPort{{HostPort: 80}}}}}
	finished := fitRow{name: "finished", why: "a pod that is done listens no more", spec: rows[0].spec, pods: []*corev1.Pod{rows[0].pods[0].DeepCopy()}, want: placement.Run}
	finished.pods[0].Status.Phase = corev1.PodFailed
	runRows(t, append(rows, own, stranger, host, sidecar, initial, finished))
}

func TestFitMatching(t *testing.T) {
	selecting := corev1.PodSpec{NodeSelector: set{"zone": "b"}}
	runRows(t, []fitRow{
		{
			name: "order", why: "as v1.12 checks: resources, name, host ports, selector, taints, the rest",
			spec: func() corev1.PodSpec {
				s := *selecting.DeepCopy()
				s.NodeName = "other"
				s.Containers = listening("", corev1.ContainerPort{HostPort: 80}).Spec.Containers
				s.Containers[0].Resources = needs("cpu", "5")
				return s
			}(),
			node: func(n *corev1.Node) {
				n.Spec.Taints = []corev1.Taint{taint("db:NoSchedule")}
				n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue, Reason: "KubeletHasDiskPressure"}}
			},
			pods: []*corev1.Pod{listening("a", corev1.ContainerPort{HostPort: 80})},
			opts: placement.FitOptions{RequiredLabels: []string{"rack"}, ExcludedLabels: []string{"zone"}},
			want: placement.Evict,
			findings: []string{
				"InsufficientResources: cpu: 5 asked for, 4 free of 4",
				`NodeNameMismatch: the template names node "other", this one is "n"`,
				"HostPortTaken: host port TCP 0.0.0.0:80 is asked for and held by ns/a",
				`NodeSelectorMismatch: zone must be "b", the node has "a"`,
				"UntoleratedNoScheduleTaint: taint db:NoSchedule is not tolerated",
				"NodeLabelPresence: the node must have a label rack and has none",
				`NodeLabelPresence: the node must not have a label zone and has "a"`,
				`NodeDiskPressure: the node's condition DiskPressure is "True", KubeletHasDiskPressure`,
			},
		},
		{
			name: "taint and no room", why: "a tainted node is not wanted, so nobody waits for room on it",
			spec: asking("cpu", "5"), node: func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{taint("db:NoSchedule")} },
			want: placement.Keep,
			findings: []string{
				"InsufficientResources: cpu: 5 asked for, 4 free of 4",
				"UntoleratedNoScheduleTaint: taint db:NoSchedule is not tolerated",
			},
		},
		{
			name: "NoExecute", why: "no pod may stay",
			node: func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{taint("db:NoExecute")} }, want: placement.Evict,
			findings: []string{"UntoleratedNoExecuteTaint: taint db:NoExecute is not tolerated"},
		},
		{
			name: "labels present", why: "a value is not asked for",
			node: func(n *corev1.Node) { n.Labels["rack"] = "" },
			opts: placement.FitOptions{RequiredLabels: []string{"zone", "rack"}, ExcludedLabels: []string{"edge"}}, want: placement.Run,
		},
	})
}

func TestFitConditions(t *testing.T) {
	with := func(conditions ...corev1.NodeCondition) func(*corev1.Node) {
		return func(n *corev1.Node) { n.Status.Conditions = conditions }
	}
	is := func(kind corev1.NodeConditionType, status corev1.ConditionStatus) corev1.NodeCondition {
		return corev1.NodeCondition{Type: kind, Status: status}
	}
	limited := corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: list("memory", "1Gi")}}}}
	whole := corev1.PodSpec{Resources: &corev1.ResourceRequirements{Requests: list("cpu", "1")}}
	bad := with(is(corev1.NodePIDPressure, "True"), is(corev1.NodeReady, "Unknown"), is(corev1.NodeNetworkUnavailable, "True"))
	judged := placement.FitOptions{NodeConditions: true}
	memory := []string{`NodeMemoryPressure: the node's condition MemoryPressure is "True"`}
	runRows(t, []fitRow{
		{name: "none", why: "conditions that are missing say nothing", want: placement.Run},
		{name: "memory, best-effort", why: "such a pod would be evicted first", node: with(is(corev1.NodeMemoryPressure, "True")), want: placement.Suspend, findings: memory},
		{name: "memory, storage only", why: "cpu and memory make the class", spec: asking("ephemeral-storage", "1Gi", "cpu", "0"), node: with(is(corev1.NodeMemoryPressure, "True")), want: placement.Suspend, findings: memory},
		{name: "memory, request", why: "not best-effort", spec: asking("memory", "1"), node: with(is(corev1.NodeMemoryPressure, "True")), want: placement.Run},
		{name: "memory, limit", why: "not best-effort", spec: limited, node: with(is(corev1.NodeMemoryPressure, "True")), want: placement.Run},
		{name: "memory, pod level", why: "not best-effort", spec: whole, node: with(is(corev1.NodeMemoryPressure, "True")), want: placement.Run},
		{name: "disk", why: "no pod can do without", spec: limited, node: with(is(corev1.NodeDiskPressure, "True")), want: placement.Suspend, findings: []string{`NodeDiskPressure: the node's condition DiskPressure is "True"`}},
		{name: "unknown pressure", why: "it is not known to be there", node: with(is(corev1.NodeDiskPressure, "Unknown"), is(corev1.NodeMemoryPressure, "False")), want: placement.Run},
		{name: "not judged", why: "daemon pods tolerate these", node: bad, want: placement.Run},
		{
			name: "judged", why: "by option they hold a pod back", node: bad, opts: judged, want: placement.Suspend,
			findings: []string{
				`NodePIDPressure: the node's condition PIDPressure is "True"`,
				`NodeNetworkUnavailable: the node's condition NetworkUnavailable is "True"`,
				`NodeNotReady: the node's condition Ready is "Unknown"`,
			},
		},
		{name: "ready", why: "nothing in the way", node: with(is(corev1.NodeReady, "True"), is(corev1.NodePIDPressure, "False")), opts: judged, want: placement.Run},
		{name: "no Ready", why: "a node that never reported is not ready", opts: judged, want: placement.Suspend, findings: []string{"NodeNotReady: the node has no condition Ready"}},
		{name: "host network", why: "it does not need the pod network", spec: corev1.PodSpec{HostNetwork: true}, node: with(is(corev1.NodeReady, "True"), is(corev1.NodeNetworkUnavailable, "True")), opts: judged, want: placement.Run},
	})
}

func TestFitUndecided(t *testing.T) {
	for _, spec := range []*corev1.PodSpec{nil, {}, agentSpec()} {
		fitter := placement.NewFitter(spec, placement.FitOptions{})
		assert.Equal(t, placement.Verdict{}, fitter.Fit(nil, nil, nil))
		assert.Equal(t, placement.Undecided, fitter.Decide(nil, placement.NewOccupancy(nil)))
		assert.NotPanics(t, func() { fitter.Fit(&corev1.Node{}, nil, nil, &corev1.Pod{}) })
	}
	broken := requiring(expressions(req("a", "Like")))
	require.ErrorContains(t, placement.NewFitter(&broken, placement.FitOptions{}).Err(), `operator "Like" is not known`)
}

// TestContention: the evidence is there for machines too.
func TestContention(t *testing.T) {
	spec := listening("", corev1.ContainerPort{HostPort: 80}).Spec
	spec.Containers[0].Resources = needs("memory", "5Gi")
	n := roomy("n")
	n.Status.Allocatable["memory"] = *quantity("6Gi")
	holder := container("a", "memory", "2Gi")
	holder.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80}}
	verdict := placement.NewFitter(&spec, placement.FitOptions{}).Fit(n, placement.NewOccupancy(holder))
	require.Len(t, verdict.Findings, 2)

	memory := verdict.Findings[0].Contention
	assert.Equal(t, "memory", memory.Subject)
	assert.Equal(t, "5Gi 4Gi 6Gi", fmt.Sprint(memory.Asked.String(), " ", memory.Free.String(), " ", memory.Allocatable.String()))
	require.Len(t, memory.Holders, 1)
	assert.Equal(t, holder.UID, memory.Holders[0].UID)
	assert.Equal(t, "2Gi", memory.Holders[0].Amount.String())

	port := verdict.Findings[1].Contention
	assert.Equal(t, "TCP 0.0.0.0:80", port.Subject)
	assert.Equal(t, "1 0 1", fmt.Sprint(port.Asked.String(), " ", port.Free.String(), " ", port.Allocatable.String()))
}

func TestDecisionAnswers(t *testing.T) {
	tests := []struct {
		give                   placement.Decision
		wants, schedules, keep bool
	}{
		{placement.Undecided, false, false, false},
		{placement.Run, true, true, true},
		{placement.Suspend, true, false, true},
		{placement.Keep, false, false, true},
		{placement.Evict, false, false, false},
	}
	for _, tt := range tests {
		assert.Equal(t, []bool{tt.wants, tt.schedules, tt.keep}, []bool{tt.give.Wants(), tt.give.Schedules(), tt.give.Keeps()}, tt.give)
	}
	assert.Equal(t, placement.Evict, placement.Code("unheard of").Decision(), "what is unknown forbids everything")
}
