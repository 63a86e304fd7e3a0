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
	added := defaultTolerations(spec.HostNetwork)
	carried := make([]corev1.Toleration, len(spec.Tolerations), len(spec.Tolerations)+len(added))
	for i := range spec.Tolerations {
		spec.Tolerations[i].DeepCopyInto(&carried[i])
	}
	for _, t := range added {
		carried = addToleration(carried, t)
	}
	return carried
}

func defaultTolerations(hostNetwork bool) []corev1.Toleration {
	added := []corev1.Toleration{
		exists(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute),
		exists(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute),
		exists(corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule),
		exists(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule),
		exists(corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule),
		exists(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule),
	}
	if hostNetwork {
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
	bound    int64              // for Gt and Lt
	effect   corev1.TaintEffect // "" covers every effect
}

// compileTolerations leaves out entries that tolerate nothing: of an operator that is not
// known or not honoured, and comparisons with what is no integer.
func compileTolerations(source []corev1.Toleration, opts Options) []toleration {
	compiled := make([]toleration, 0, len(source))
	for i := range source {
		t := toleration{
			key:      source[i].Key,
			operator: source[i].Operator,
			value:    source[i].Value,
			effect:   source[i].Effect,
		}
		usable := false
		switch t.operator {
		case "": // the API server writes no default here
			t.operator, usable = corev1.TolerationOpEqual, true
		case corev1.TolerationOpEqual, corev1.TolerationOpExists:
			usable = true
		case corev1.TolerationOpGt, corev1.TolerationOpLt:
			t.bound, usable = parseCanonicalInt(t.value)
			usable = usable && opts.ComparisonTolerations
		}
		if usable {
			compiled = append(compiled, t)
		}
	}
	return compiled
}

func tolerated(tolerations []toleration, taint *corev1.Taint) bool {
	for i := range tolerations {
		if tolerations[i].covers(taint) && tolerations[i].accepts(taint.Value) {
			return true
		}
	}
	return false
}

// covers compares effect and key.
func (t *toleration) covers(taint *corev1.Taint) bool {
	return (t.effect == "" || t.effect == taint.Effect) && (t.key == "" || t.key == taint.Key)
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
