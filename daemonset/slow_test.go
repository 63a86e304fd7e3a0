package daemonset_test

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/backoff"
	"github.com/daemonplan/daemonplan/internal/gen"
)

// slowNode is a node as the slow twin sees it, existing or not.
type slowNode struct {
	exists    bool
	run, stay bool
	pods      []*corev1.Pod // in keep order
}

// slowWorld is the slow twin of the planner: sections 2 to 6 and 8 of the rules written down
// with maps and loops, without sharing a line with the planner. Only the current hash comes
// from the plan, because section 7 has the corpus of upstream's answers to hold it.
type slowWorld struct {
	set   *appsv1.DaemonSet
	hash  string
	now   time.Time
	table backoff.Entries

	adopted, released []string
	nodes             map[string]*slowNode

	createsDue, deletesDue       map[string]bool // node names, pod names
	createsChosen, deletesChosen []string        // within a budget, as far as it goes, by node name
	failed, succeeded            int
	wakes                        []time.Time
}

func newSlowWorld(c gen.Case, hash string) *slowWorld {
	objects := c.Snapshot.Objects
	w := &slowWorld{
		set: objects.DaemonSet, hash: hash, now: c.Snapshot.Now, table: c.Snapshot.Backoff,
		nodes:      map[string]*slowNode{},
		createsDue: map[string]bool{}, deletesDue: map[string]bool{},
	}
	for _, node := range objects.Nodes {
		run, stay := slowPlacement(&w.set.Spec.Template.Spec, node, c.Options.Placement.ComparisonTolerations)
		w.nodes[node.Name] = &slowNode{exists: true, run: run, stay: stay}
	}
	for _, pod := range objects.Pods {
		if w.claims(pod) {
			w.place(pod)
		}
	}
	for _, node := range w.nodes {
		slices.SortFunc(node.pods, func(a, b *corev1.Pod) int {
			boundFirst := strings.Compare(b.Spec.NodeName, a.Spec.NodeName) // the same name, or none
			return cmp.Or(boundFirst, a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
		})
	}
	return w
}

// claims is section 3.
func (w *slowWorld) claims(pod *corev1.Pod) bool {
	if pod.Namespace != w.set.Namespace {
		return false
	}
	selected := slowSelects(w.set.Spec.Selector, pod.Labels)
	for _, owner := range pod.OwnerReferences {
		if owner.Controller == nil || !*owner.Controller {
			continue
		}
		if owner.UID != w.set.UID || owner.Name != w.set.Name || owner.Kind != "DaemonSet" {
			return false
		}
		if !selected {
			w.released = append(w.released, pod.Name)
		}
		return selected
	}
	if !selected || pod.DeletionTimestamp != nil {
		return false
	}
	w.adopted = append(w.adopted, pod.Name)
	return true
}

func (w *slowWorld) place(pod *corev1.Pod) {
	name := slowNodeOf(pod)
	ended := pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
	if name == "" || ended && pod.DeletionTimestamp != nil {
		return
	}
	if w.nodes[name] == nil {
		w.nodes[name] = &slowNode{}
	}
	w.nodes[name].pods = append(w.nodes[name].pods, pod)
}

func slowNodeOf(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" || pod.Spec.Affinity == nil {
		return pod.Spec.NodeName
	}
	for _, term := range pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, field := range term.MatchFields {
			if field.Operator == corev1.NodeSelectorOpIn && len(field.Values) == 1 {
				return field.Values[0]
			}
		}
	}
	return ""
}

func (w *slowWorld) desired() int {
	count := 0
	for _, node := range w.nodes {
		if node.run {
			count++
		}
	}
	return count
}

func (w *slowWorld) hashed(pod *corev1.Pod) bool {
	return pod.Labels["controller-revision-hash"] == w.hash
}

// isNew is what section 5 means by new.
func (w *slowWorld) isNew(pod *corev1.Pod) bool {
	if w.hashed(pod) {
		return true
	}
	generation, err := strconv.Atoi(w.set.Annotations["deprecated.daemonset.template.generation"])
	return err == nil && pod.Labels["pod-template-generation"] == strconv.Itoa(generation)
}

