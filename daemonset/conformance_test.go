package daemonset_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/daemonset"
)

// corpusFile holds what the controller of Kubernetes v1.37.2 answered on generated
// snapshots; DAEMONPLAN_CORPUS names another file of the same form, compressed or not.
const corpusFile = "testdata/conformance/upstream-v1.37.2.jsonl.gz"

// upstreamCase is one snapshot with upstream's answer.
type upstreamCase struct {
	ID       string            `json:"id"`
	Now      time.Time         `json:"now"`
	Burst    int               `json:"burst"`
	Snapshot daemonset.Objects `json:"snapshot"`
	Want     upstreamAnswer    `json:"want"`
}

// upstreamAnswer is one pass of upstream, seen in several runs. Where it picks among equal
// candidates, Always holds what it took in every run and Ever what it took in any.
type upstreamAnswer struct {
	Error           string                  `json:"error"`
	CreateOnNodes   upstreamChoice          `json:"createOnNodes"`
	DeletePods      upstreamChoice          `json:"deletePods"`
	Status          *appsv1.DaemonSetStatus `json:"status"`
	Events          []string                `json:"events"`
	RevisionCreated *upstreamRevision       `json:"revisionCreated"`
	RevisionUpdated []upstreamRevision      `json:"revisionUpdated"`
	RevisionDeleted []string                `json:"revisionDeleted"`
	PodPatched      []string                `json:"podPatched"`
	RevisionPatched []string                `json:"revisionPatched"`
	RequeueAfter    []string                `json:"requeueAfter"`
	CreatedNode     string                  `json:"createdNode"`
	CreatedTemplate *corev1.PodTemplateSpec `json:"createdTemplate"`
	Runs            int                     `json:"runs"`
}

type upstreamChoice struct {
	Count  int      `json:"count"`
	Always []string `json:"always"`
	Ever   []string `json:"ever"`
}

type upstreamRevision struct {
	Name     string `json:"name"`
	Revision int64  `json:"revision"`
	Hash     string `json:"hash"`
}

func TestUpstreamConformance(t *testing.T) {
	path := os.Getenv("DAEMONPLAN_CORPUS")
	if path == "" {
		path = corpusFile
	}
	var total, agree, unseen int
	for c := range readCorpus(t, path) {
		total++
		diff, unseenChoice := c.compare()
		if unseenChoice != "" {
			unseen++
			t.Logf("%s: agrees, with a choice that upstream did not make in %d runs: %s", c.ID, c.Want.Runs, unseenChoice)
		}
		if diff == "" {
			agree++
			continue
		}
		t.Errorf("%s: differs (-upstream +plan):\n%s", c.ID, diff)
	}
	require.NotZero(t, total, "%s holds no case", path)
	t.Logf("%s: %d of %d cases agree, %d of them with a choice that upstream was not seen to make",
		filepath.Base(path), agree, total, unseen)
}

// TestConformanceNotices shows that the comparison is not blind: each answer of the corpus
// that is bent in one field must be found to differ.
func TestConformanceNotices(t *testing.T) {
	bends := map[string]func(w *upstreamAnswer) bool{
		"createOnNodes": func(w *upstreamAnswer) bool { w.CreateOnNodes.Count++; return true },
		"always":        func(w *upstreamAnswer) bool { w.DeletePods.Always = append(w.DeletePods.Always, "nobody"); return true },
		"deletePods":    func(w *upstreamAnswer) bool { w.DeletePods.Count++; return true },
		"status": func(w *upstreamAnswer) bool {
			if w.Status == nil {
				return false
			}
			w.Status.NumberReady += 7
			return true
		},
		"no status": func(w *upstreamAnswer) bool { had := w.Status != nil; w.Status = nil; return had },
		"events":    func(w *upstreamAnswer) bool { w.Events = append(w.Events, "Normal X"); return true },
		"revisionCreated": func(w *upstreamAnswer) bool {
			if w.RevisionCreated == nil {
				return false
			}
			w.RevisionCreated.Hash += "x"
			return true
		},
		"revisionUpdated": func(w *upstreamAnswer) bool {
			if len(w.RevisionUpdated) == 0 {
				return false
			}
			w.RevisionUpdated[0].Revision++
			return true
		},
		"revisionDeleted": func(w *upstreamAnswer) bool { w.RevisionDeleted = append(w.RevisionDeleted, "x"); return true },
		"podPatched":      func(w *upstreamAnswer) bool { w.PodPatched = append(w.PodPatched, "x"); return true },
		"revisionPatched": func(w *upstreamAnswer) bool { w.RevisionPatched = append(w.RevisionPatched, "x"); return true },
		"requeueAfter":    func(w *upstreamAnswer) bool { w.RequeueAfter = []string{"17s"}; return true },
		"createdTemplate": func(w *upstreamAnswer) bool {
			if w.CreatedTemplate == nil {
				return false
			}
			w.CreatedTemplate.Spec.Tolerations = nil
			return true
		},
	}
	hits := map[string]int{}
	for c := range readCorpus(t, corpusFile) {
		if c.Want.Error != "" {
			continue
		}
		for name, bend := range bends {
			bent := c
			raw, err := json.Marshal(c.Want)
			require.NoError(t, err)
			bent.Want = upstreamAnswer{}
			require.NoError(t, json.Unmarshal(raw, &bent.Want))
			if !bend(&bent.Want) {
				continue
			}
			hits[name]++
			if diff, _ := bent.compare(); diff == "" {
				t.Errorf("%s: a wrong %s went unnoticed", c.ID, name)
			}
		}
		if total := len(hits); total == len(bends) && hits["revisionUpdated"] > 5 && hits["createdTemplate"] > 5 {
			break
		}
	}
	require.Len(t, hits, len(bends), "every kind of bend must have been tried")
}

