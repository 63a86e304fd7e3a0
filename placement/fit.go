package placement

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// FitOptions select what a [Fitter] judges. With the zero value that is what the template,
// the node and the node's other pods say by themselves.
//
// Three things that the scheduler of Kubernetes v1.37.2 judges are not known here:
//
//   - CSI migration. A disk that is written as one of a cloud (gcePersistentDisk and the like)
//     is counted against the limit of that kind in the node's allocatable, not together with
//     the volumes of the CSI driver that serves it in fact.
//   - Ephemeral volumes of the template. Their claims do not exist before the pod does, so
//     neither zone nor count is judged. Those of other pods are, as claims.
//   - Dynamic resource allocation. Nothing is judged or allocated for spec.resourceClaims: a
//     pod with such claims that is bound to a node does not start there unless somebody else
//     allocates them.
type FitOptions struct {
	// Matching is what [NewMatcher] takes.
	Matching Options

	// Namespace is the set's, in which its claims are looked up.
	Namespace string

	// PersistentVolumes are the volumes that claims are bound to. Volume zones, counts of
	// claimed volumes and claims that only one pod may use (ReadWriteOncePod) are judged by
	// them; a claim that none of them is bound to is not judged. Nil elements, and volumes
	// that are released or failed, are passed over; of two for one claim the first counts.
	PersistentVolumes []*corev1.PersistentVolume

	// CSINodes say how many volumes a CSI driver attaches to the node of their name. Without
	// one a node's allocatable attachable-volumes-csi-DRIVER limits, if there is such.
	CSINodes []*storagev1.CSINode

	// RequiredLabels are keys of labels that a node must have, with whatever value, and
	// ExcludedLabels keys that it must not have (CheckNodeLabelPresence in Kubernetes v1.12).
	RequiredLabels, ExcludedLabels []string

	// NodeConditions also judges conditions that daemon pods tolerate as taints and that
	// Kubernetes therefore places them in spite of: Ready, which must be there and True,
	// PIDPressure, and NetworkUnavailable for pods outside the host's network. Like the
	// pressures they hold a pod back and take none away.
	NodeConditions bool
}

// Fitter is a pod template prepared for being placed by its controller on many nodes, beside
// the pods that run there. It is immutable, holds no reference to the template or the
// options it was built from and is safe for concurrent use. Build it with [NewFitter].
type Fitter struct {
	matcher    *Matcher
	requests   []amount    // more than nothing, cpu, memory and storage first, then by name
	invalid    []badAmount // by name
	critical   bool
	ports      []hostPort
	required   []string
	excluded   []string
	volumes    volumeRules
	conditions conditionRules
}

// NewFitter returns spec prepared for [Fitter.Fit]. spec is a template's, or a pod's: what an
// API server fills in when it creates the pod, limits as requests and host ports in the
// host's network, is filled in here. What admission adds is not: the overhead of a
// RuntimeClass, the defaults of a LimitRange. A nil spec is the empty spec.
//
// Resources are not judged for a critical pod, one of the priority classes
// system-node-critical and system-cluster-critical or of their priorities.
func NewFitter(spec *corev1.PodSpec, opts FitOptions) *Fitter {
	if spec == nil {
		spec = &corev1.PodSpec{}
	}
	f := &Fitter{
		matcher:    NewMatcher(spec, opts.Matching),
		critical:   isCritical(spec),
		ports:      hostPorts(spec),
		required:   slices.Sorted(slices.Values(opts.RequiredLabels)),
		excluded:   slices.Sorted(slices.Values(opts.ExcludedLabels)),
		volumes:    compileVolumes(spec, opts),
		conditions: compileConditions(spec, opts),
	}
	if !f.critical {
		f.compileRequests(spec)
	}
	return f
}

// isCritical goes by the name where admission has not put in the priority yet.
func isCritical(spec *corev1.PodSpec) bool {
	const systemCriticalPriority = 2_000_000_000
	switch {
	case spec.PriorityClassName == "system-node-critical" || spec.PriorityClassName == "system-cluster-critical":
		return true
	case spec.Priority != nil:
		return *spec.Priority >= systemCriticalPriority
	}
	return false
}

// Err returns what does not parse in the required node affinity, like [Matcher.Err].
func (f *Fitter) Err() error { return f.matcher.Err() }

