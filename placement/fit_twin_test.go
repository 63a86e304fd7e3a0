package placement_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/daemonplan/daemonplan/placement"
)

// The twin of Fit: section by section as the rules are told, with maps and without thought
// for cost.

// thousandths reads a list as an API server keeps it.
func thousandths(l corev1.ResourceList) map[string]int64 {
	out := map[string]int64{}
	for name, q := range l {
		out[string(name)] = q.ScaledValue(resource.Milli)
	}
	return out
}

// twinContainer returns what a container asks for, limits standing in.
func twinContainer(c corev1.Container) map[string]int64 {
	out := thousandths(c.Resources.Limits)
	maps.Copy(out, thousandths(c.Resources.Requests))
	return out
}

// twinRequests takes the largest of all the phases of a pod's life, each of which is a set
// of containers that run at a time.
func twinRequests(spec *corev1.PodSpec) map[string]int64 {
	var phases [][]corev1.Container
	var beside []corev1.Container
	for _, c := range spec.InitContainers {
		phases = append(phases, append(slices.Clone(beside), c))
		if c.RestartPolicy != nil && *c.RestartPolicy == "Always" {
			beside = append(beside, c)
		}
	}
	phases = append(phases, append(slices.Clone(beside), spec.Containers...))
	total := map[string]int64{}
	for _, phase := range phases {
		sum := map[string]int64{}
		for _, c := range phase {
			for name, v := range twinContainer(c) {
				sum[name] += v
			}
		}
		for name, v := range sum {
			total[name] = max(total[name], v)
		}
	}
	if spec.Resources != nil {
		for name, v := range thousandths(spec.Resources.Requests) {
			if name == "cpu" || name == "memory" {
				total[name] = v
			}
		}
	}
	for name, v := range thousandths(spec.Overhead) {
		total[name] += v
	}
	for name, v := range total {
		if name != "cpu" {
			total[name] = (v + 999) / 1000
		}
	}
	return total
}

type twinPort struct {
	protocol, address string
	number            int32
}

func twinPorts(spec *corev1.PodSpec) []twinPort {
	running := slices.Clone(spec.Containers)
	for _, c := range spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == "Always" {
			running = append(running, c)
		}
	}
	var ports []twinPort
	for _, c := range running {
		for _, p := range c.Ports {
			number := p.HostPort
			if spec.HostNetwork && number == 0 {
				number = p.ContainerPort
			}
			if number > 0 {
				ports = append(ports, twinPort{protocol: orElse(string(p.Protocol), "TCP"), address: orElse(p.HostIP, "0.0.0.0"), number: number})
			}
		}
	}
	return ports
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// twinClash also says it of a port with itself.
func twinClash(a, b twinPort) bool {
	sameAddress := a.address == b.address || a.address == "0.0.0.0" || b.address == "0.0.0.0"
	return a.number == b.number && a.protocol == b.protocol && sameAddress
}

// twinFit returns the three answers (want, schedule, keep) and the codes of what is in the
// way.
func twinFit(spec *corev1.PodSpec, n *corev1.Node, pods, own []*corev1.Pod) (answers []bool, codes []string) {
	wants, schedules, keeps := true, true, true
	note := func(code placement.Code, what string) { codes = append(codes, string(code)+" "+what) }
	var others []*corev1.Pod
	for _, p := range pods {
		if !slices.Contains(own, p) && p.Status.Phase != corev1.PodFailed && p.Status.Phase != corev1.PodSucceeded {
			others = append(others, p)
		}
	}
	allocatable := thousandths(n.Status.Allocatable)
	if spec.PriorityClassName != "system-node-critical" {
		if int64(len(others)+1)*1000 > allocatable["pods"] {
			schedules = false
			note(placement.InsufficientResources, "pods")
		}
		used := map[string]int64{}
		for _, p := range others {
			for name, v := range twinRequests(&p.Spec) {
				used[name] += v
			}
		}
		for name, v := range twinRequests(spec) {
			has := allocatable[name]
			if name != "cpu" {
				has /= 1000
			}
			if v > 0 && used[name]+v > has {
				schedules = false
				note(placement.InsufficientResources, name)
			}
		}
	}
	for _, mine := range twinPorts(spec) {
		for _, p := range others {
			if slices.ContainsFunc(twinPorts(&p.Spec), func(theirs twinPort) bool { return twinClash(mine, theirs) }) {
				wants, schedules, keeps = false, false, false
				note(placement.HostPortTaken, fmt.Sprintf("%s %s:%d", mine.protocol, mine.address, mine.number))
			}
		}
	}
	evaluated := placement.NewMatcher(spec, placement.Options{}).Evaluate(n) // has a twin of its own
	for _, f := range evaluated.Findings {
		note(f.Code, "")
	}
	if evaluated.Decision != placement.Run {
		wants, schedules = false, false
		keeps = keeps && evaluated.Decision == placement.Keep
	}
	bare := spec.DeepCopy()
	bare.Overhead = nil // it is not the pod's own wish
	asked := twinRequests(bare)
	for _, c := range n.Status.Conditions {
		minds := c.Type == corev1.NodeDiskPressure || c.Type == corev1.NodeMemoryPressure && asked["cpu"] == 0 && asked["memory"] == 0
		if minds && c.Status == corev1.ConditionTrue {
			schedules = false
			note(placement.Code("Node"+c.Type), "")
		}
	}
	slices.Sort(codes)
	return []bool{wants, schedules, keeps}, slices.Compact(codes)
}

