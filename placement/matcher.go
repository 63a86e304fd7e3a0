// Package placement decides whether a node may carry a daemon pod.
//
// A [Matcher] is built once from a pod template and judges any number of nodes:
//
//	verdict := placement.NewMatcher(&template.Spec, placement.Options{}).Evaluate(node)
//
// The rules are those of the Kubernetes v1.37.2 DaemonSet controller. Only the template's
// nodeName, nodeSelector, required node affinity, tolerations and hostNetwork are read, and
// only the node's name, labels and taints: not spec.unschedulable, no conditions, no
// resources. Kubernetes turns those that matter into taints.
//
// That is enough where a scheduler places the pods. A [Fitter] is for whoever places them
// without one, or asks how many would fit: it judges a node together with what its other
// pods hold, which an [Occupancy] has added up:
//
//	fitter := placement.NewFitter(&template.Spec, placement.FitOptions{})
//	verdict := fitter.Fit(node, placement.NewOccupancy(pods...), own...)
//
// It gives the three answers of the Kubernetes v1.12 controller, as one [Decision]: does the
// set want the node, may a pod be placed now, may one that is there stay. A node that is
// wanted and has no room is Suspend. Resources, host ports and disks are counted as the
// Kubernetes v1.37.2 scheduler counts them. Pod affinity, spread constraints and devices
// that are claimed (resource.k8s.io) play no part.
package placement

import corev1 "k8s.io/api/core/v1"

// Options select optional cluster behaviour; the zero value is the Kubernetes default.
type Options struct {
	// ComparisonTolerations honours the Lt and Gt toleration operators, as the feature gate
	// TaintTolerationComparisonOperators does. Without it they tolerate nothing.
	ComparisonTolerations bool
}

// Matcher is a pod template prepared for many nodes. It is immutable, holds no reference to
// the template it was built from and is safe for concurrent use. Build it with [NewMatcher].
type Matcher struct {
	nodeName    string
	selector    []requirement
	affinity    nodeAffinity
	tolerations tolerationSet
	err         error
}

// NewMatcher returns spec prepared for [Matcher.Evaluate], with the tolerations that
// [Tolerations] adds. It cannot fail: an affinity term that does not parse matches no node,
// as in Kubernetes, and is reported by [Matcher.Err] and in every verdict it took part in. A
// nil spec is the empty spec.
func NewMatcher(spec *corev1.PodSpec, opts Options) *Matcher {
	if spec == nil {
		spec = &corev1.PodSpec{}
	}
	affinity := compileAffinity(spec.Affinity)
	return &Matcher{
		nodeName:    spec.NodeName,
		selector:    compileSelector(spec.NodeSelector),
		affinity:    affinity,
		tolerations: compileTolerations(Tolerations(spec), opts),
		err:         affinity.err(),
	}
}

// Err returns what does not parse in the required node affinity, or nil. It joins one error
// a requirement, in template order, each naming its field path.
func (m *Matcher) Err() error { return m.err }

// Evaluate judges node. The first rule that applies decides, in the order of Kubernetes
// v1.37.2 (NodeShouldRunDaemonPod): another node name, a node selector or required affinity
// that does not match, and an untolerated NoExecute taint give Evict; an untolerated
// NoSchedule taint gives Keep; anything else Run. PreferNoSchedule taints never matter. The
// findings hold every obstacle all the same.
//
// A nil node is Undecided. The node is only read. A verdict of Run costs no allocation.
func (m *Matcher) Evaluate(node *corev1.Node) Verdict {
	decision := m.Decide(node)
	if decision == Undecided || decision == Run {
		return Verdict{Decision: decision}
	}
	var found []Finding
	if decision == Evict { // Keep says already that only taints are in the way
		found = m.explainSelection(m.explainName(nil, node), node)
	}
	return Verdict{Decision: decision, Findings: m.explainTaints(found, node)}
}

// Decide returns the decision of [Matcher.Evaluate] without the evidence for it. It never
// allocates.
func (m *Matcher) Decide(node *corev1.Node) Decision {
	if node == nil {
		return Undecided
	}
	if !m.selects(node) {
		return Evict
	}
	return m.allowed(node.Spec.Taints)
}

// selects reports whether node is one of those that the template asks for.
func (m *Matcher) selects(node *corev1.Node) bool {
	return m.fitsName(node) && allMatch(m.selector, node) && m.affinity.matches(node)
}

// allowed is the decision on a node that is selected and has these taints.
func (m *Matcher) allowed(taints []corev1.Taint) Decision {
	decision := Run
	for i := range taints {
		switch m.obstacle(&taints[i]) {
		case UntoleratedNoExecuteTaint:
			return Evict
		case UntoleratedNoScheduleTaint:
			decision = Keep
		}
	}
	return decision
}

// explainName adds that the template names another node.
func (m *Matcher) explainName(found []Finding, node *corev1.Node) []Finding {
	if m.fitsName(node) {
		return found
	}
	return append(found, Finding{
		Code:   NodeNameMismatch,
		Field:  "spec.nodeName",
		Detail: "the template names node " + quote(m.nodeName) + ", this one is " + quote(node.Name),
	})
}

// explainSelection adds what the template's selector and affinity ask for and the node has
// not.
func (m *Matcher) explainSelection(found []Finding, node *corev1.Node) []Finding {
	found = appendMismatches(found, m.selector, NodeSelectorMismatch, node)
	return m.affinity.explain(found, node)
}

// explainTaints adds the taints that nothing tolerates.
func (m *Matcher) explainTaints(found []Finding, node *corev1.Node) []Finding {
	for i := range node.Spec.Taints {
		taint := &node.Spec.Taints[i]
		if code := m.obstacle(taint); code != "" {
			found = append(found, Finding{
				Code:   code,
				Field:  "spec.tolerations",
				Taint:  *taint.DeepCopy(),
				Detail: "taint " + taintText(taint) + " is not tolerated",
			})
		}
	}
	return found
}

func (m *Matcher) fitsName(node *corev1.Node) bool {
	return m.nodeName == "" || m.nodeName == node.Name
}

// obstacle returns the code of a taint that keeps pods away, else "".
func (m *Matcher) obstacle(taint *corev1.Taint) Code {
	switch taint.Effect {
	case corev1.TaintEffectNoSchedule:
		if !tolerated(m.tolerations.noSchedule, taint) {
			return UntoleratedNoScheduleTaint
		}
	case corev1.TaintEffectNoExecute:
		if !tolerated(m.tolerations.noExecute, taint) {
			return UntoleratedNoExecuteTaint
		}
	case corev1.TaintEffectPreferNoSchedule:
	}
	return ""
}
