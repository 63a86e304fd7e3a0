package placement

import corev1 "k8s.io/api/core/v1"

// Series judges nodes one after the other and judges taints once for neighbours that have the
// same, as those of a pool mostly do. Build it with [NewSeries]. It refers to the last node
// that has taints, which must not be changed meanwhile, and is not for concurrent use.
type Series struct {
	matcher *Matcher
	taints  []corev1.Taint // of that node
	allows  Decision       // what they allow
}

// NewSeries returns a series of what m decides. m must not be nil.
func NewSeries(m *Matcher) Series { return Series{matcher: m} }

// Decide returns what [Matcher.Decide] does. It never allocates.
func (s *Series) Decide(node *corev1.Node) Decision {
	switch {
	case node == nil:
		return Undecided
	case !s.matcher.selects(node):
		return Evict
	case len(node.Spec.Taints) == 0:
		return Run
	case !sameTaints(s.taints, node.Spec.Taints):
		s.taints, s.allows = node.Spec.Taints, s.matcher.allowed(node.Spec.Taints)
	}
	return s.allows
}

// sameTaints compares what is read of taints, in order.
func sameTaints(a, b []corev1.Taint) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Effect != b[i].Effect || a[i].Key != b[i].Key || a[i].Value != b[i].Value {
			return false
		}
	}
	return true
}
