package upstream_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/daemonplan/daemonplan/placement"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/examples/upstream"
)

// fitCase is a template with the pod that is made of it, a node and its other pods.
type fitCase struct {
	template corev1.PodSpec
	pod      *corev1.Pod
	node     *corev1.Node
	others   []*corev1.Pod
	volumes  upstream.Claims

	critical, notAdmitted, beyond, negativeOther bool
}

// dealer makes up cases.
type dealer struct{ *rand.Rand }

// amountOf is a quantity as it arrives from an API server: in canonical form. Of what was
// parsed as "1.5Gi" the stock code would share the memory, and add an overhead twice.
func amountOf(text string) resource.Quantity {
	q := resource.MustParse(text)
	return resource.MustParse(q.String())
}

func (d dealer) oneIn(n int) bool { return d.IntN(n) == 0 }

func choose[T any](d dealer, from ...T) T { return from[d.IntN(len(from))] }

func newFitCase(random *rand.Rand) *fitCase {
	d := dealer{random}
	c := &fitCase{node: d.node(), template: d.spec()}
	for i := range d.IntN(6) {
		c.others = append(c.others, d.other(i))
	}
	d.claim(c)
	d.spoil(c)
	c.template.Tolerations = d.tolerations()
	c.pod = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "agent-x", UID: "agent-x"}, Spec: *c.template.DeepCopy()}
	c.pod.Spec.Tolerations = placement.Tolerations(&c.template)
	return c
}

// spoil puts in what an API server would refuse, or treats apart, once in a while.
func (d dealer) spoil(c *fitCase) {
	first := &c.template.Containers[0].Resources
	if first.Requests == nil {
		first.Requests = corev1.ResourceList{}
	}
	switch d.IntN(200) {
	case 0:
		c.critical = true
		c.template.PriorityClassName = choose(d, "system-node-critical", "system-cluster-critical")
	case 1:
		c.notAdmitted = true
		first.Requests[choose[corev1.ResourceName](d, "gpu", "requests.example.com/x", "storage", "pods")] = amountOf("1")
	case 2:
		c.notAdmitted = true
		first.Requests["example.com/tpu"] = amountOf("-1")
	case 3:
		c.beyond = true
		c.node.Status.Allocatable[corev1.ResourceMemory] = amountOf(choose(d, "1e19", "1e30", "20E"))
	case 4, 5, 6, 7, 8, 9:
		if len(c.others) > 0 {
			c.negativeOther = true
			c.others[0].Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: amountOf("-8")}
		}
	}
}

func (d dealer) node() *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{}}}
	n.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU:              amountOf(choose(d, "2", "4", "8", "3999m", "16000m")),
		corev1.ResourceMemory:           amountOf(choose(d, "1Gi", "4Gi", "8G", "16Gi", "2000000001")),
		corev1.ResourceEphemeralStorage: amountOf(choose(d, "10Gi", "5G", "20Gi")),
		corev1.ResourcePods:             amountOf(choose(d, "110", "10", "5", "3")),
		"hugepages-2Mi":                 amountOf(choose(d, "0", "64Mi", "256Mi")),
		"example.com/gpu":               amountOf(choose(d, "0", "1", "4", "8")),
	}
	if d.oneIn(10) {
		delete(n.Status.Allocatable, choose[corev1.ResourceName](d, "cpu", "memory", "pods", "hugepages-2Mi", "example.com/gpu"))
	}
	if d.oneIn(50) {
		n.Status.Allocatable[choose[corev1.ResourceName](d, "cpu", "memory", "example.com/gpu")] = amountOf("-1")
	}
	if d.oneIn(20) {
		n.Status.Capacity, n.Status.Allocatable = n.Status.Allocatable, nil
		n.Status.Allocatable = map[bool]corev1.ResourceList{true: nil, false: n.Status.Capacity}[d.oneIn(2)]
		if n.Status.Allocatable == nil {
			n.Status.Allocatable = n.Status.Capacity.DeepCopy()
			delete(n.Status.Capacity, "pods")
		}
	}
	for _, key := range []string{"zone", "disk", corev1.LabelTopologyZone, corev1.LabelFailureDomainBetaZone, corev1.LabelTopologyRegion} {
		if d.oneIn(3) {
			n.Labels[key] = choose(d, "a", "b", "7")
		}
	}
	for range d.IntN(3) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{
			Key:    choose(d, "dedicated", "spot", corev1.TaintNodeUnschedulable, corev1.TaintNodeNotReady),
			Value:  choose(d, "", "x"),
			Effect: choose(d, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule),
		})
	}
	return n
}