// readCorpus yields the cases of a file.
func readCorpus(t *testing.T, path string) func(yield func(upstreamCase) bool) {
	t.Helper()
	return func(yield func(upstreamCase) bool) {
		file, err := os.Open(path)
		require.NoError(t, err)
		defer file.Close()
		buffered := bufio.NewReader(file)
		reader := io.Reader(buffered)
		if magic, _ := buffered.Peek(2); string(magic) == "\x1f\x8b" {
			reader, err = gzip.NewReader(buffered)
			require.NoError(t, err)
		}
		decoder := json.NewDecoder(reader)
		for {
			c := upstreamCase{}
			err := decoder.Decode(&c)
			if errors.Is(err, io.EOF) {
				return
			}
			require.NoError(t, err)
			if !yield(c) {
				return
			}
		}
	}
}

func (c upstreamCase) compute(objects daemonset.Objects) (daemonset.Plan, error) {
	return daemonset.Compute(daemonset.Snapshot{Objects: objects, Now: c.Now}, daemonset.Options{Burst: c.Burst})
}

// compare plans the case and describes where the plan leaves upstream's answer. The second
// text names choices among equals that no run of upstream made.
func (c upstreamCase) compare() (diff, unseen string) {
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
	if want.Error != "" {
		// Upstream gave the update up because a node is missing; we plan as if the pods on
		// missing nodes were not there, and must do so for each of the rest.
		want, err = c.withoutMissingNodes(want)
		if err != nil {
			return err.Error(), ""
		}
	}
	options := optional(plan)
	for _, choice := range []struct {
		field string
		want  upstreamChoice
		got   []string
	}{{"createOnNodes", want.CreateOnNodes, createdNodes(plan)}, {"deletePods", want.DeletePods, deletedPods(plan)}} {
		wrong, new := choice.want.judge(choice.got, options)
		if wrong != "" {
			diffs = append(diffs, choice.field+": "+wrong)
		}
		unseen += new
	}
	note("status", want.Status, plan.Status)
	note("events", want.Events, eventKinds(plan))
	note("revisionCreated", want.RevisionCreated, createdRevision(plan))
	note("revisionUpdated", lastByName(want.RevisionUpdated), updatedRevisions(plan))
	note("revisionDeleted", want.RevisionDeleted, deletedRevisions(plan))
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
// Two revisions of the same template, number and age are equal candidates to upstream,
// which keeps either; everything that follows from the choice is then compared.
func (c upstreamCase) untied(plan daemonset.Plan) (upstreamCase, bool) {
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
		if ours.Revision != change.Revision.Revision || !ours.CreationTimestamp.Equal(&change.Revision.CreationTimestamp) {
			return c, false
		}
		younger := ours.DeepCopy()
		younger.CreationTimestamp.Time = younger.CreationTimestamp.Add(time.Second)
		c.Snapshot.Revisions = slices.Clone(c.Snapshot.Revisions)
		c.Snapshot.Revisions[kept] = younger
		return c, true
	}
	return c, false
}

// withoutMissingNodes replaces what upstream left undone by what it is to be: the answer
// for the same snapshot without the pods whose node is missing.
func (c upstreamCase) withoutMissingNodes(want upstreamAnswer) (upstreamAnswer, error) {
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
	exactly := func(names []string) upstreamChoice {
		return upstreamChoice{Count: len(names), Always: names, Ever: names}
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
func (w upstreamChoice) judge(got []string, options map[string]bool) (wrong, unseen string) {
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

// optional names the nodes and pods that were or could have been chosen from among equals:
// by the budget of an update, or by a burst cut.
func optional(plan daemonset.Plan) map[string]bool {
	choices := map[daemonset.Reason]bool{
		daemonset.Outdated:           true,
		daemonset.SurgeStarted:       true,
		daemonset.LeftIneligibleNode: true,
		daemonset.BudgetExhausted:    true,
		daemonset.AvailabilityShort:  true,
		daemonset.BurstExceeded:      true,
	}
	names := map[string]bool{}
	for _, n := range plan.Nodes {
		cut := plan.Deferred != (daemonset.Deferred{})
		if !cut && !choices[n.Reason] {
			continue
		}
		names[n.Name] = true
		for _, p := range n.Pods {
			names[p.Ref.Name] = true
		}
	}
	return names
}

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

func createdRevision(plan daemonset.Plan) *upstreamRevision {
	for _, c := range plan.Revisions {
		if c.Op == daemonset.CreateRevision {
			r := summary(c.Revision)
			return &r
		}
	}
	return nil
}

func updatedRevisions(plan daemonset.Plan) []upstreamRevision {
	var updated []upstreamRevision
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

func summary(r *appsv1.ControllerRevision) upstreamRevision {
	return upstreamRevision{Name: r.Name, Revision: r.Revision, Hash: r.Labels[appsv1.ControllerRevisionHashLabelKey]}
}

// lastByName keeps the state in which each revision ended: upstream writes the label and
// the number one after the other, a plan both at once.
func lastByName(revisions []upstreamRevision) []upstreamRevision {
	last := map[string]upstreamRevision{}
	for _, r := range revisions {
		last[r.Name] = r
	}
	var sorted []upstreamRevision
	for _, r := range last {
		sorted = append(sorted, r)
	}
	slices.SortFunc(sorted, func(a, b upstreamRevision) int { return strings.Compare(a.Name, b.Name) })
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
