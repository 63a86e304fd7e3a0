package placement

import corev1 "k8s.io/api/core/v1"

// Tolerations returns the tolerations that daemon pods of spec carry: the template's, and
// those that the Kubernetes v1.37.2 DaemonSet controller adds, all with operator Exists:
// not-ready and unreachable for NoExecute; disk-pressure, memory-pressure, pid-pressure and
// unschedulable for NoSchedule; with hostNetwork also network-unavailable for NoSchedule.
//
// A default replaces every entry of equal key, operator, value and effect where it stands, so
// that the entry's tolerationSeconds is lost; without such an entry it is appended, in the
// order above. A nil spec is the empty spec. The result is the caller's.
func Tolerations(spec *corev1.PodSpec) []corev1.Toleration {
	if spec == nil {
		spec = &corev1.PodSpec{}
	}
	added := defaultTolerations(spec)
	carried := make([]corev1.Toleration, len(spec.Tolerations), len(spec.Tolerations)+len(added))
	for i := range spec.Tolerations {
		spec.Tolerations[i].DeepCopyInto(&carried[i])
	}
	for _, t := range added {
		carried = addToleration(carried, t)
	}
	return carried
}

func defaultTolerations(spec *corev1.PodSpec) []corev1.Toleration {
	added := []corev1.Toleration{
		exists(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute),
		exists(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute),
		exists(corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule),
		exists(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule),
		exists(corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule),
		exists(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule),
	}
	if spec.HostNetwork {
		added = append(added, exists(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule))
	}
	return added
}

func exists(key string, effect corev1.TaintEffect) corev1.Toleration {
	return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect}
}

// addToleration replaces also when an entry is already equal to added. Kubernetes means to
// stop there, but compares a pointer with a value, which are never equal; so of two entries
// that differ in tolerationSeconds only, both lose it.
func addToleration(carried []corev1.Toleration, added corev1.Toleration) []corev1.Toleration {
	replaced := false
	for i := range carried {
		if sameTarget(carried[i], added) {
			carried[i] = added
			replaced = true
		}
	}
	if replaced {
		return carried
	}
	return append(carried, added)
}

// sameTarget compares all but tolerationSeconds.
func sameTarget(a, b corev1.Toleration) bool {
	return a.Key == b.Key && a.Operator == b.Operator && a.Value == b.Value && a.Effect == b.Effect
}

// toleration is a toleration that can tolerate something.
type toleration struct {
	key      string // "" covers every key
	operator corev1.TolerationOperator
	value    string
	bound    int64 // for Gt and Lt
}

// tolerationSet holds tolerations by the effect that they cover. One that covers every
// effect is in both lists, one that covers no effect that matters in neither.
type tolerationSet struct{ noSchedule, noExecute []toleration }

func compileTolerations(source []corev1.Toleration, opts Options) tolerationSet {
	var compiled tolerationSet
	for i := range source {
		t, usable := compileToleration(&source[i], opts)
		if !usable {
			continue
		}
		effect := source[i].Effect
		if effect == "" || effect == corev1.TaintEffectNoSchedule {
			compiled.noSchedule = append(compiled.noSchedule, t)
		}
		if effect == "" || effect == corev1.TaintEffectNoExecute {
			compiled.noExecute = append(compiled.noExecute, t)
		}
	}
	return compiled
}

// compileToleration refuses what tolerates nothing: an operator that is not known or not
// honoured, and a comparison with what is no integer.
func compileToleration(source *corev1.Toleration, opts Options) (toleration, bool) {
	t := toleration{key: source.Key, operator: source.Operator, value: source.Value}
	switch t.operator {
	case "": // the API server writes no default here
		t.operator = corev1.TolerationOpEqual
		return t, true
	case corev1.TolerationOpEqual, corev1.TolerationOpExists:
		return t, true
	case corev1.TolerationOpGt, corev1.TolerationOpLt:
		bound, integer := parseCanonicalInt(t.value)
		t.bound = bound
		return t, integer && opts.ComparisonTolerations
	}
	return t, false
}

// tolerated does not look at the taint's effect: the list is the one for it.
func tolerated(list []toleration, taint *corev1.Taint) bool {
	for i := range list {
		t := &list[i]
		if (t.key == "" || t.key == taint.Key) && t.accepts(taint.Value) {
			return true
		}
	}
	return false
}

// accepts compares the value.
func (t *toleration) accepts(value string) bool {
	switch t.operator {
	case corev1.TolerationOpExists:
		return true
	case corev1.TolerationOpEqual:
		return t.value == value
	case corev1.TolerationOpGt:
		number, ok := parseCanonicalInt(value)
		return ok && number > t.bound
	case corev1.TolerationOpLt:
		number, ok := parseCanonicalInt(value)
		return ok && number < t.bound
	}
	return false
}
