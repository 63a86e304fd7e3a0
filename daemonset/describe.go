package daemonset

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/daemonset/internal/plain"
	"github.com/daemonplan/daemonplan/placement"
)

// Describe renders a plan for people and golden files, a line for each thing, in the
// order of the plan's fields. What is empty has no line, apart from status and next, which
// then say "-". Do not parse it: the fields of Plan are for that, and its JSON form also
// has the UIDs and whole objects.
func Describe(p Plan) string {
	d := &description{}
	d.line("daemonset", p.For.text())
	if p.Reason != "" {
		d.line("reason", string(p.Reason))
	}
	if p.Revision != (Revision{}) {
		d.line("revision", p.Revision.Name, fmt.Sprintf("hash=%s number=%d", p.Revision.Hash, p.Revision.Number))
	}
	if p.Template != nil {
		d.line("template", describeTemplate(p.Template)...)
	}
	d.writes(p)
	for _, s := range p.Suspended {
		d.line("suspended", s.Node, s.text())
	}
	d.nodes(p.Nodes)
	for _, f := range p.Findings {
		d.line("finding", string(f.Kind)+" "+f.Ref.Name, string(f.Reason), f.Detail)
	}
	if p.Deferred != (Deferred{}) {
		d.line("deferred", fmt.Sprintf("creates=%d deletes=%d", p.Deferred.Creates, p.Deferred.Deletes))
	}
	d.line("next", instant(p.Next))
	return d.String()
}

type description struct{ strings.Builder }

// line writes the parts that are not empty, two spaces apart.
func (d *description) line(label string, parts ...string) {
	d.WriteString(label)
	for _, part := range parts {
		if part != "" {
			d.WriteString("  ")
			d.WriteString(plain.Printable(part))
		}
	}
	d.WriteByte('\n')
}

// writes renders what is applied.
func (d *description) writes(p Plan) {
	for _, c := range p.Claims {
		verb := "release"
		if c.Adopt {
			verb = "adopt"
		}
		d.line(verb, string(c.Kind)+" "+c.Ref.Name, string(c.Reason))
	}
	for _, r := range p.Relabels {
		d.line("relabel", r.Pod.Name, "hash="+r.Hash)
	}
	for _, c := range p.Revisions {
		d.line("history", c.Op.String(), describeRevision(c.Revision), joinReasons(c.Reasons))
	}
	for _, c := range p.Creates {
		bind := ""
		if c.Bind {
			bind = "bind"
		}
		d.line("create", c.Node, string(c.Reason), bind)
	}
	for _, x := range p.Deletes {
		d.line("delete", x.Node, x.Pod.Name, string(x.Reason))
	}
	for _, k := range p.Failures {
		d.line("failure", k.Node, fmt.Sprintf("generation=%d", k.Generation))
	}
	d.line("status", describeStatus(p.Status))
	for _, e := range p.Events {
		d.line("event", e.Type, e.Reason, e.Note)
	}
}

func (d *description) nodes(nodes []NodeReport) {
	for _, n := range nodes {
		parts := []string{n.Name, n.Verdict.Decision.String()}
		if n.Reason != "" {
			reason := string(n.Reason)
			if !n.Until.IsZero() {
				reason += " until " + instant(n.Until)
			}
			parts = append(parts, reason)
		}
		for _, on := range n.Pods {
			parts = append(parts, describePod(on))
		}
		for _, f := range n.Verdict.Findings {
			parts = append(parts, describeFinding(f))
		}
		d.line("node", parts...)
	}
}

func describePod(on PodReport) string {
	age := "outdated"
	if on.Current {
		age = "current"
	}
	return fmt.Sprintf("[%s %s %s %s]", on.Ref.Name, age, on.State, on.Health)
}

// longField is the path of all node affinity findings, too long to repeat on every line.
const longField = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."

func describeFinding(f placement.Finding) string {
	if f.Taint != (corev1.Taint{}) {
		return fmt.Sprintf("(%s %s)", f.Code, f.Taint.ToString())
	}
	if f.Field == "" {
		return fmt.Sprintf("(%s %s)", f.Code, f.Detail)
	}
	return fmt.Sprintf("(%s %s: %s)", f.Code, strings.TrimPrefix(f.Field, longField), f.Detail)
}

func describeTemplate(t *corev1.PodTemplateSpec) []string {
	parts := []string{"labels " + joinPairs(t.Labels)}
	for _, c := range slices.Concat(t.Spec.InitContainers, t.Spec.Containers) {
		parts = append(parts, c.Name+"="+c.Image)
	}
	return append(parts, fmt.Sprintf("tolerations=%d", len(t.Spec.Tolerations)))
}

func describeRevision(r *appsv1.ControllerRevision) string {
	if r == nil {
		return "-"
	}
	return fmt.Sprintf("%s  hash=%s number=%d", r.Name, hashOf(r.Labels), r.Revision)
}

func describeStatus(s *appsv1.DaemonSetStatus) string {
	if s == nil {
		return "-"
	}
	text := fmt.Sprintf("desired=%d current=%d ready=%d updated=%d available=%d unavailable=%d misscheduled=%d observedGeneration=%d",
		s.DesiredNumberScheduled, s.CurrentNumberScheduled, s.NumberReady, s.UpdatedNumberScheduled,
		s.NumberAvailable, s.NumberUnavailable, s.NumberMisscheduled, s.ObservedGeneration)
	if s.CollisionCount != nil {
		text += fmt.Sprintf(" collisions=%d", *s.CollisionCount)
	}
	return text
}

func joinReasons(reasons []Reason) string {
	texts := make([]string, len(reasons))
	for i, r := range reasons {
		texts[i] = string(r)
	}
	return strings.Join(texts, " ")
}

func joinPairs(labels map[string]string) string {
	pairs := make([]string, 0, len(labels))
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, key+"="+labels[key])
	}
	return strings.Join(pairs, ",")
}

func instant(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func (r Ref) text() string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}
