package script

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// changeTemplate edits the pod template: "template node-selector=role=edge host-network".
// Revisions and the hashes of pods are made from the template as it stands, so it comes
// before them.
//
//	node-name=N         spec.nodeName
//	node-selector=K=V,… spec.nodeSelector
//	labels=K=V,…        all labels
//	host-network        spec.hostNetwork
//	host-port=N         a port of the host, for the one container
//	requests=R:Q,…      what the one container asks for
func (w *World) changeTemplate(words []string) error {
	template := &w.set.Spec.Template
	return options{
		"node-name":     text(&template.Spec.NodeName),
		"node-selector": func(value string) error { template.Spec.NodeSelector = pairs(value); return nil },
		"labels":        func(value string) error { template.Labels = pairs(value); return nil },
		"host-network":  flag(&template.Spec.HostNetwork),
		"host-port":     hostPort(&template.Spec),
		"requests":      amounts(&template.Spec.Containers[0].Resources.Requests),
	}.read(words)
}

// tolerate adds a toleration to the template: "tolerate dedicated=db:NoSchedule" (Equal),
// "tolerate dedicated:NoSchedule" (Exists), "tolerate dedicated" (Exists, every effect),
// "tolerate *" (everything). Options: operator=Gt sets another operator, seconds=60
// tolerationSeconds.
func (w *World) tolerate(words []string) error {
	if err := someWords(words); err != nil {
		return err
	}
	target, effect, _ := strings.Cut(words[0], ":")
	key, value, equal := strings.Cut(target, "=")
	t := corev1.Toleration{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}
	if !equal {
		t.Operator = corev1.TolerationOpExists
	}
	if key == "*" {
		t.Key = ""
	}
	err := options{
		"operator": text(&t.Operator),
		"seconds":  pointer(&t.TolerationSeconds, integer[int64]),
	}.read(words[1:])
	spec := &w.set.Spec.Template.Spec
	spec.Tolerations = append(spec.Tolerations, t)
	return err
}

// requireAffinity adds a term to the template's required node affinity; terms are OR-ed.
// "affinity zone In a,b and disk Exists" is one term of two requirements, and
// "affinity field metadata.name In a" one of a field. "affinity empty" adds a term without
// requirements, "affinity none" asks for no term at all.
func (w *World) requireAffinity(words []string) error {
	required := w.nodeAffinity().RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil {
		required = &corev1.NodeSelector{}
		w.nodeAffinity().RequiredDuringSchedulingIgnoredDuringExecution = required
	}
	if slices.Equal(words, []string{"none"}) {
		return nil
	}
	term, err := readTerm(words)
	required.NodeSelectorTerms = append(required.NodeSelectorTerms, term)
	return err
}

// preferAffinity adds a term, written as for affinity, to the preferred node affinity.
func (w *World) preferAffinity(words []string) error {
	term, err := readTerm(words)
	preferred := &w.nodeAffinity().PreferredDuringSchedulingIgnoredDuringExecution
	*preferred = append(*preferred, corev1.PreferredSchedulingTerm{Weight: 1, Preference: term})
	return err
}

// nodeAffinity is the template's, made if it is not there.
func (w *World) nodeAffinity() *corev1.NodeAffinity {
	spec := &w.set.Spec.Template.Spec
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	return spec.Affinity.NodeAffinity
}

func readTerm(words []string) (corev1.NodeSelectorTerm, error) {
	term := corev1.NodeSelectorTerm{}
	if slices.Equal(words, []string{"empty"}) {
		return term, nil
	}
	for part := range strings.SplitSeq(strings.Join(words, " "), " and ") {
		requirement, isField := strings.CutPrefix(part, "field ")
		read, err := readRequirement(strings.Fields(requirement))
		if err != nil {
			return term, err
		}
		if isField {
			term.MatchFields = append(term.MatchFields, read)
		} else {
			term.MatchExpressions = append(term.MatchExpressions, read)
		}
	}
	return term, nil
}

func readRequirement(words []string) (corev1.NodeSelectorRequirement, error) {
	if len(words) < 2 || len(words) > 3 {
		return corev1.NodeSelectorRequirement{}, errors.New("a requirement is a key, an operator and values")
	}
	r := corev1.NodeSelectorRequirement{Key: words[0], Operator: corev1.NodeSelectorOperator(words[1])}
	if len(words) == 3 {
		r.Values = strings.Split(words[2], ",")
	}
	return r, nil
}

// readTaint reads "key=value:Effect" or "key:Effect".
func readTaint(word string) (corev1.Taint, error) {
	target, effect, ok := strings.Cut(word, ":")
	if !ok {
		return corev1.Taint{}, fmt.Errorf("taint %q has no effect", word)
	}
	key, value, _ := strings.Cut(target, "=")
	return corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}, nil
}
