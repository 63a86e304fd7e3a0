package placement_test

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/placement"
)

// Builders that keep the tables to one line a thing.

const terms = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"

type set = map[string]string

func node(name string, labels set, taints ...string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	for _, text := range taints {
		n.Spec.Taints = append(n.Spec.Taints, taint(text))
	}
	return n
}

// taint reads key=value:effect or key:effect.
func taint(text string) corev1.Taint {
	pair, effect, _ := strings.Cut(text, ":")
	key, value, _ := strings.Cut(pair, "=")
	return corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}
}

func exists(key string, effect corev1.TaintEffect) corev1.Toleration {
	return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect}
}

func tolerating(tolerations ...corev1.Toleration) corev1.PodSpec {
	return corev1.PodSpec{Tolerations: tolerations}
}

// requiring builds a spec with a required node affinity of the given terms.
func requiring(terms ...corev1.NodeSelectorTerm) corev1.PodSpec {
	return corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
	}}}
}

func expressions(list ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchExpressions: list}
}

func fieldTerm(list ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchFields: list}
}

func req(key string, operator corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: operator, Values: values}
}

// lines writes findings one a line, with the long path of the affinity terms shortened.
func lines(findings []placement.Finding) []string {
	var out []string
	for _, f := range findings {
		out = append(out, string(f.Code)+" "+strings.Replace(f.Field, terms, "terms", 1)+": "+f.Detail)
	}
	return out
}