func (d dealer) tolerations() []corev1.Toleration {
	var list []corev1.Toleration
	for range d.IntN(4) {
		list = append(list, corev1.Toleration{
			Key:      choose(d, "dedicated", "spot", ""),
			Operator: choose(d, corev1.TolerationOpExists, corev1.TolerationOpEqual, ""),
			Value:    choose(d, "", "x"),
			Effect:   choose(d, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, ""),
		})
	}
	return list
}

// quantities are of all notations and finenesses, so that rounding shows.
func (d dealer) list() corev1.ResourceList {
	l := corev1.ResourceList{}
	if d.oneIn(2) {
		l[corev1.ResourceCPU] = amountOf(choose(d, "0", "100m", "250m", "1", "1500m", "1500u", "333333n", "0.1"))
	}
	if d.oneIn(2) {
		l[corev1.ResourceMemory] = amountOf(choose(d, "0", "64Mi", "1Gi", "100M", "100m", "1.5Gi", "1000001"))
	}
	if d.oneIn(4) {
		l[corev1.ResourceEphemeralStorage] = amountOf(choose(d, "1Gi", "4Gi", "2G", "1500m"))
	}
	if d.oneIn(6) {
		l["example.com/gpu"] = amountOf(choose(d, "0", "1", "2"))
	}
	return l
}

func (d dealer) container(name string) corev1.Container {
	c := corev1.Container{Name: name}
	if !d.oneIn(4) {
		c.Resources.Requests = d.list()
	}
	if d.oneIn(4) {
		c.Resources.Limits = d.list()
	}
	if d.oneIn(8) { // huge pages are the same in both
		pages := amountOf(choose(d, "2Mi", "64Mi", "128Mi"))
		if c.Resources.Limits == nil {
			c.Resources.Limits = corev1.ResourceList{}
		}
		c.Resources.Limits["hugepages-2Mi"] = pages
		if c.Resources.Requests != nil {
			c.Resources.Requests["hugepages-2Mi"] = pages
		}
	}
	for range d.IntN(3) {
		c.Ports = append(c.Ports, corev1.ContainerPort{
			ContainerPort: int32(choose(d, 80, 8080, 8081, 9100)),
			HostPort:      int32(choose(d, 0, 0, 0, 8080, 8081)),
			HostIP:        choose(d, "", "0.0.0.0", "10.0.0.1", "10.0.0.2", "::"),
			Protocol:      choose(d, "", corev1.ProtocolTCP, corev1.ProtocolUDP),
		})
	}
	return c
}

func (d dealer) spec() corev1.PodSpec {
	var s corev1.PodSpec
	for i := range 1 + d.IntN(2) {
		s.Containers = append(s.Containers, d.container(fmt.Sprintf("c%d", i)))
	}
	for i := range d.IntN(3) {
		c := d.container(fmt.Sprintf("i%d", i))
		if d.oneIn(2) {
			c.RestartPolicy = new(choose(d, corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyAlways, "Never"))
		}
		s.InitContainers = append(s.InitContainers, c)
	}
	if d.oneIn(5) {
		s.Overhead = d.list()
	}
	if d.oneIn(5) {
		s.Resources = d.podLevel()
	}
	s.HostNetwork = d.oneIn(6)
	if s.HostNetwork { // as validation wants it
		fixHostPorts(s.Containers)
		fixHostPorts(s.InitContainers)
	}
	for i := range d.IntN(2) {
		s.Volumes = append(s.Volumes, corev1.Volume{Name: fmt.Sprintf("v%d", i), VolumeSource: d.disk()})
	}
	if d.oneIn(4) {
		s.NodeSelector = map[string]string{choose(d, "zone", "disk"): choose(d, "a", "b")}
	}
	if d.oneIn(4) {
		s.Affinity = d.affinity()
	}
	return s
}

func fixHostPorts(containers []corev1.Container) {
	for i := range containers {
		for j := range containers[i].Ports {
			if p := &containers[i].Ports[j]; p.HostPort != 0 {
				p.ContainerPort = p.HostPort
			}
		}
	}
}

func (d dealer) podLevel() *corev1.ResourceRequirements {
	var r corev1.ResourceRequirements
	if d.oneIn(2) {
		r.Requests = d.list()
	}
	if d.oneIn(2) {
		r.Limits = d.list()
	}
	if d.oneIn(4) {
		pages := amountOf("64Mi")
		r.Limits = corev1.ResourceList{"hugepages-2Mi": pages}
		r.Requests = choose(d, corev1.ResourceList(nil), corev1.ResourceList{"hugepages-2Mi": pages})
	}
	return &r
}

