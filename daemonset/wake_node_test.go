package daemonset_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
)

// wakeNode is a node "n" with a label and a PreferNoSchedule taint.
func wakeNode(edits ...func(*corev1.Node)) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "node", Labels: map[string]string{"disk": "ssd"}}}
	node.Spec.Taints = []corev1.Taint{{Key: "soft", Effect: corev1.TaintEffectPreferNoSchedule}}
	return edited(node, edits)
}

func tainted(effect corev1.TaintEffect) func(*corev1.Node) {
	return func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "db", Value: "x", Effect: effect})
	}
}

func TestNodeMatters(t *testing.T) {
	taintKey := func(n *corev1.Node) { n.Spec.Taints[0].Key = "other" }
	taintValue := func(n *corev1.Node) { n.Spec.Taints[0].Value = "other" }
	taintTime := func(n *corev1.Node) { n.Spec.Taints[0].TimeAdded = &metav1.Time{Time: time.Unix(1, 0)} }
	relabelled := func(n *corev1.Node) { n.Labels["disk"] = "hdd" }
	cordoned := func(n *corev1.Node) { n.Spec.Unschedulable = true }
	annotated := func(n *corev1.Node) { n.Annotations = map[string]string{"a": "b"} }
	ready := func(n *corev1.Node) {
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		n.ResourceVersion = "2"
	}
	tests := []struct {
		name      string
		why       string
		prev, cur *corev1.Node
		want      bool
	}{
		{"added", "every set may want it", nil, wakeNode(), true},
		{"deleted", "its pods wake their sets when they go", wakeNode(), nil, false},
		{"nothing", "no event", nil, nil, false},
		{"unchanged", "a resync", wakeNode(), wakeNode(), false},
		{"another UID", "a new node under an old name", wakeNode(), wakeNode(func(n *corev1.Node) { n.UID = "new" }), true},
		{"label changed", "selectors and affinity read labels", wakeNode(), wakeNode(relabelled), true},
		{"taint added", "tolerations read taints", wakeNode(), wakeNode(tainted(corev1.TaintEffectNoSchedule)), true},
		{"taint removed", "tolerations read taints", wakeNode(tainted(corev1.TaintEffectNoSchedule)), wakeNode(), true},
		{"taint's effect", "tolerations read it", wakeNode(tainted(corev1.TaintEffectNoSchedule)), wakeNode(tainted(corev1.TaintEffectNoExecute)), true},
		{"taint's key", "tolerations read it", wakeNode(), wakeNode(taintKey), true},
		{"taint's value", "tolerations read it", wakeNode(), wakeNode(taintValue), true},
		{"taint's time", "nothing reads it", wakeNode(), wakeNode(taintTime), false},
		{"cordoned", "only the taint that follows counts", wakeNode(), wakeNode(cordoned), false},
		{"annotated", "nothing reads it", wakeNode(), wakeNode(annotated), false},
		{"became ready", "conditions are never read", wakeNode(), wakeNode(ready), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, daemonset.NodeMatters(tt.prev, tt.cur), tt.why)
		})
	}
}

