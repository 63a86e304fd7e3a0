package explain

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/placement"
)

// Obstacle is one thing that keeps pods of the set from a node.
type Obstacle struct {
	Code  placement.Code `json:"code"`
	Field string         `json:"field,omitempty"` // path in the pod template

	// Problem says what is asked and not met. It is the same on all nodes with the same
	// obstacle; Has is what this node has instead, empty where there is nothing to add.
	Problem string `json:"problem"`
	Has     string `json:"has,omitempty"`

	// Lift says what would lift the obstacle. Others may remain.
	Lift string `json:"lift"`

	// Toleration is one that would lift it when added to the template, for taints only.
	Toleration *corev1.Toleration `json:"toleration,omitempty"`

	// Label is what to change on the node to lift it, where a label decides.
	Label *Label `json:"label,omitempty"`
}

// Label is a wish for a label of a node: one of Values, or any value if there are none; with
// Absent none at all.
type Label struct {
	Key    string   `json:"key"`
	Values []string `json:"values,omitempty"`
	Absent bool     `json:"absent,omitempty"`
}

// OfFinding explains one finding about node and a pod of the template spec. A nil spec or
// node, or one that the finding is not about, only costs detail.
func OfFinding(f placement.Finding, spec *corev1.PodSpec, node *corev1.Node) Obstacle {
	meaning, _ := OfCode(f.Code)
	o := Obstacle{Code: f.Code, Field: f.Field, Problem: clause(meaning.Means), Lift: meaning.Next}
	if spec == nil {
		spec = &corev1.PodSpec{}
	}
	switch f.Code {
	case placement.UntoleratedNoScheduleTaint, placement.UntoleratedNoExecuteTaint:
		o.explainTaint(f.Taint)
	case placement.NodeSelectorMismatch, placement.NodeAffinityMismatch:
		if r, ok := requirementAt(f.Field, spec); ok {
			o.explainRequirement(r, len(terms(spec)))
			o.Has = hasText(r, o.isAboutName(), node)
			break
		}
		o.explainDetail(f)
	case placement.NodeNameMismatch:
		o.Problem = fmt.Sprintf("spec.nodeName of the template names node %s only", spec.NodeName)
	default:
		o.explainDetail(f)
	}
	if o.Problem == "" {
		o.Problem = string(f.Code)
	}
	return o
}

// explainTaint names the toleration that would admit pods.
func (o *Obstacle) explainTaint(taint corev1.Taint) {
	o.Problem = "taint " + taint.ToString() + " is not tolerated"
	o.Toleration = &corev1.Toleration{Key: taint.Key, Operator: corev1.TolerationOpExists, Effect: taint.Effect}
	o.Lift = fmt.Sprintf("A toleration for key %s with effect %s would admit it", taint.Key, taint.Effect)
	if taint.Value != "" {
		o.Lift += fmt.Sprintf(", with operator Exists, or Equal and value %s", taint.Value)
	}
	o.Lift += "."
	if lifted := liftOf(taint.Key); lifted != "" {
		o.Lift += " " + lifted
	}
}

// liftOf says who takes a taint of Kubernetes off again; empty for other taints.
func liftOf(key string) string {
	switch key {
	case corev1.TaintNodeNotReady:
		return "Kubernetes takes the taint off when the node is ready."
	case corev1.TaintNodeUnreachable:
		return "Kubernetes takes the taint off when the node reports again."
	case corev1.TaintNodeUnschedulable:
		return "kubectl uncordon takes the taint off."
	case corev1.TaintNodeMemoryPressure, corev1.TaintNodeDiskPressure, corev1.TaintNodePIDPressure:
		return "Kubernetes takes the taint off when the pressure is gone."
	case corev1.TaintNodeNetworkUnavailable:
		return "Kubernetes takes the taint off when the node's network is set up."
	case corev1.TaintNodeOutOfService:
		return "Whoever put it there takes it off when the node is back in service."
	}
	return ""
}

// explainDetail is for obstacles whose evidence is a text.
func (o *Obstacle) explainDetail(f placement.Finding) {
	switch {
	case f.Contention != nil:
		o.Problem += ": " + f.Contention.Subject
		o.Has = strings.TrimPrefix(f.Detail, f.Contention.Subject+": ")
	case f.Field == "" && f.Code.Decision() == placement.Suspend: // a condition, with words of this node's
		o.Has = f.Detail
	case f.Detail != "":
		o.Problem += ": " + f.Detail
	}
}

// clause is a sentence as part of another.
func clause(sentence string) string {
	if sentence == "" {
		return ""
	}
	return strings.ToLower(sentence[:1]) + strings.TrimSuffix(sentence[1:], ".")
}

// Text is the obstacle in one line: the problem, what the node has, and the code.
func (o Obstacle) Text() string {
	text := o.Problem
	if o.Has != "" {
		text += "; " + o.Has
	}
	return text + " (" + string(o.Code) + ")"
}
