package script

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/daemonset"
)

// answer is what the planner says to one snapshot.
type answer struct {
	plan *daemonset.Plan // nil for an error
	text string          // Describe, or the error
	json string
}

func (w *World) answerTo(s daemonset.Snapshot, o daemonset.Options) answer {
	plan, err := w.plan(s, o)
	if err != nil {
		return answer{text: "error: " + err.Error() + "\n"}
	}
	encoded, err := json.Marshal(plan)
	if err != nil {
		return answer{plan: &plan, text: daemonset.Describe(plan), json: "error: " + err.Error()}
	}
	return answer{plan: &plan, text: daemonset.Describe(plan), json: string(encoded)}
}

// shuffles is how many random orders are tried, beside the reverse one.
const shuffles = 3

// check says what is wrong with the planner apart from the plan itself, a line for each.
// The snapshot before is a copy made before the planner was asked.
func (w *World) check(o daemonset.Options, before daemonset.Snapshot, want answer) string {
	var problems strings.Builder
	if !reflect.DeepEqual(before, w.current()) {
		problems.WriteString("disagreement: the input was changed\n")
	}
	for _, reordered := range orders(before) {
		got := w.answerTo(reordered, o)
		if got.text != want.text || got.json != want.json {
			problems.WriteString("disagreement: another order of the input gives another plan\n")
			break
		}
	}
	return problems.String()
}

// orders are the snapshot with its lists in other orders, the same ones in every run.
func orders(s daemonset.Snapshot) []daemonset.Snapshot {
	reversed := copied(s)
	slices.Reverse(reversed.Objects.Nodes)
	slices.Reverse(reversed.Objects.Pods)
	slices.Reverse(reversed.Objects.Revisions)
	slices.Reverse(reversed.Objects.Others)
	slices.Reverse(reversed.Suspended)
	slices.Reverse(reversed.Backoff)
	result := []daemonset.Snapshot{reversed}
	for seed := range uint64(shuffles) {
		random := rand.New(rand.NewPCG(seed, 1))
		shuffled := copied(s)
		shuffle(random, shuffled.Objects.Nodes)
		shuffle(random, shuffled.Objects.Pods)
		shuffle(random, shuffled.Objects.Revisions)
		shuffle(random, shuffled.Objects.Others)
		shuffle(random, shuffled.Suspended)
		shuffle(random, shuffled.Backoff)
		result = append(result, shuffled)
	}
	return result
}

func shuffle[T any](random *rand.Rand, list []T) {
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// copied is a copy of s that shares no memory with it.
func copied(s daemonset.Snapshot) daemonset.Snapshot {
	s.Objects.DaemonSet = s.Objects.DaemonSet.DeepCopy()
	s.Objects.Nodes = each(s.Objects.Nodes, (*corev1.Node).DeepCopy)
	s.Objects.Pods = each(s.Objects.Pods, (*corev1.Pod).DeepCopy)
	s.Objects.Revisions = each(s.Objects.Revisions, (*appsv1.ControllerRevision).DeepCopy)
	s.Objects.Others = each(s.Objects.Others, (*corev1.Pod).DeepCopy)
	s.Suspended = each(s.Suspended, func(on daemonset.Suspension) daemonset.Suspension {
		on.Codes = slices.Clone(on.Codes)
		return on
	})
	s.Backoff = slices.Clone(s.Backoff)
	s.Pending.Deletes = slices.Clone(s.Pending.Deletes)
	return s
}

func each[T any](list []T, do func(T) T) []T {
	result := slices.Clone(list)
	for i := range result {
		result[i] = do(result[i])
	}
	return result
}
