package daemonset

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// selecting is a label selector prepared for many objects: most selectors only ask for values
// of labels, and those are compared without further ado.
type selecting struct {
	values []labelValue
	others []labels.Requirement
}

type labelValue struct{ key, value string }

func newSelecting(selector labels.Selector) selecting {
	var s selecting
	requirements, _ := selector.Requirements()
	for i := range requirements {
		r := &requirements[i]
		switch values := r.Values(); {
		case len(values) != 1:
			s.others = append(s.others, *r)
		case r.Operator() == selection.Equals, r.Operator() == selection.DoubleEquals, r.Operator() == selection.In:
			s.values = append(s.values, labelValue{key: r.Key(), value: values.List()[0]})
		default:
			s.others = append(s.others, *r)
		}
	}
	return s
}

func (s *selecting) matches(set map[string]string) bool {
	for i := range s.values {
		if value, has := set[s.values[i].key]; !has || value != s.values[i].value {
			return false
		}
	}
	for i := range s.others {
		if !s.others[i].Matches(labels.Set(set)) {
			return false
		}
	}
	return true
}
