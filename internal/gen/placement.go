package gen

import (
	corev1 "k8s.io/api/core/v1"
)

// Labels and taints by which nodes are told apart.
const (
	zoneLabel  = "zone"
	coresLabel = "cores"
	dedicated  = "dedicated"
)

func (w *world) nodeSelector() map[string]string {
	if !w.oneIn(8) {
		return nil
	}
	return pick(&w.source, map[string]string{zoneLabel: "a"}, map[string]string{zoneLabel: "b", coresLabel: "8"})
}

func (w *world) affinity() *corev1.Affinity {
	if !w.oneIn(4) {
		return nil
	}
	preferred := []corev1.PreferredSchedulingTerm{{Weight: 5, Preference: expressions(in(zoneLabel, "b"))}}
	if w.oneIn(6) {
		return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: preferred}}
	}
	affinity := &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: w.terms()}}
	if w.oneIn(4) {
		affinity.PreferredDuringSchedulingIgnoredDuringExecution = preferred
	}
	return &corev1.Affinity{NodeAffinity: affinity}
}

// terms are alternatives, some of which match nothing or do not parse.
func (w *world) terms() []corev1.NodeSelectorTerm {
	if w.lenient && w.oneIn(12) {
		return pick(&w.source, nil, []corev1.NodeSelectorTerm{})
	}
	terms := make([]corev1.NodeSelectorTerm, 1+w.below(2))
	for i := range terms {
		terms[i] = w.term()
	}
	return terms
}

func (w *world) term() corev1.NodeSelectorTerm {
	if w.lenient && w.oneIn(8) {
		return pick(&w.source,
			fields(in("metadata.name", nodeName(0), nodeName(1))),
			fields(in("metadata.uid", "x")),
			expressions(corev1.NodeSelectorRequirement{Key: zoneLabel, Operator: "Near"}),
		)
	}
	return pick(&w.source,
		expressions(requirement(zoneLabel, corev1.NodeSelectorOpExists)),
		expressions(in(zoneLabel, "a", "c")),
		expressions(requirement(zoneLabel, corev1.NodeSelectorOpNotIn, "c")),
		expressions(requirement(coresLabel, corev1.NodeSelectorOpGt, "2")),
		expressions(requirement(coresLabel, corev1.NodeSelectorOpLt, "8"), in(zoneLabel, "a", "b")),
		expressions(requirement(dedicated, corev1.NodeSelectorOpDoesNotExist)),
		expressions(requirement(coresLabel, corev1.NodeSelectorOpGt, "many")),
		fields(requirement("metadata.name", corev1.NodeSelectorOpNotIn, nodeName(1))),
		fields(in("metadata.name", nodeName(0))),
		corev1.NodeSelectorTerm{},
	)
}

func expressions(r ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchExpressions: r}
}

func fields(r ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchFields: r}
}

func in(key string, values ...string) corev1.NodeSelectorRequirement {
	return requirement(key, corev1.NodeSelectorOpIn, values...)
}

func requirement(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: op, Values: values}
}

func (w *world) tolerations() []corev1.Toleration {
	var tolerations []corev1.Toleration
	for range w.below(3) {
		tolerations = append(tolerations, pick(&w.source,
			corev1.Toleration{Key: dedicated, Operator: corev1.TolerationOpEqual, Value: "db", Effect: corev1.TaintEffectNoSchedule},
			corev1.Toleration{Key: dedicated, Operator: corev1.TolerationOpExists},
			corev1.Toleration{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(30))},
			corev1.Toleration{Key: dedicated, Value: "gpu"},
			corev1.Toleration{Key: coresLabel, Operator: corev1.TolerationOpGt, Value: "4", Effect: corev1.TaintEffectNoSchedule},
			corev1.Toleration{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
			corev1.Toleration{Operator: corev1.TolerationOpExists},
		))
	}
	return tolerations
}
