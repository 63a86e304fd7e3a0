package hygiene_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/internal/hygiene"
)

func TestDescribeForgetsNoField(t *testing.T) {
	report(t, hygiene.Unshown(daemonset.Describe, module, []string{
		// People tell objects apart by name. Pods are in the namespace of their DaemonSet,
		// and UIDs are in the JSON form.
		"For.UID",
		"Claims[].Ref.Namespace",
		"Claims[].Ref.UID",
		"Relabels[].Pod.Namespace",
		"Relabels[].Pod.UID",
		"Deletes[].Pod.Namespace",
		"Deletes[].Pod.UID",
		"Failures[].Owner",
		"Nodes[].Pods[].Ref.Namespace",
		"Nodes[].Pods[].Ref.UID",
		// A finding's detail says in words what its contention says in fields.
		"Nodes[].Verdict.Findings[].Contention.Subject",
		"Nodes[].Verdict.Findings[].Contention.Asked",
		"Nodes[].Verdict.Findings[].Contention.Free",
		"Nodes[].Verdict.Findings[].Contention.Allocatable",
		"Nodes[].Verdict.Findings[].Contention.Holders[].Namespace",
		"Nodes[].Verdict.Findings[].Contention.Holders[].Name",
		"Nodes[].Verdict.Findings[].Contention.Holders[].UID",
		"Nodes[].Verdict.Findings[].Contention.Holders[].Amount",
		"Nodes[].Verdict.Findings[].Contention.More",
		"Findings[].Ref.Namespace",
		"Findings[].Ref.UID",
	}))
}

// outer is a small plan; its own package stands for the module.
type outer struct {
	Name  string
	Until time.Time
	Many  []inner
	One   *inner
	Error error // an interface, which cannot be filled
}

type inner struct {
	Flag   bool
	Count  map[string]int
	Either string
	Or     string // shown only without Either

	unexported string
}

func describeAll(o outer) string {
	text := o.Name + o.Until.String() + fmt.Sprint(o.Error)
	for _, i := range o.Many {
		text += describeInner(i)
	}
	if o.One != nil {
		text += describeInner(*o.One)
	}
	return text
}

func describeInner(i inner) string {
	text := fmt.Sprint(i.Flag, i.Count) + i.unexported
	if i.Either != "" {
		return text + i.Either
	}
	return text + i.Or
}

func TestUnshown(t *testing.T) {
	tests := []struct {
		name, why string
		give      func(outer) string
		silent    []string
		want      []string
	}{
		{
			name:   "all shown",
			why:    "a field may give way to another, if it is shown where it is alone",
			give:   describeAll,
			silent: []string{"Error"},
		},
		{
			name: "one forgotten",
			why:  "a field of a struct in a slice is not forgotten because it is shown behind a pointer",
			give: func(o outer) string {
				for i := range o.Many {
					o.Many[i].Flag = false
				}
				return describeAll(o)
			},
			silent: []string{"Error"},
			want:   []string{"Many[].Flag makes no difference"},
		},
		{
			name: "shown only by being there",
			why:  "a line that appears with a field does not yet tell what is in it",
			give: func(o outer) string {
				text := "-"
				if o.Name != "" {
					text = "named"
				}
				o.Name = ""
				return text + describeAll(o)
			},
			silent: []string{"Error"},
			want:   []string{"Name makes no difference"},
		},
		{
			name: "everything forgotten",
			why:  "the fields come in the order of the source",
			give: func(outer) string { return "" },
			want: []string{
				"Name makes", "Until makes",
				"Many[].Flag makes", "Many[].Count makes", "Many[].Either makes", "Many[].Or makes",
				"One.Flag makes", "One.Count makes", "One.Either makes", "One.Or makes",
				"Error makes",
			},
		},
		{
			name:   "stale exception",
			why:    "an exception that holds no longer hides the next mistake",
			give:   describeAll,
			silent: []string{"Error", "Name", "Nowhere"},
			want:   []string{"Name is said to be left out, and is shown", "Nowhere is said to be left out, and does not exist"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			requireProblems(t, hygiene.Unshown(tt.give, module, tt.silent), tt.want)
		})
	}
}
