package script

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/daemonplan/daemonplan/daemonset"
)

// showPlan prints the plan for the world, as daemonset.Describe does: "plan burst=2".
// An error prints as a line. Each time the planner is also asked again with the input in
// other orders, and the input is compared with a copy; what it gets wrong prints as a line.
//
//	only=KIND,…             only the lines that start with one of these words
//	burst=N                 creates and deletes a plan
//	profile=VERSION         update rules of v1.37, v1.27 or v1.12
//	fit                     the controller places the pods itself
//	surge=with-room         or or-replace: where a pod cannot start beside another
//	comparison-tolerations  the toleration operators Gt and Lt count
func (w *World) showPlan(words []string) (string, error) {
	only := ""
	var o daemonset.Options
	err := options{
		"only":                   text(&only),
		"burst":                  integer(&o.Burst),
		"fit":                    fit(&o),
		"surge":                  surgePolicy(&o.Surge),
		"profile":                profile(&o.Profile),
		"comparison-tolerations": flag(&o.Placement.ComparisonTolerations),
	}.read(words)
	if err != nil {
		return "", err
	}
	before := copied(w.current())
	a := w.answerTo(w.current(), o)
	if a.plan != nil {
		w.last = *a.plan
	}
	return selected(a.text, only) + w.check(o, before, a), nil
}

// selected keeps the lines whose first word is in only; an error is kept always. The text
// must not become empty, or a script could show nothing and look as if it did.
func selected(described, only string) string {
	if only == "" {
		return described
	}
	kinds := append(strings.Split(only, ","), "error:")
	var kept strings.Builder
	for line := range strings.Lines(described) {
		if slices.Contains(kinds, strings.Fields(line)[0]) {
			kept.WriteString(line)
		}
	}
	if kept.Len() == 0 {
		return "nothing\n"
	}
	return kept.String()
}

// explain prints the report on one node of the plan: "explain a".
func (w *World) explain(words []string) (string, error) {
	if err := oneWord(words); err != nil {
		return "", err
	}
	plan, err := w.plan(w.current(), daemonset.Options{})
	if err != nil {
		return "", err
	}
	report, ok := plan.Node(words[0])
	if !ok {
		return "no report\n", nil
	}
	var out strings.Builder
	fmt.Fprintf(&out, "node %s: %s\n", report.Name, report.Verdict.Decision)
	if report.Reason != "" {
		fmt.Fprintf(&out, "reason: %s\n", report.Reason)
	}
	if !report.Until.IsZero() {
		fmt.Fprintf(&out, "until: %s\n", report.Until.Format("15:04:05"))
	}
	for _, pod := range report.Pods {
		fmt.Fprintf(&out, "pod %s: current=%t %s %s\n", pod.Ref.Name, pod.Current, pod.State, pod.Health)
	}
	for _, f := range report.Verdict.Findings {
		fmt.Fprintf(&out, "finding: %s\n", strings.Join(nonEmpty(string(f.Code), f.Field, f.Taint.ToString(), f.Detail), " | "))
	}
	return out.String(), nil
}

func nonEmpty(parts ...string) []string {
	return slices.DeleteFunc(parts, func(part string) bool { return part == "" })
}

// showJSON prints the JSON form of the plan: "json" all of it, "json creates status" these
// fields only.
func (w *World) showJSON(words []string) (string, error) {
	plan, err := w.plan(w.current(), daemonset.Options{})
	if err != nil {
		return "", err
	}
	if len(words) == 0 {
		return marshal(plan)
	}
	whole, err := json.Marshal(plan)
	if err != nil {
		return "", err
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(whole, &fields); err != nil {
		return "", err
	}
	maps.DeleteFunc(fields, func(name string, _ json.RawMessage) bool { return !slices.Contains(words, name) })
	return marshal(fields)
}

// showObject prints the pod that the plan makes for a node, as JSON: "object a".
func (w *World) showObject(words []string) (string, error) {
	if err := oneWord(words); err != nil {
		return "", err
	}
	plan, err := w.plan(w.current(), daemonset.Options{})
	if err != nil {
		return "", err
	}
	for _, c := range plan.Creates {
		if c.Node == words[0] {
			return marshal(plan.Pod(c))
		}
	}
	return "no create\n", nil
}

func marshal(value any) (string, error) {
	out, err := json.MarshalIndent(value, "", "  ")
	return string(out) + "\n", err
}