// twinWorld makes up a template, a node and its pods.
type twinWorld struct{ *rand.Rand }

func oneOf[T any](w twinWorld, from ...T) T { return from[w.IntN(len(from))] }

func (w twinWorld) list() corev1.ResourceList {
	l := corev1.ResourceList{}
	for _, name := range []string{"cpu", "memory", "example.com/gpu"} {
		if w.IntN(4) == 0 {
			l[corev1.ResourceName(name)] = *quantity(oneOf(w, "1", "2", "500m", "3", "1001m"))
		}
	}
	return l
}

func (w twinWorld) spec() *corev1.PodSpec {
	s := &corev1.PodSpec{HostNetwork: w.IntN(5) == 0, PriorityClassName: oneOf(w, "", "", "", "", "system-node-critical")}
	for range 1 + w.IntN(2) {
		s.Containers = append(s.Containers, w.container())
	}
	for range w.IntN(3) {
		c := w.container()
		if w.IntN(2) == 0 {
			c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		}
		s.InitContainers = append(s.InitContainers, c)
	}
	if w.IntN(5) == 0 {
		s.Overhead = w.list()
	}
	if w.IntN(5) == 0 {
		s.Resources = &corev1.ResourceRequirements{Requests: w.list()}
	}
	if w.IntN(4) == 0 {
		s.NodeSelector = set{"zone": oneOf(w, "a", "b")}
	}
	return s
}

func (w twinWorld) container() corev1.Container {
	c := corev1.Container{Resources: corev1.ResourceRequirements{Requests: w.list()}}
	if w.IntN(4) == 0 {
		c.Resources.Limits = w.list()
	}
	if w.IntN(3) == 0 {
		c.Ports = []corev1.ContainerPort{{
			HostPort: int32(w.IntN(3)), ContainerPort: int32(1 + w.IntN(2)),
			HostIP: oneOf(w, "", "0.0.0.0", "10.0.0.1", "10.0.0.2"), Protocol: oneOf(w, "", corev1.ProtocolTCP, corev1.ProtocolUDP),
		}}
	}
	return c
}

func (w twinWorld) node() *corev1.Node {
	n := node("n", set{"zone": oneOf(w, "a", "b")})
	n.Status.Allocatable = list("cpu", oneOf(w, "4", "9", "20"), "memory", oneOf(w, "8", "20"), "example.com/gpu", oneOf(w, "0", "6"), "pods", oneOf(w, "3", "9"))
	if w.IntN(4) == 0 {
		n.Spec.Taints = []corev1.Taint{taint(oneOf(w, "db:NoSchedule", "db:NoExecute", "db:PreferNoSchedule"))}
	}
	for _, kind := range []corev1.NodeConditionType{corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure} {
		if w.IntN(4) == 0 {
			n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: kind, Status: oneOf(w, corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown)})
		}
	}
	return n
}

// TestFitAgainstTwin compares answers and findings, and sees to it that every kind came up.
func TestFitAgainstTwin(t *testing.T) {
	w := twinWorld{rand.New(rand.NewPCG(7, 11))}
	came := map[string]int{}
	for range 10_000 {
		spec, n := w.spec(), w.node()
		var pods, own []*corev1.Pod
		for i := range w.IntN(5) {
			p := podOf(fmt.Sprint("p", i), w.spec())
			p.Status.Phase = oneOf(w, "", corev1.PodRunning, corev1.PodRunning, corev1.PodRunning, corev1.PodFailed, corev1.PodSucceeded)
			pods = append(pods, p)
			if w.IntN(6) == 0 {
				own = append(own, p)
			}
		}
		answers, codes := twinFit(spec, n, pods, own)
		got := placement.NewFitter(spec, placement.FitOptions{}).Fit(n, placement.NewOccupancy(pods...), own...)
		var found []string
		for _, f := range got.Findings {
			what := ""
			if f.Contention != nil {
				what = f.Contention.Subject
			}
			found = append(found, string(f.Code)+" "+what)
			came[string(f.Code)]++
		}
		slices.Sort(found)
		require.Equal(t, codes, slices.Compact(found), "%+v\n%+v", spec, n)
		require.Equal(t, answers, []bool{got.Decision.Wants(), got.Decision.Schedules(), got.Decision.Keeps()}, "%v", found)
		came[got.Decision.String()]++
	}
	for _, what := range []string{
		"Run", "Suspend", "Keep", "Evict", "InsufficientResources", "HostPortTaken", "NodeMemoryPressure", "NodeDiskPressure",
		"NodeSelectorMismatch", "UntoleratedNoScheduleTaint", "UntoleratedNoExecuteTaint",
	} {
		assert.Greater(t, came[what], 50, "%s came up too rarely", what)
	}
	t.Log(came)
}
