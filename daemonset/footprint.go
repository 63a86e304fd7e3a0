package daemonset

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/placement"
)

// Footprint is what DaemonSets would put on a node that may not exist: what an autoscaler has
// to reckon with before anything else runs there.
type Footprint struct {
	// Pods are the pods that would run there, in the order in which they are placed: by
	// priority, the highest first, then by namespace and name of the set. They are what the
	// controller would create, named like their sets and without a node: the same pods stand
	// in the footprints of other nodes, and must not be written to.
	Pods []*corev1.Pod
	// Requests are what the pods ask for together, "pods" included.
	Requests corev1.ResourceList
	// Absent are the sets of which no pod would run there, by namespace and name.
	Absent []Absence
}

// Absence says why a DaemonSet has no pod on a node.
type Absence struct {
	Set     Ref
	Verdict placement.Verdict // Suspend if only room is lacking
	Err     error             // an *InvalidError if no pod can be made for the set at all
}

// Footprints judges nodes for many DaemonSets, each prepared once. Make one with
// NewFootprints. It is safe for concurrent use.
type Footprints struct {
	candidates []candidate
	invalid    []Absence
	hostname   bool // the host name of a node counts
	named      bool // the name of a node counts
}

// candidate is a set that could have a pod on a node.
type candidate struct {
	ref      Ref
	priority int32
	fitter   *placement.Fitter
	pod      *corev1.Pod
	requests corev1.ResourceList
}

// NewFootprints prepares sets. Those that are being deleted or select everything place no
// pods and are left out, nil entries are ignored. Only placement.FitOptions in o.Fit and
// o.Placement are read. Room is always judged, also if Fit is nil, which is as its zero value:
// by what the node and the templates say.
func NewFootprints(sets []*appsv1.DaemonSet, o Options) *Footprints {
	f := &Footprints{hostname: asksForHostname(o.Fit), named: readsNames(o.Fit)}
	for _, obj := range sets {
		if obj == nil {
			continue
		}
		set, err := readIdentity(obj)
		if err == nil && set.standsBack() != "" {
			continue
		}
		if err == nil {
			set, err = set.readSpec()
		}
		if err != nil {
			f.invalid = append(f.invalid, Absence{Set: refTo(&obj.ObjectMeta), Err: err})
			continue
		}
		f.candidates = append(f.candidates, prepare(set, o))
		f.readBy(&obj.Spec.Template.Spec)
	}
	slices.SortStableFunc(f.candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), a.ref.compare(b.ref))
	})
	return f
}

func prepare(set daemonSet, o Options) candidate {
	p := &pass{set: set}
	c := candidate{
		ref:    set.ref,
		fitter: set.fitter(o),
		pod:    Plan{For: set.ref, Template: p.podTemplate()}.Pod(Create{Bind: true}), // to no node
	}
	c.pod.GenerateName, c.pod.Name = "", set.ref.Name
	c.requests = placement.Requests(&c.pod.Spec)
	if priority := c.pod.Spec.Priority; priority != nil {
		c.priority = *priority
	}
	return c
}

func (r Ref) compare(other Ref) int {
	return cmp.Or(strings.Compare(r.Namespace, other.Namespace), strings.Compare(r.Name, other.Name))
}

// asksForHostname reports whether the presence of a node's host name counts.
func asksForHostname(fit *placement.FitOptions) bool {
	return fit != nil && slices.Contains(slices.Concat(fit.RequiredLabels, fit.ExcludedLabels), corev1.LabelHostname)
}

// readsNames reports whether volumes may tell nodes apart that are alike otherwise.
func readsNames(fit *placement.FitOptions) bool {
	return fit != nil && len(fit.PersistentVolumes)+len(fit.CSINodes) > 0
}

// readBy notes what a template asks of a node that tells nodes of one kind apart.
func (f *Footprints) readBy(spec *corev1.PodSpec) {
	_, asks := spec.NodeSelector[corev1.LabelHostname]
	f.hostname = f.hostname || asks
	f.named = f.named || spec.NodeName != ""
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return
	}
	for _, term := range spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		f.named = f.named || len(term.MatchFields) > 0
		f.hostname = f.hostname || slices.ContainsFunc(term.MatchExpressions, func(e corev1.NodeSelectorRequirement) bool {
			return e.Key == corev1.LabelHostname
		})
	}
}

// On returns what the sets would put on node, which is only read: one pod of each that wants
// the node, as long as there is room for it beside those placed before. A nil node has none.
func (f *Footprints) On(node *corev1.Node) Footprint {
	out := Footprint{Absent: slices.Clone(f.invalid)}
	if node == nil {
		return out
	}
	var beside placement.Occupancy
	total := corev1.ResourceList{}
	for _, c := range f.candidates {
		if verdict := c.fitter.Fit(node, &beside); verdict.Decision != placement.Run {
			out.Absent = append(out.Absent, Absence{Set: c.ref, Verdict: verdict})
			continue
		}
		beside.Add(c.pod)
		out.Pods = append(out.Pods, c.pod)
		addTo(total, c.requests)
	}
	if len(out.Pods) > 0 {
		out.Requests = total
	}
	slices.SortStableFunc(out.Absent, func(a, b Absence) int { return a.Set.compare(b.Set) })
	return out
}

func addTo(total, more corev1.ResourceList) {
	for _, name := range slices.Sorted(maps.Keys(more)) {
		sum := total[name]
		sum.Add(more[name])
		total[name] = sum
	}
}

// OnEach returns the footprint for each of nodes, in their order; nil for a nil node. Nodes
// that are alike in all that counts, which are those of one node group as a rule, are judged
// once and have the same footprint.
func (f *Footprints) OnEach(nodes []*corev1.Node) []*Footprint {
	out := make([]*Footprint, len(nodes))
	kinds := map[string]*Footprint{}
	for i, node := range nodes {
		if node == nil {
			continue
		}
		kind := f.kindOf(node)
		if kinds[kind] == nil {
			footprint := f.On(node)
			kinds[kind] = &footprint
		}
		out[i] = kinds[kind]
	}
	return out
}

// kindOf is what tells nodes apart for these sets: all that a Fitter reads of a node, but its
// name and host name only if somebody asks for them.
func (f *Footprints) kindOf(node *corev1.Node) string {
	var key strings.Builder
	write := func(parts ...string) {
		for _, part := range parts {
			key.WriteString(strconv.Quote(part))
		}
		key.WriteByte('\n')
	}
	if f.named || f.hostname {
		write("name", node.Name)
	}
	for _, label := range slices.Sorted(maps.Keys(node.Labels)) {
		if label != corev1.LabelHostname || f.hostname {
			write("label", label, node.Labels[label])
		}
	}
	for _, taint := range node.Spec.Taints {
		write("taint", taint.Key, taint.Value, string(taint.Effect))
	}
	for _, name := range slices.Sorted(maps.Keys(node.Status.Allocatable)) {
		amount := node.Status.Allocatable[name]
		write("allocatable", string(name), amount.String())
	}
	for _, c := range node.Status.Conditions {
		write("condition", string(c.Type), string(c.Status))
	}
	return key.String()
}
