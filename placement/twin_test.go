package placement_test

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/daemonplan/daemonplan/placement"
)

// twin judges as slowly and as plainly as can be, through the selectors of apimachinery and
// upstream's own toleration matching. It parses everything again for every node, and says of
// an obstacle only its code and where it is.
func twin(spec *corev1.PodSpec, opts placement.Options, n *corev1.Node) (placement.Decision, []string) {
	var found []string
	say := func(code placement.Code, where string) { found = append(found, string(code)+" "+where) }

	if spec.NodeName != "" && spec.NodeName != n.Name {
		say(placement.NodeNameMismatch, "spec.nodeName")
	}
	for _, key := range slices.Sorted(maps.Keys(spec.NodeSelector)) {
		one := labels.Set{key: spec.NodeSelector[key]}
		if !labels.SelectorFromValidatedSet(one).Matches(labels.Set(n.Labels)) {
			say(placement.NodeSelectorMismatch, "spec.nodeSelector["+key+"]")
		}
	}
	found = append(found, twinAffinity(spec.Affinity, n)...)
	placed := len(found) == 0

	evict := false
	for i := range n.Spec.Taints {
		taint := &n.Spec.Taints[i]
		if twinTolerates(spec, opts, taint) {
			continue
		}
		switch taint.Effect {
		case corev1.TaintEffectNoSchedule:
			say(placement.UntoleratedNoScheduleTaint, "spec.tolerations "+taint.ToString())
		case corev1.TaintEffectNoExecute:
			say(placement.UntoleratedNoExecuteTaint, "spec.tolerations "+taint.ToString())
			evict = true
		case corev1.TaintEffectPreferNoSchedule:
		}
	}
	switch {
	case !placed || evict:
		return placement.Evict, found
	case len(found) > 0:
		return placement.Keep, found
	}
	return placement.Run, nil
}

func twinAffinity(affinity *corev1.Affinity, n *corev1.Node) []string {
	if affinity == nil || affinity.NodeAffinity == nil {
		return nil
	}
	required := affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil {
		return nil
	}
	if len(required.NodeSelectorTerms) == 0 {
		return []string{"NodeAffinityMismatch " + terms}
	}
	var found []string
	for i, term := range required.NodeSelectorTerms {
		why := twinTerm(term, terms+"["+strconv.Itoa(i)+"]", n)
		if len(why) == 0 {
			return nil
		}
		found = append(found, why...)
	}
	return found
}

func twinTerm(term corev1.NodeSelectorTerm, path string, n *corev1.Node) []string {
	if len(term.MatchExpressions)+len(term.MatchFields) == 0 {
		return []string{"NodeAffinityMismatch " + path}
	}
	var invalid, failed []string
	for i, e := range term.MatchExpressions {
		where := path + ".matchExpressions[" + strconv.Itoa(i) + "]"
		selector, ok := twinExpression(e)
		if !ok {
			invalid = append(invalid, "InvalidNodeAffinity "+where)
		} else if !selector.Matches(labels.Set(n.Labels)) {
			failed = append(failed, "NodeAffinityMismatch "+where)
		}
	}
	for i, e := range term.MatchFields {
		where := path + ".matchFields[" + strconv.Itoa(i) + "]"
		selector, ok := twinField(e)
		if !ok {
			invalid = append(invalid, "InvalidNodeAffinity "+where)
		} else if n.Name != "" && !selector.Matches(fields.Set{"metadata.name": n.Name}) {
			failed = append(failed, "NodeAffinityMismatch "+where)
		}
	}
	return append(invalid, failed...)
}

func twinExpression(e corev1.NodeSelectorRequirement) (labels.Selector, bool) {
	operators := map[corev1.NodeSelectorOperator]selection.Operator{
		"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!", "Gt": "gt", "Lt": "lt",
	}
	operator, known := operators[e.Operator]
	if !known {
		return nil, false
	}
	r, err := labels.NewRequirement(e.Key, operator, e.Values)
	if err != nil {
		return nil, false
	}
	return labels.NewSelector().Add(*r), true
}

func twinField(e corev1.NodeSelectorRequirement) (fields.Selector, bool) {
	if e.Key != "metadata.name" || len(e.Values) != 1 {
		return nil, false
	}
	if e.Operator == "In" {
		return fields.OneTermEqualSelector(e.Key, e.Values[0]), true
	}
	return fields.OneTermNotEqualSelector(e.Key, e.Values[0]), e.Operator == "NotIn"
}

// twinTolerates needs no replacing: an entry that is equal but for its seconds tolerates the
// same taints.
func twinTolerates(spec *corev1.PodSpec, opts placement.Options, taint *corev1.Taint) bool {
	all := append(slices.Clone(spec.Tolerations), defaults()...)
	if spec.HostNetwork {
		all = append(all, exists("node.kubernetes.io/network-unavailable", noSchedule))
	}
	upstream := unlogged((*corev1.Toleration).ToleratesTaint)
	for i := range all {
		if upstream(&all[i], taint, opts.ComparisonTolerations) {
			return true
		}
	}
	return false
}

// unlogged leaves out the logger that upstream's function takes: its zero value discards, and
// its type, which is of a module that this one does not depend on, is inferred.
func unlogged[L any](
	tolerates func(*corev1.Toleration, L, *corev1.Taint, bool) bool,
) func(*corev1.Toleration, *corev1.Taint, bool) bool {
	return func(toleration *corev1.Toleration, taint *corev1.Taint, comparisons bool) bool {
		var discard L
		return tolerates(toleration, discard, taint, comparisons)
	}
}
