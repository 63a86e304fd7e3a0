package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/daemonset"
)

func (c Case) compute(objects daemonset.Objects) (daemonset.Plan, error) {
	s := daemonset.Snapshot{Objects: objects, Now: c.Now, Backoff: c.Backoff}
	return daemonset.Compute(s, daemonset.Options{Burst: c.Burst})
}

// Compare plans the case and describes where the plan leaves upstream's answer; empty means
// that it agrees. The second text names choices among equals that no run of upstream made.
func (c Case) Compare() (diff, unseen string) {
	plan, err := c.compute(c.Snapshot)
	if err != nil {
		return fmt.Sprintf("no plan: %v", err), ""
	}
	if untied, ok := c.untied(plan); ok {
		if plan, err = untied.compute(untied.Snapshot); err != nil {
			return fmt.Sprintf("no plan: %v", err), ""
		}
		c = untied
	}
	want := c.Want
	var diffs []string
	note := func(field string, want, got any) {
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			diffs = append(diffs, field+":\n"+d)
		}
	}
	if want.Error != "" && plan.Reason != daemonset.RevisionCollision {
		// Upstream gave the update up because a node is missing; we plan as if the pods on
		// missing nodes were not there, and must do so for each of the rest.
		want, err = c.withoutMissingNodes(want)
		if err != nil {
			return err.Error(), ""
		}
	}
	options := c.optional(plan)
	for _, choice := range []struct {
		field string
		want  Choice
		got   []string
	}{{"createOnNodes", want.CreateOnNodes, createdNodes(plan)}, {"deletePods", want.DeletePods, deletedPods(plan)}} {
		wrong, odd := choice.want.judge(choice.got, options)
		if wrong != "" {
			diffs = append(diffs, choice.field+": "+wrong)
		}
		unseen += odd
	}
	note("status", want.Status, plan.Status)
	note("events", want.Events, eventKinds(plan))
	note("revisionCreated", want.RevisionCreated, createdRevision(plan))
	note("revisionUpdated", lastByName(want.RevisionUpdated), updatedRevisions(plan))
	if got := deletedRevisions(plan); !slices.Equal(c.numbers(want.RevisionDeleted), c.numbers(got)) {
		note("revisionDeleted", want.RevisionDeleted, got)
	}
	note("podPatched", sortedSet(want.PodPatched), patched(plan, daemonset.PodKind))
	note("revisionPatched", sortedSet(want.RevisionPatched), patched(plan, daemonset.RevisionKind))
	note("requeueAfter", firstDelay(want.RequeueAfter), delay(plan, c.Now))
	if want.CreatedTemplate != nil {
		pod := plan.Pod(daemonset.Create{Node: want.CreatedNode})
		got := corev1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec}
		got.GenerateName, got.Namespace, got.OwnerReferences = "", "", nil
		note("createdTemplate", *want.CreatedTemplate, got)
	}
	return strings.Join(diffs, "\n"), unseen
}

// untied returns the case with the choice between equal revisions made as upstream made it.
// Two revisions of the same template and number are equal candidates to upstream, which
// keeps either; everything that follows from the choice is then compared.
func (c Case) untied(plan daemonset.Plan) (Case, bool) {
	if !slices.Contains(c.Want.RevisionDeleted, plan.Revision.Name) {
		return c, false
	}
	kept := slices.IndexFunc(c.Snapshot.Revisions, func(r *appsv1.ControllerRevision) bool {
		return r.Name == plan.Revision.Name
	})
	for _, change := range plan.Revisions {
		if change.Reasons[0] != daemonset.DuplicateRevision || slices.Contains(c.Want.RevisionDeleted, change.Revision.Name) {
			continue
		}
		ours := c.Snapshot.Revisions[kept]
		if ours.Revision != change.Revision.Revision {
			return c, false
		}
		younger := ours.DeepCopy()
		younger.CreationTimestamp.Time = change.Revision.CreationTimestamp.Add(time.Second)
		c.Snapshot.Revisions = slices.Clone(c.Snapshot.Revisions)
		c.Snapshot.Revisions[kept] = younger
		return c, true
	}
	return c, false
}