// Fit judges whether the pod can be placed on node beside the pods counted in beside, as the
// controller of Kubernetes v1.12 did, which placed its pods itself. own are the set's own
// pods: those of them that are counted in beside are left out. A nil beside is an empty
// node, a nil own pod none.
//
// Run means that the pod fits. Suspend means that the set wants the node and has to wait for
// it. Keep and Evict mean what they mean for a [Matcher], except that Evict also follows from
// a host port that is taken and from [FitOptions.RequiredLabels]. [Code.Decision] says what
// follows from which finding.
//
// The findings hold every obstacle, in the order in which v1.12 checks: resources (pods,
// cpu, memory, ephemeral-storage, the others by name), the node's name, host ports as
// written, node selector and affinity, taints; then what v1.12 has a place for and does not
// check itself: label presence, volumes that conflict, volume zones, volume counts, memory
// pressure, disk pressure, and the conditions of [FitOptions.NodeConditions].
//
// A nil node is Undecided. The inputs are only read. A verdict of Run costs no allocation.
func (f *Fitter) Fit(node *corev1.Node, beside *Occupancy, own ...*corev1.Pod) Verdict {
	var space [8]int32
	rest := beside.without(own, space[:0])
	decision := f.decide(node, rest)
	if decision == Undecided || decision == Run {
		return Verdict{Decision: decision}
	}
	return Verdict{Decision: decision, Findings: f.explain(node, rest)}
}

// Decide returns the decision of [Fitter.Fit] without the evidence for it.
func (f *Fitter) Decide(node *corev1.Node, beside *Occupancy, own ...*corev1.Pod) Decision {
	var space [8]int32
	return f.decide(node, beside.without(own, space[:0]))
}

func (f *Fitter) decide(node *corev1.Node, rest others) Decision {
	decision := f.matcher.Decide(node)
	if decision == Undecided || decision == Evict {
		return decision
	}
	if !f.portsFree(rest) || !f.labelsFit(node) {
		return Evict
	}
	if decision == Run && !f.hasRoom(node, rest) {
		return Suspend
	}
	return decision
}

// hasRoom reports whether nothing holds the pod back that can go away by itself.
func (f *Fitter) hasRoom(node *corev1.Node, rest others) bool {
	return f.resourcesFit(node, rest) && f.volumes.fit(node, rest) && f.conditions.fit(node)
}

func (f *Fitter) explain(node *corev1.Node, rest others) []Finding {
	found := f.explainResources(nil, node, rest)
	found = f.matcher.explainName(found, node)
	found = f.explainPorts(found, rest)
	found = f.matcher.explainSelection(found, node)
	found = f.matcher.explainTaints(found, node)
	found = f.explainLabels(found, node)
	found = f.volumes.explain(found, node, rest)
	return f.conditions.explain(found, node)
}

// portsFree reports whether no other pod holds a host port that is asked for.
func (f *Fitter) portsFree(rest others) bool {
	if len(f.ports) == 0 {
		return true
	}
	for i := range rest.heldPorts() {
		held := &rest.ports[i]
		if slices.ContainsFunc(f.ports, held.port.clashes) && rest.has(held.pod) {
			return false
		}
	}
	return true
}

func (f *Fitter) explainPorts(found []Finding, rest others) []Finding {
	for _, port := range f.ports {
		holders := rest.sharers(func(h *holding) bool { return slices.ContainsFunc(h.ports, port.clashes) })
		if len(holders) == 0 {
			continue
		}
		c := taken(port.text(), holders)
		found = append(found, Finding{
			Code:       HostPortTaken,
			Field:      "spec.containers.ports",
			Contention: c,
			Detail:     "host port " + c.Subject + " is asked for and held by " + c.holdersText(),
		})
	}
	return found
}

// labelsFit judges the presence of labels.
func (f *Fitter) labelsFit(node *corev1.Node) bool {
	for _, key := range f.required {
		if _, has := node.Labels[key]; !has {
			return false
		}
	}
	for _, key := range f.excluded {
		if _, has := node.Labels[key]; has {
			return false
		}
	}
	return true
}

func (f *Fitter) explainLabels(found []Finding, node *corev1.Node) []Finding {
	for _, key := range f.required {
		if _, has := node.Labels[key]; !has {
			found = append(found, Finding{Code: NodeLabelPresence, Detail: "the node must have a label " + clip(key) + " and has none"})
		}
	}
	for _, key := range f.excluded {
		if value, has := node.Labels[key]; has {
			found = append(found, Finding{Code: NodeLabelPresence, Detail: "the node must not have a label " + clip(key) + " and has " + quote(value)})
		}
	}
	return found
}

// sharers returns the pods, of those not left out, of which holds is true.
func (o others) sharers(holds func(*holding) bool) []share {
	var shares []share
	for i := range o.Len() {
		if o.has(int32(i)) && holds(&o.pods[i]) {
			shares = append(shares, share{pod: &o.pods[i], amount: 1})
		}
	}
	return shares
}

// taken returns the contention for something of which there is one.
func taken(subject string, holders []share) *Contention {
	count := quantityOf("")
	c := &Contention{Subject: subject, Asked: count(1), Free: count(0), Allocatable: count(1), single: true}
	c.hold(holders, count)
	return c
}

// byRank orders resources for findings: cpu, memory and storage first.
func byRank(a, b amount) int {
	return cmp.Or(cmp.Compare(rank(a.name), rank(b.name)), cmp.Compare(a.name, b.name))
}

func rank(name corev1.ResourceName) int {
	first := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}
	if at := slices.Index(first, name); at >= 0 {
		return at
	}
	return len(first)
}
