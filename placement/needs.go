package placement

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Need is something of a node that can be looked up.
type Need struct {
	Kind  NeedKind
	Key   string // of the label
	Value string // of the label, or the node's name
}

// NeedKind says what a [Need] is about.
type NeedKind uint8

// The kinds of needs.
const (
	NeedsLabel NeedKind = iota // a label with this key and value
	NeedsKey                   // a label with this key
	NeedsName                  // this name
)

// Needs returns what a node must have to carry a pod: of each element at least one. A node
// that misses an element is never judged Run; one that has all may still be judged anything.
// So whoever has many matchers can find those that may say Run without asking each. An
// element that is empty cannot be had: no node is judged Run. No elements are a matcher
// that needs nothing that can be looked up.
//
// A node without a name, which no API server stores, needs no name by match fields.
func (m *Matcher) Needs() [][]Need {
	var needs [][]Need
	if m.nodeName != "" {
		needs = append(needs, []Need{{Kind: NeedsName, Value: m.nodeName}})
	}
	for i := range m.selector {
		needs = append(needs, m.selector[i].needs())
	}
	return append(needs, m.affinity.needs()...)
}

// needs is empty if the requirement does not ask for anything to be there.
func (r *requirement) needs() []Need {
	switch r.operator {
	case corev1.NodeSelectorOpIn:
		needs := make([]Need, len(r.values))
		for i, value := range r.values {
			needs[i] = Need{Key: r.key, Value: value}
			if r.onName {
				needs[i] = Need{Kind: NeedsName, Value: value}
			}
		}
		return needs
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		return []Need{{Kind: NeedsKey, Key: r.key}}
	case corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpDoesNotExist:
	}
	return nil
}

// needs are those of the only term that can match, one for each of its requirements, or of
// several terms together, one requirement of each.
func (a nodeAffinity) needs() [][]Need {
	if !a.required {
		return nil
	}
	var terms [][][]Need
	for i := range a.terms {
		if t := &a.terms[i]; len(t.broken) == 0 && len(t.requirements) > 0 {
			terms = append(terms, t.needs())
		}
	}
	if len(terms) == 1 {
		return terms[0]
	}
	either := []Need{}
	for _, needs := range terms {
		if len(needs) == 0 {
			return nil
		}
		either = append(either, needs[0]...)
	}
	return [][]Need{either}
}

func (t *term) needs() [][]Need {
	var needs [][]Need
	for i := range t.requirements {
		if alternatives := t.requirements[i].needs(); len(alternatives) > 0 {
			needs = append(needs, alternatives)
		}
	}
	return needs
}

// ToleratedKeys returns the keys, sorted, of the taints that may be tolerated, whatever their
// value and effect: no node is judged Run that has a NoSchedule or NoExecute taint of another
// key. every is true if there are tolerations for every key, and the keys then tell nothing.
func (m *Matcher) ToleratedKeys() (keys []string, every bool) {
	for _, list := range [][]toleration{m.tolerations.noSchedule, m.tolerations.noExecute} {
		for i := range list {
			every = every || list[i].key == ""
			keys = append(keys, list[i].key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys), every
}