func TestNodeChanged(t *testing.T) {
	run, keep, evict := wakeNode(), wakeNode(tainted(corev1.TaintEffectNoSchedule)), wakeNode(tainted(corev1.TaintEffectNoExecute))
	misscheduled := func(s *appsv1.DaemonSet) { s.Status.NumberMisscheduled = 1 }
	finishing := wakePod(ownedBy("a"), terminating)
	finishing.Status.Phase = corev1.PodFailed
	failed := wakePod(ownedBy("a"))
	failed.Status.Phase = corev1.PodFailed
	tests := []struct {
		name string
		why  string
		set  *appsv1.DaemonSet
		prev *corev1.Node
		cur  *corev1.Node
		pods []*corev1.Pod
		want bool
	}{
		{"added, desired, no pod", "one has to be created", wakeSet("a"), nil, run, nil, true},
		{"added, desired, with pod", "nothing to do", wakeSet("a"), nil, run, []*corev1.Pod{wakePod(ownedBy("a"))}, false},
		{"became desired, no pod", "one has to be created", wakeSet("a"), evict, run, nil, true},
		{"became desired, with pod", "it may stay, and none was counted as misscheduled", wakeSet("a"), keep, run, []*corev1.Pod{wakePod(ownedBy("a"))}, false},
		{"kept, no pod", "none is wanted", wakeSet("a"), run, keep, nil, false},
		{"kept, with pod", "it may stay", wakeSet("a"), run, keep, []*corev1.Pod{wakePod(ownedBy("a"))}, false},
		{"not kept, no pod", "nothing to delete", wakeSet("a"), run, evict, nil, false},
		{"not kept, with pod", "it has to go", wakeSet("a"), run, evict, []*corev1.Pod{wakePod(ownedBy("a"))}, true},
		{"misscheduled, desired, with pod", "the count may be wrong now", wakeSet("a", misscheduled), keep, run, []*corev1.Pod{wakePod(ownedBy("a"))}, true},
		{"misscheduled, kept, with pod", "the count may be wrong now", wakeSet("a", misscheduled), run, keep, []*corev1.Pod{wakePod(ownedBy("a"))}, true},
		{"misscheduled, kept, no pod", "it is misscheduled elsewhere", wakeSet("a", misscheduled), run, keep, nil, false},
		{"misscheduled, not kept, no pod", "it is misscheduled elsewhere", wakeSet("a", misscheduled), run, evict, nil, false},
		{"unchanged", "only labels and taints count", wakeSet("a"), run, run.DeepCopy(), nil, false},
		{"deleted", "wakes nobody", wakeSet("a"), run, nil, nil, false},
		{"pod of another set", "not one of its pods", wakeSet("a"), nil, run, []*corev1.Pod{wakePod(ownedBy("b"))}, true},
		{"pod of a predecessor", "not one of its pods", wakeSet("a"), nil, run, []*corev1.Pod{wakePod(refers("DaemonSet", "a", "uid-old"))}, true},
		{"pod in another namespace", "not one of its pods", wakeSet("a"), nil, run, []*corev1.Pod{wakePod(ownedBy("a"), inSpace("ns2"))}, true},
		{"orphan", "not one of its pods yet", wakeSet("a"), nil, run, []*corev1.Pod{wakePod()}, true},
		{"nil pod", "ignored", wakeSet("a"), nil, run, []*corev1.Pod{nil}, true},
		{"terminating pod", "still holds the node", wakeSet("a"), nil, run, []*corev1.Pod{wakePod(ownedBy("a"), terminating)}, false},
		{"failed pod", "still holds the node", wakeSet("a"), nil, run, []*corev1.Pod{failed}, false},
		{"failed pod being deleted", "holds the node no more", wakeSet("a"), nil, run, []*corev1.Pod{finishing}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var index daemonset.SetIndex
			index.Put(tt.set)
			var want daemonset.Wakes
			if tt.want {
				want.Sets = keys("a")
			}
			assert.Equal(t, want, index.NodeChanged(tt.prev, tt.cur, tt.pods), tt.why)
		})
	}
}

func TestSetIndexOptions(t *testing.T) {
	set := wakeSet("a", func(s *appsv1.DaemonSet) {
		s.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "db", Operator: "Gt", Value: "1"}}
	})
	node := wakeNode(func(n *corev1.Node) {
		n.Spec.Taints = []corev1.Taint{{Key: "db", Value: "2", Effect: corev1.TaintEffectNoSchedule}}
	})
	for _, compares := range []bool{true, false} {
		index := daemonset.NewSetIndex(placement.Options{ComparisonTolerations: compares})
		index.Put(set)
		assert.Equal(t, compares, len(index.NodeChanged(nil, node, nil).Sets) == 1)
	}
}

func TestSetIndexPut(t *testing.T) {
	ssd := func(s *appsv1.DaemonSet) { s.Spec.Template.Spec.NodeSelector = map[string]string{"disk": "ssd"} }
	hdd := func(s *appsv1.DaemonSet) { s.Spec.Template.Spec.NodeSelector = map[string]string{"disk": "hdd"} }
	generation := func(g int64) func(*appsv1.DaemonSet) { return func(s *appsv1.DaemonSet) { s.Generation = g } }
	reborn := func(s *appsv1.DaemonSet) { s.UID = "reborn" }
	misscheduled := func(s *appsv1.DaemonSet) { s.Status.NumberMisscheduled = 1 }
	own := []*corev1.Pod{wakePod(ownedBy("a"))}
	tests := []struct {
		name string
		why  string
		puts []*appsv1.DaemonSet
		pods []*corev1.Pod
		want bool
	}{
		{"generation raised", "a new spec is read", []*appsv1.DaemonSet{wakeSet("a", hdd, generation(1)), wakeSet("a", ssd, generation(2))}, nil, true},
		{"no generation", "nothing says that the spec is the same", []*appsv1.DaemonSet{wakeSet("a", hdd), wakeSet("a", ssd)}, nil, true},
		{
			"successor of the same generation", "another UID is another set",
			[]*appsv1.DaemonSet{wakeSet("a", hdd, generation(1)), wakeSet("a", ssd, generation(1), reborn)},
			nil, true,
		},
		{
			"misscheduled since", "the status is read without a new generation",
			[]*appsv1.DaemonSet{wakeSet("a", generation(1)), wakeSet("a", generation(1), misscheduled)},
			own, true,
		},
		{
			"misscheduled no more", "the status is read without a new generation",
			[]*appsv1.DaemonSet{wakeSet("a", generation(1), misscheduled), wakeSet("a", generation(1))},
			own, false,
		},
		{"nil", "ignored", []*appsv1.DaemonSet{nil}, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var index daemonset.SetIndex
			for _, set := range tt.puts {
				index.Put(set)
			}
			assert.Equal(t, tt.want, len(index.NodeChanged(nil, wakeNode(), tt.pods).Sets) == 1, tt.why)
		})
	}
}