func slowReady(pod *corev1.Pod) (since time.Time, ready bool) {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time, true
		}
	}
	return time.Time{}, false
}

func (w *slowWorld) available(pod *corev1.Pod) bool {
	since, ready := slowReady(pod)
	if !ready || w.set.Spec.MinReadySeconds == 0 {
		return ready
	}
	return !since.IsZero() && !since.Add(time.Duration(w.set.Spec.MinReadySeconds)*time.Second).After(w.now)
}

// step runs the per-node step and, if that did nothing, the update step.
func (w *slowWorld) step() {
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		w.stepNode(name, w.nodes[name])
	}
	idle := len(w.createsDue) == 0 && len(w.deletesDue) == 0
	if !idle || w.set.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType {
		return
	}
	unavailable, surge := w.limits(w.desired())
	if surge > 0 {
		w.updateWithSurge(surge)
	} else {
		w.update(unavailable)
	}
}

// stepNode is section 4.
func (w *slowWorld) stepNode(name string, node *slowNode) {
	switch {
	case !node.exists:
		for _, pod := range node.pods {
			if pod.Spec.NodeName == "" {
				w.deletesDue[pod.Name] = true
			}
		}
		return
	case node.run && len(node.pods) == 0:
		w.createsDue[name] = true
		return
	case !node.stay:
		for _, pod := range node.pods {
			if pod.DeletionTimestamp == nil {
				w.deletesDue[pod.Name] = true
			}
		}
		return
	}
	live := w.finish(name, node)
	_, surge := w.limits(1)
	switch {
	case surge == 0 && len(live) > 1:
		for _, pod := range live[1:] {
			w.deletesDue[pod.Name] = true
		}
	case surge > 0 && len(live) == 0 && node.run:
		w.createsDue[name] = true
	case surge > 0 && len(live) > 1:
		w.prune(live)
	}
}

// finish deletes what has ended and returns what lives.
func (w *slowWorld) finish(name string, node *slowNode) (live []*corev1.Pod) {
	var failed []*corev1.Pod
	for _, pod := range node.pods {
		switch {
		case pod.DeletionTimestamp != nil:
		case pod.Status.Phase == corev1.PodFailed:
			failed = append(failed, pod)
		case pod.Status.Phase == corev1.PodSucceeded:
			w.succeeded++
			w.deletesDue[pod.Name] = true
		default:
			live = append(live, pod)
		}
	}
	slices.SortFunc(failed, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	for i, pod := range failed {
		delay, running := w.backoffOf(name)
		switch {
		case running:
			w.wakes = append(w.wakes, w.now.Add(delay))
		case i == 0:
			w.failed++
			w.deletesDue[pod.Name] = true
		default: // waits for the first one
			w.wakes = append(w.wakes, w.now.Add(min(max(2*delay, time.Second), 15*time.Minute)))
		}
	}
	return live
}

// backoffOf is the delay of a node's entry, zero if there is none any more.
func (w *slowWorld) backoffOf(node string) (delay time.Duration, running bool) {
	for _, entry := range w.table {
		ours := entry.Key.Owner == w.set.UID && entry.Key.Generation == w.set.Status.ObservedGeneration
		if ours && entry.Key.Node == node && w.now.Sub(entry.Since) <= 30*time.Minute {
			return entry.Delay, entry.Since.Add(entry.Delay).After(w.now)
		}
	}
	return 0, false
}

// prune leaves the first pod with the hash and the first without, of which the old one goes
// if it is not ready or no longer needed.
func (w *slowWorld) prune(live []*corev1.Pod) {
	var hashed, other []*corev1.Pod
	for _, pod := range live {
		if w.hashed(pod) {
			hashed = append(hashed, pod)
		} else {
			other = append(other, pod)
		}
	}
	for _, pods := range [][]*corev1.Pod{hashed, other} {
		for i, pod := range pods {
			if i > 0 {
				w.deletesDue[pod.Name] = true
			}
		}
	}
	if len(hashed) == 0 || len(other) == 0 {
		return
	}
	if _, ready := slowReady(other[0]); !ready || w.available(hashed[0]) {
		w.deletesDue[other[0].Name] = true
	}
}
