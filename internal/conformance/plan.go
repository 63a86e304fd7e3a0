package conformance

import (
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/daemonplan/daemonplan/daemonset"
)

// The functions in this file read off a plan what the corpus records of a pass.

func createdNodes(plan daemonset.Plan) []string {
	var names []string
	for _, c := range plan.Creates {
		names = append(names, c.Node)
	}
	return names
}

func deletedPods(plan daemonset.Plan) []string {
	var names []string
	for _, d := range plan.Deletes {
		names = append(names, d.Pod.Name)
	}
	return names
}

func eventKinds(plan daemonset.Plan) []string {
	var kinds []string
	for _, e := range plan.Events {
		kinds = append(kinds, e.Type+" "+e.Reason)
	}
	slices.Sort(kinds)
	return kinds
}

func createdRevision(plan daemonset.Plan) *Revision {
	for _, c := range plan.Revisions {
		if c.Op == daemonset.CreateRevision {
			r := summary(c.Revision)
			return &r
		}
	}
	return nil
}

func updatedRevisions(plan daemonset.Plan) []Revision {
	var updated []Revision
	for _, c := range plan.Revisions {
		if c.Op == daemonset.UpdateRevision {
			updated = append(updated, summary(c.Revision))
		}
	}
	return lastByName(updated)
}

func deletedRevisions(plan daemonset.Plan) []string {
	var names []string
	for _, c := range plan.Revisions {
		if c.Op == daemonset.DeleteRevision {
			names = append(names, c.Revision.Name)
		}
	}
	slices.Sort(names)
	return names
}

func summary(r *appsv1.ControllerRevision) Revision {
	return Revision{Name: r.Name, Revision: r.Revision, Hash: r.Labels[appsv1.ControllerRevisionHashLabelKey]}
}

// lastByName keeps the state in which each revision ended: upstream writes the label and
// the number one after the other, a plan both at once.
func lastByName(revisions []Revision) []Revision {
	last := map[string]Revision{}
	for _, r := range revisions {
		last[r.Name] = r
	}
	var sorted []Revision
	for _, r := range last {
		sorted = append(sorted, r)
	}
	slices.SortFunc(sorted, func(a, b Revision) int { return strings.Compare(a.Name, b.Name) })
	return sorted
}

func patched(plan daemonset.Plan, kind daemonset.Kind) []string {
	var names []string
	for _, c := range plan.Claims {
		if c.Kind == kind {
			names = append(names, c.Ref.Name)
		}
	}
	if kind == daemonset.PodKind {
		for _, r := range plan.Relabels {
			names = append(names, r.Pod.Name)
		}
	}
	return sortedSet(names)
}

func sortedSet(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}

func firstDelay(delays []string) string {
	var first time.Duration
	for _, text := range delays {
		d, err := time.ParseDuration(text)
		if err != nil {
			return "unreadable: " + text
		}
		if first == 0 || d < first {
			first = d
		}
	}
	return first.String()
}

func delay(plan daemonset.Plan, now time.Time) string {
	if plan.Next.IsZero() {
		return time.Duration(0).String()
	}
	return plan.Next.Sub(now).String()
}