// withoutMissingNodes replaces what upstream left undone by what it is to be: the answer
// for the same snapshot without the pods whose node is missing.
func (c Case) withoutMissingNodes(want Answer) (Answer, error) {
	names := map[string]bool{}
	for _, node := range c.Snapshot.Nodes {
		names[node.Name] = true
	}
	reduced := c.Snapshot
	reduced.Pods = slices.DeleteFunc(slices.Clone(c.Snapshot.Pods), func(pod *corev1.Pod) bool {
		return pod.Spec.NodeName != "" && !names[pod.Spec.NodeName]
	})
	if len(reduced.Pods) == len(c.Snapshot.Pods) {
		return want, fmt.Errorf("upstream failed for another reason than a missing node: %s", want.Error)
	}
	plan, err := c.compute(reduced)
	if err != nil {
		return want, err
	}
	exactly := func(names []string) Choice {
		return Choice{Count: len(names), Always: names, Ever: names}
	}
	want.CreateOnNodes, want.DeletePods = exactly(createdNodes(plan)), exactly(deletedPods(plan))
	// A failed pass skips the cleanup of history; ours does not fail. The pods left out
	// still keep their revisions, so the cleanup is the one thing not to be compared.
	full, err := c.compute(c.Snapshot)
	want.RevisionDeleted = deletedRevisions(full)
	return want, err
}

// judge says what is wrong with got. A name that upstream took in every run or in none is
// wrong, unless by the plan's own account it was one of several equals: those runs are a
// sample, and it is then listed as unseen.
func (w Choice) judge(got []string, options map[string]bool) (wrong, unseen string) {
	if len(got) != w.Count {
		return fmt.Sprintf("want %d of %v, got %v", w.Count, w.Ever, got), ""
	}
	for _, name := range w.Always {
		switch {
		case slices.Contains(got, name):
		case options[name]:
			unseen += " not " + name
		default:
			return fmt.Sprintf("want %q among %v", name, got), ""
		}
	}
	for _, name := range got {
		switch {
		case slices.Contains(w.Ever, name):
		case options[name]:
			unseen += " " + name
		default:
			return fmt.Sprintf("%q was never taken, only %v", name, w.Ever), ""
		}
	}
	return "", unseen
}

// numbers are those of the named revisions, with the names of what none of the others has
// the number of. Upstream deletes old revisions by number alone, so which of two with the
// same number goes first is open.
func (c Case) numbers(names []string) []string {
	count := map[int64]int{}
	for _, r := range c.Snapshot.Revisions {
		count[r.Revision]++
	}
	var numbers []string
	for _, r := range c.Snapshot.Revisions {
		if !slices.Contains(names, r.Name) {
			continue
		}
		text := fmt.Sprint(r.Revision)
		if count[r.Revision] == 1 {
			text += " " + r.Name
		}
		numbers = append(numbers, text)
	}
	for _, name := range names {
		if !slices.ContainsFunc(c.Snapshot.Revisions, func(r *appsv1.ControllerRevision) bool { return r.Name == name }) {
			numbers = append(numbers, name)
		}
	}
	slices.Sort(numbers)
	return numbers
}

// optional names the nodes and pods that were or could have been chosen from among equals:
// by the budget of an update, by a burst cut, or as the one failed pod of a node that its
// backoff lets go first.
func (c Case) optional(plan daemonset.Plan) map[string]bool {
	names := map[string]bool{}
	cut := plan.Deferred != (daemonset.Deferred{})
	for _, n := range plan.Nodes {
		if cut || choice(n.Reason) {
			names[n.Name] = true
			for _, p := range n.Pods {
				names[p.Ref.Name] = true
			}
		}
		failed := slices.DeleteFunc(slices.Clone(n.Pods), func(p daemonset.PodReport) bool {
			return p.State != daemonset.Failed
		})
		for _, p := range failed {
			names[p.Ref.Name] = names[p.Ref.Name] || len(failed) > 1
		}
	}
	for _, d := range plan.Deletes {
		names[d.Pod.Name] = names[d.Pod.Name] || choice(d.Reason)
	}
	if cut {
		// Pods that are not bound, on nodes that are missing, have no report when cut.
		for _, pod := range c.Snapshot.Pods {
			names[pod.Name] = names[pod.Name] || pod.Spec.NodeName == ""
		}
	}
	addMissing(plan, names)
	return names
}

// addMissing adds the pods of missing nodes, if there was any choice: such a node has no
// report, but upstream counts it among the candidates.
func addMissing(plan daemonset.Plan, names map[string]bool) {
	chosen := slices.Contains(slices.Collect(maps.Values(names)), true)
	for _, f := range plan.Findings {
		if chosen && f.Reason == daemonset.PodOnMissingNode {
			names[f.Ref.Name] = true
		}
	}
}

// choice tells the reasons of what is one of several equals.
func choice(reason daemonset.Reason) bool {
	switch reason {
	case daemonset.Outdated, daemonset.SurgeStarted, daemonset.LeftIneligibleNode,
		daemonset.BudgetExhausted, daemonset.AvailabilityShort, daemonset.BurstExceeded:
		return true
	}
	return false
}