func TestSetIndexRemove(t *testing.T) {
	index := wakeIndex()
	count := index.Len()
	index.Remove(keys("missing")[0])
	require.Equal(t, count, index.Len())
	index.Remove(keys("a")[0])
	require.Equal(t, count-1, index.Len())
	assert.Equal(t, keys("wide"), index.PodChanged(nil, wakePod()).Sets)
	assert.NotEmpty(t, index.PodChanged(nil, wakePod(inSpace("ns2"))).Sets, "the set of that name in another namespace stays")
}

// What the index answers equals what judging every set one by one answers, whatever the order
// of puts and removes that led to it.
func TestSetIndexEqualsJudgingEverySet(t *testing.T) {
	woken, quiet, adopters := 0, 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		index, sets := randomIndex(r)
		for range 10 {
			node, pods := randomNode(r), randomPods(r, sets)
			want := naiveNode(sets, node, pods)
			got := index.NodeChanged(nil, node, pods).Sets
			require.Equal(t, want, got, "seed %d", seed)
			woken += len(got)
			quiet += len(sets) - len(got)

			orphan := wakePod(labelled(pick(r, "a", "b", "c")), inSpace(pick(r, "ns", "ns2", "n", "ns3")))
			want = naiveOrphan(sets, orphan)
			got = index.PodChanged(nil, orphan).Sets
			require.Equal(t, want, got, "seed %d", seed)
			adopters += len(got)
		}
	}
	require.Positive(t, woken)
	require.Positive(t, quiet)
	require.Positive(t, adopters)
}

func randomIndex(r *rand.Rand) (*daemonset.SetIndex, map[types.NamespacedName]*appsv1.DaemonSet) {
	index, sets := daemonset.NewSetIndex(placement.Options{}), map[types.NamespacedName]*appsv1.DaemonSet{}
	for i := range 40 {
		set := wakeSet(pick(r, "a", "b", "c"), func(s *appsv1.DaemonSet) {
			s.Namespace, s.Generation = pick(r, "ns", "ns2", "n"), int64(i+1)
			s.UID = types.UID(fmt.Sprint("uid-", r.IntN(3)))
			s.Status.NumberMisscheduled = int32(r.IntN(2))
			s.Spec.Template.Spec = randomPlacement(r)
			if old := sets[types.NamespacedName{Namespace: s.Namespace, Name: s.Name}]; old != nil && r.IntN(3) == 0 {
				// Only the status has changed since.
				s.UID, s.Generation, s.Spec = old.UID, old.Generation, old.Spec
			}
		})
		key := types.NamespacedName{Namespace: set.Namespace, Name: set.Name}
		if r.IntN(4) == 0 {
			index.Remove(key)
			delete(sets, key)
			continue
		}
		index.Put(set)
		sets[key] = set
	}
	return index, sets
}

// randomPlacement asks for anything that tells nodes apart, or for nothing.
func randomPlacement(r *rand.Rand) corev1.PodSpec {
	var spec corev1.PodSpec
	for range r.IntN(3) {
		spec.Tolerations = append(spec.Tolerations, corev1.Toleration{
			Key: pick(r, "", "db", "gpu"), Operator: corev1.TolerationOpExists,
			Effect: pick(r, corev1.TaintEffectNoExecute, corev1.TaintEffectNoSchedule, ""),
		})
	}
	switch r.IntN(5) {
	case 0:
		spec.NodeName = pick(r, "n", "m")
	case 1, 2:
		spec.NodeSelector = map[string]string{"disk": pick(r, "ssd", "hdd"), "zone": pick(r, "1", "2")}
	case 3:
		var terms []corev1.NodeSelectorTerm
		for range r.IntN(3) {
			terms = append(terms, randomTerm(r))
		}
		spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
		}}
	}
	return spec
}