func (d dealer) disk() corev1.VolumeSource {
	ro := d.oneIn(2)
	switch d.IntN(5) {
	case 0:
		return corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: choose(d, "p", "q"), ReadOnly: ro}}
	case 1:
		return corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: choose(d, "p", "q"), ReadOnly: ro}}
	case 2:
		return corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{IQN: choose(d, "p", "q"), ReadOnly: ro}}
	case 3:
		return corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{
			CephMonitors: [][]string{{"m1"}, {"m2", "m1"}, {"m3"}}[d.IntN(3)],
			RBDPool:      choose(d, "", "rbd", "fast"), RBDImage: "i", ReadOnly: ro,
		}}
	}
	return corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
}

func (d dealer) affinity() *corev1.Affinity {
	required := &corev1.NodeSelector{}
	for range d.IntN(3) {
		var term corev1.NodeSelectorTerm
		for range d.IntN(3) {
			operator := choose(d, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt)
			r := corev1.NodeSelectorRequirement{Key: choose(d, "zone", "disk"), Operator: operator}
			switch operator {
			case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
				r.Values = []string{choose(d, "a", "b")}
			case corev1.NodeSelectorOpGt:
				r.Values = []string{choose(d, "5", "9", "x")}
			case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpLt:
			}
			term.MatchExpressions = append(term.MatchExpressions, r)
		}
		required.NodeSelectorTerms = append(required.NodeSelectorTerms, term)
	}
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}}
}

// other is a pod on the node, now and then finished, or in the middle of a resize.
func (d dealer) other(i int) *corev1.Pod {
	name := fmt.Sprintf("other-%d", i)
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name)}, Spec: d.spec()}
	p.Status.Phase = choose(d, corev1.PodRunning, corev1.PodRunning, corev1.PodRunning, corev1.PodPending, corev1.PodSucceeded, corev1.PodFailed)
	if d.oneIn(2) {
		p.Status.ContainerStatuses = d.statuses(p.Spec.Containers)
		p.Status.InitContainerStatuses = d.statuses(p.Spec.InitContainers)
	}
	if d.oneIn(6) {
		p.Status.AllocatedResources = d.list()
		p.Status.Resources = &corev1.ResourceRequirements{Requests: d.list()}
	}
	if d.oneIn(5) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Reason: choose(d, corev1.PodReasonInfeasible, corev1.PodReasonDeferred)}}
	}
	return p
}

func (d dealer) statuses(containers []corev1.Container) []corev1.ContainerStatus {
	var list []corev1.ContainerStatus
	for i := range containers {
		s := corev1.ContainerStatus{Name: containers[i].Name}
		if d.oneIn(2) {
			s.AllocatedResources = d.list()
		}
		if d.oneIn(2) {
			s.Resources = &corev1.ResourceRequirements{Requests: d.list()}
		}
		list = append(list, s)
	}
	return list
}

// claim gives the template a claim with a volume that is in a zone.
func (d dealer) claim(c *fitCase) {
	if !d.oneIn(4) {
		return
	}
	c.template.Volumes = append(c.template.Volumes, corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
	}})
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv", Labels: map[string]string{}}}
	pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "ns", Name: "data"}
	for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelFailureDomainBetaZone, corev1.LabelTopologyRegion} {
		if d.oneIn(3) {
			pv.Labels[key] = choose(d, "a", "b", "a__b", "b__ 7", "a__", "")
		}
	}
	mode := choose(d, corev1.ReadWriteOncePod, corev1.ReadWriteMany, corev1.ReadWriteOnce)
	pv.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{mode}
	if len(c.others) > 0 && d.oneIn(3) {
		used := &c.others[0].Spec
		used.Volumes = append(used.Volumes, c.template.Volumes[len(c.template.Volumes)-1])
	}
	pvc := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv", AccessModes: pv.Spec.AccessModes}}
	c.volumes = upstream.Claims{Volumes: []*corev1.PersistentVolume{pv}, Claims: []*corev1.PersistentVolumeClaim{pvc}}
}

func firstWord(line string) string {
	word, _, _ := strings.Cut(line, " ")
	return word
}

func asJSON(what any) string {
	data, err := json.Marshal(what)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
