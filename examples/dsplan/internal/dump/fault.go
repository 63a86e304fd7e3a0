package dump

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
)

// SyntaxError reports a document that could not be read as a whole, so that nothing can be
// said about what else it would have held.
type SyntaxError struct {
	File     string
	Document int // from 1
	Err      error
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s: document %d: %v", e.File, e.Document, e.Err)
}

// Unwrap returns the cause.
func (e *SyntaxError) Unwrap() error { return e.Err }

// Place is where an object stands.
type Place struct {
	File     string
	Document int    // from 1
	Item     string // in a list, such as "items[3]"; empty for a document of its own
}

// String names the place, such as "fleet.yaml: document 1: items[3]".
func (p Place) String() string {
	text := fmt.Sprintf("%s: document %d", p.File, p.Document)
	if p.Item != "" {
		text += ": " + p.Item
	}
	return text
}

// ObjectError reports one object that could not be used.
type ObjectError struct {
	Place     Place
	Kind      string // empty if it is not known what the object is
	Namespace string // empty if not known, and for a Node
	Name      string // empty if not known
	Err       error
}

func (f *ObjectError) Error() string {
	text := f.Place.String() + ": "
	if f.Kind != "" {
		text += f.Kind + " "
	}
	if name := strings.TrimPrefix(f.Namespace+"/"+f.Name, "/"); name != "" && f.Name != "" {
		text += name + ": "
	}
	return text + describe(f.Err)
}

// Unwrap returns the cause.
func (f *ObjectError) Unwrap() error { return f.Err }

// describe puts a decoder's mismatch the way people see their files.
func describe(err error) string {
	mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok || mismatch.Field == "" {
		return err.Error()
	}
	return fmt.Sprintf("%s: %s where %s belongs", mismatch.Field, mismatch.Value, mismatch.Type)
}

// concerns reports whether the fault makes a plan for a set untrustworthy: of a DaemonSet
// itself, of a pod or revision in its namespace, of any node, or of what might be any of
// these.
func (f *ObjectError) concerns(set setKey) bool {
	switch f.Kind {
	case daemonSetKind:
		return f.Namespace == set.namespace && f.Name == set.name
	case podKind, revisionKind:
		return f.Namespace == "" || f.Namespace == set.namespace
	}
	return true
}

// maxFaults is how many faults an error spells out. A dump in which every pod is broken has
// as many as it has pods, for each of its sets.
const maxFaults = 3

func joinFaults(faults iter.Seq[*ObjectError]) error {
	var causes []error
	more := 0
	for fault := range faults {
		if len(causes) < maxFaults {
			causes = append(causes, fault)
		} else {
			more++
		}
	}
	if causes == nil {
		return nil
	}
	return &unusable{causes: causes, more: more}
}

// unusable is one or more faults of a set, in one line.
type unusable struct {
	causes []error
	more   int
}

func (u *unusable) Error() string {
	texts := make([]string, 0, len(u.causes)+1)
	for _, cause := range u.causes {
		texts = append(texts, cause.Error())
	}
	if u.more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", u.more))
	}
	return strings.Join(texts, "; ")
}

func (u *unusable) Unwrap() []error { return u.causes }