func randomTerm(r *rand.Rand) corev1.NodeSelectorTerm {
	var term corev1.NodeSelectorTerm
	for range r.IntN(3) {
		term.MatchExpressions = append(term.MatchExpressions, pick(r,
			corev1.NodeSelectorRequirement{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{"ssd", pick(r, "hdd", "ssd")}},
			corev1.NodeSelectorRequirement{Key: "zone", Operator: corev1.NodeSelectorOpGt, Values: []string{"1"}},
			corev1.NodeSelectorRequirement{Key: "zone", Operator: corev1.NodeSelectorOpExists},
			corev1.NodeSelectorRequirement{Key: "disk", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"hdd"}},
			corev1.NodeSelectorRequirement{Key: "disk", Operator: "Like"},
		))
	}
	if r.IntN(4) == 0 {
		term.MatchFields = []corev1.NodeSelectorRequirement{{
			Key: metav1.ObjectNameField, Operator: pick(r, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn), Values: []string{pick(r, "n", "m")},
		}}
	}
	return term
}

func randomNode(r *rand.Rand) *corev1.Node {
	node := wakeNode(func(n *corev1.Node) { n.Name, n.Labels["disk"] = pick(r, "n", "m", "o", ""), pick(r, "ssd", "hdd", "") })
	if r.IntN(2) == 0 {
		node.Labels["zone"] = pick(r, "1", "2", "x")
	}
	for range r.IntN(3) {
		tainted(pick(r, corev1.TaintEffectNoExecute, corev1.TaintEffectNoSchedule))(node)
		node.Spec.Taints[len(node.Spec.Taints)-1].Key = pick(r, "db", "gpu", "other")
	}
	return node
}

func randomPods(r *rand.Rand, sets map[types.NamespacedName]*appsv1.DaemonSet) []*corev1.Pod {
	var pods []*corev1.Pod
	for _, set := range sets {
		switch r.IntN(3) {
		case 0:
			pods = append(pods, daemonPod(set))
		case 1:
			other := set.DeepCopy()
			other.UID = "uid-other"
			pods = append(pods, daemonPod(other))
		}
	}
	return pods
}

func naiveNode(sets map[types.NamespacedName]*appsv1.DaemonSet, node *corev1.Node, pods []*corev1.Pod) []types.NamespacedName {
	return naive(sets, func(set *appsv1.DaemonSet) bool {
		has := slices.ContainsFunc(pods, func(p *corev1.Pod) bool {
			return metav1.IsControlledBy(p, set) && p.Namespace == set.Namespace && p.OwnerReferences[0].Name == set.Name
		})
		decision := placement.NewMatcher(&set.Spec.Template.Spec, placement.Options{}).Evaluate(node).Decision
		return decision == placement.Run && !has || decision == placement.Evict && has || has && set.Status.NumberMisscheduled > 0
	})
}

func naiveOrphan(sets map[types.NamespacedName]*appsv1.DaemonSet, pod *corev1.Pod) []types.NamespacedName {
	return naive(sets, func(set *appsv1.DaemonSet) bool {
		selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
		return err == nil && set.Namespace == pod.Namespace && selector.Matches(labels.Set(pod.Labels))
	})
}

func naive(sets map[types.NamespacedName]*appsv1.DaemonSet, wakes func(*appsv1.DaemonSet) bool) []types.NamespacedName {
	var found []types.NamespacedName
	for key, set := range sets {
		if wakes(set) {
			found = append(found, key)
		}
	}
	slices.SortFunc(found, func(a, b types.NamespacedName) int {
		return slices.Compare([]string{a.Namespace, a.Name}, []string{b.Namespace, b.Name})
	})
	return found
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// A node that wakes nobody costs one allocation, whatever the number of sets.
func TestNodeChangedAllocations(t *testing.T) {
	index, sets := crowd(1000)
	var pods []*corev1.Pod
	for _, set := range sets {
		pods = append(pods, daemonPod(set))
	}
	node := linuxNode()
	require.Empty(t, index.NodeChanged(nil, node, pods).Sets)
	require.LessOrEqual(t, testing.AllocsPerRun(20, func() { index.NodeChanged(nil, node, pods) }), 1.0)
	require.Zero(t, testing.AllocsPerRun(20, func() { index.NodeChanged(node, node, pods) }))

	busy := sets[0].DeepCopy()
	busy.Generation = 1
	index.Put(busy)
	require.LessOrEqual(t, testing.AllocsPerRun(20, func() { index.Put(busy) }), 1.0, "a status update prepares nothing")
}
