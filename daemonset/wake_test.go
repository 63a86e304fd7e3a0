package daemonset_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
)

// wakeSet is a set in namespace "ns" that selects app=<name>, with UID "uid-<name>".
func wakeSet(name string, edits ...func(*appsv1.DaemonSet)) *appsv1.DaemonSet {
	labels := map[string]string{"app": name}
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("uid-" + name)}}
	set.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	set.Spec.Template.Labels = labels
	return edited(set, edits)
}

// wakePod is the pod "p" of UID "pod" in namespace "ns", labelled app=a.
func wakePod(edits ...func(*metav1.ObjectMeta)) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: wakeMeta("p", "pod", edits)}
}

func wakeRevision(edits ...func(*metav1.ObjectMeta)) *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{ObjectMeta: wakeMeta("r", "rev", edits)}
}

func wakeMeta(name string, uid types.UID, edits []func(*metav1.ObjectMeta)) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{Namespace: "ns", Name: name, UID: uid, Labels: map[string]string{"app": "a"}}
	return *edited(&meta, edits)
}

func edited[T any](object *T, edits []func(*T)) *T {
	for _, edit := range edits {
		edit(object)
	}
	return object
}

func ownedBy(name string) func(*metav1.ObjectMeta) { return refers("DaemonSet", name, "uid-"+name) }

func refers(kind, name, uid string) func(*metav1.ObjectMeta) {
	yes := true
	return func(m *metav1.ObjectMeta) {
		m.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: "apps/v1", Kind: kind, Name: name, UID: types.UID(uid), Controller: &yes,
		}}
	}
}

func version(v string) func(*metav1.ObjectMeta) {
	return func(m *metav1.ObjectMeta) { m.ResourceVersion = v }
}

func withUID(uid string) func(*metav1.ObjectMeta) {
	return func(m *metav1.ObjectMeta) { m.UID = types.UID(uid) }
}

func inSpace(ns string) func(*metav1.ObjectMeta) {
	return func(m *metav1.ObjectMeta) { m.Namespace = ns }
}

func labelled(app string) func(*metav1.ObjectMeta) {
	return func(m *metav1.ObjectMeta) { m.Labels = map[string]string{"app": app} }
}
func unlabelled(m *metav1.ObjectMeta)  { m.Labels = nil }
func terminating(m *metav1.ObjectMeta) { m.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }
func readyPod(edits ...func(*metav1.ObjectMeta)) *corev1.Pod {
	pod := wakePod(edits...)
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	return pod
}

func keys(names ...string) []types.NamespacedName {
	var found []types.NamespacedName
	for _, name := range names {
		found = append(found, types.NamespacedName{Namespace: "ns", Name: name})
	}
	return found
}

func saw(owner, pod string, what daemonset.Sight) daemonset.Sighting {
	return daemonset.Sighting{Owner: types.UID(owner), Pod: types.UID(pod), What: what}
}

// wakeIndex has the sets a, b, slow (minReadySeconds 10), wide (selects app in a, b),
// everything (an empty selector), broken (one that does not parse), none (no selector), keyless
// (asks for a key's absence), unstored (without UID), and a second "a" in the namespace "ns2".
func wakeIndex() *daemonset.SetIndex {
	index := daemonset.NewSetIndex(placement.Options{})
	expression := func(key string, op metav1.LabelSelectorOperator, values ...string) func(*appsv1.DaemonSet) {
		return func(s *appsv1.DaemonSet) {
			s.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: op, Values: values}}}
		}
	}
	for _, set := range []*appsv1.DaemonSet{
		wakeSet("wide", expression("app", metav1.LabelSelectorOpIn, "a", "b")),
		wakeSet("slow", func(s *appsv1.DaemonSet) { s.Spec.MinReadySeconds = 10 }),
		wakeSet("none", func(s *appsv1.DaemonSet) { s.Spec.Selector = nil }),
		wakeSet("everything", func(s *appsv1.DaemonSet) { s.Spec.Selector = &metav1.LabelSelector{} }),
		wakeSet("broken", expression("app", "Near", "a")),
		wakeSet("keyless", expression("app", metav1.LabelSelectorOpDoesNotExist)),
		wakeSet("b"), wakeSet("a"),
		wakeSet("unstored", func(s *appsv1.DaemonSet) { s.UID = "" }),
		wakeSet("a", func(s *appsv1.DaemonSet) { s.Namespace, s.UID = "ns2", "uid-a2" }),
	} {
		index.Put(set)
	}
	return index
}

func TestSetChanged(t *testing.T) {
	reborn := wakeSet("a", func(s *appsv1.DaemonSet) { s.UID = "reborn" })
	tests := []struct {
		name      string
		why       string
		prev, cur *appsv1.DaemonSet
		want      daemonset.Wakes
	}{
		{"added", "a set wakes itself", nil, wakeSet("a"), daemonset.Wakes{Sets: keys("a")}},
		{"changed", "a set wakes itself", wakeSet("a"), wakeSet("a"), daemonset.Wakes{Sets: keys("a")}},
		{
			"deleted", "a delete drops expectations", wakeSet("a"), nil,
			daemonset.Wakes{Sets: keys("a"), Forget: []types.UID{"uid-a"}},
		},
		{
			"another UID", "a delete, then an add", wakeSet("a"), reborn,
			daemonset.Wakes{Sets: keys("a"), Forget: []types.UID{"uid-a"}},
		},
		{
			"another name", "not one object's event, and yet nothing is lost", wakeSet("b"), wakeSet("a"),
			daemonset.Wakes{Sets: keys("a", "b"), Forget: []types.UID{"uid-b"}},
		},
		{
			"deleted without UID", "there is nobody to forget", wakeSet("a", func(s *appsv1.DaemonSet) { s.UID = "" }), nil,
			daemonset.Wakes{Sets: keys("a")},
		},
		{"nothing", "no event", nil, nil, daemonset.Wakes{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := daemonset.SetChanged(tt.prev, tt.cur)
			assert.Empty(t, cmp.Diff(tt.want, got), tt.why)
		})
	}
}

func TestPodChanged(t *testing.T) {
	created := []daemonset.Sighting{saw("uid-a", "pod", daemonset.SawCreate)}
	deleted := []daemonset.Sighting{saw("uid-a", "pod", daemonset.SawDelete)}
	tests := []struct {
		name      string
		why       string
		prev, cur *corev1.Pod
		want      daemonset.Wakes
	}{
		// Added.
		{
			"added", "a creation is observed, the set woken", nil, wakePod(ownedBy("a")),
			daemonset.Wakes{Sets: keys("a"), Seen: created},
		},
		{
			"added terminating", "a deletion, not a creation", nil, wakePod(ownedBy("a"), terminating),
			daemonset.Wakes{Sets: keys("a"), Seen: deleted},
		},
		{"added ready", "did not turn ready before our eyes", nil, readyPod(ownedBy("slow")), daemonset.Wakes{
			Sets: keys("slow"), Seen: []daemonset.Sighting{saw("uid-slow", "pod", daemonset.SawCreate)},
		}},
		{
			"added, set unknown", "the sighting counts even if the set's event comes later", nil, wakePod(refers("DaemonSet", "new", "uid-new")),
			daemonset.Wakes{Seen: []daemonset.Sighting{saw("uid-new", "pod", daemonset.SawCreate)}},
		},
		{
			"added, predecessor's", "the name is ours and the UID is not", nil, wakePod(refers("DaemonSet", "a", "uid-old")),
			daemonset.Wakes{Seen: []daemonset.Sighting{saw("uid-old", "pod", daemonset.SawCreate)}},
		},
		{
			"added, borrowed UID", "the UID is ours and the name is not", nil, wakePod(refers("DaemonSet", "b", "uid-a")),
			daemonset.Wakes{Seen: created},
		},
		{"added, ReplicaSet's", "of another kind, with our name and UID", nil, wakePod(refers("ReplicaSet", "a", "uid-a")), daemonset.Wakes{}},
		{"added, no UIDs", "the empty UID names nobody", nil, wakePod(refers("DaemonSet", "unstored", "")), daemonset.Wakes{}},
		{
			"added, no UID of its own", "nothing can be settled by it", nil, wakePod(ownedBy("a"), withUID("")),
			daemonset.Wakes{Sets: keys("a")},
		},
		{
			"added in another namespace", "a reference never leaves its namespace", nil, wakePod(ownedBy("a"), inSpace("ns2")),
			daemonset.Wakes{Seen: created},
		},

		// Orphans.
		{"orphan added", "every set whose selector matches, and no creation", nil, wakePod(), daemonset.Wakes{Sets: keys("a", "wide")}},
		{"orphan nobody wants", "no selector matches", nil, wakePod(labelled("z")), daemonset.Wakes{}},
		{"orphan without labels", "adopted by nobody", nil, wakePod(unlabelled), daemonset.Wakes{}},
		{
			"orphan elsewhere", "the sets of its own namespace only", nil, wakePod(inSpace("ns2")),
			daemonset.Wakes{Sets: []types.NamespacedName{{Namespace: "ns2", Name: "a"}}},
		},
		{"orphan in an empty namespace", "between two that have sets", nil, wakePod(inSpace("ns1")), daemonset.Wakes{}},
		{"orphan added terminating", "not adopted any more", nil, wakePod(terminating), daemonset.Wakes{}},
		{"orphan relabelled", "the new labels decide", wakePod(labelled("z")), wakePod(labelled("b")), daemonset.Wakes{Sets: keys("b", "wide")}},
		{"orphan updated", "only its labels matter", wakePod(version("1")), wakePod(version("2")), daemonset.Wakes{}},
		{"orphan deleted", "nobody cares", wakePod(), nil, daemonset.Wakes{}},
		{
			"orphaned", "it wakes its old set, and who might adopt it", wakePod(ownedBy("b")), wakePod(),
			daemonset.Wakes{Sets: keys("a", "b", "wide")},
		},
		{
			"orphaned by a ReplicaSet", "free for adoption since", wakePod(refers("ReplicaSet", "x", "uid-x")), wakePod(),
			daemonset.Wakes{Sets: keys("a", "wide")},
		},

		// Updated.
		{
			"updated", "its set", wakePod(ownedBy("a"), version("1")), wakePod(ownedBy("a"), version("2")),
			daemonset.Wakes{Sets: keys("a")},
		},
		{
			"owned and relabelled", "a pod with a controller is not up for adoption",
			wakePod(ownedBy("b")), wakePod(ownedBy("b"), labelled("b")),
			daemonset.Wakes{Sets: keys("b")},
		},
		{
			"handed over", "the new owner and the old one", wakePod(ownedBy("b")), wakePod(ownedBy("a")),
			daemonset.Wakes{Sets: keys("a", "b")},
		},
		{
			"handed over to another kind", "the old owner alone", wakePod(ownedBy("b")), wakePod(refers("ReplicaSet", "x", "uid-b")),
			daemonset.Wakes{Sets: keys("b")},
		},
		{"handed over to a successor", "the old owner alone; the new one is not known", wakePod(ownedBy("a")), wakePod(refers("DaemonSet", "a", "uid-new")), daemonset.Wakes{Sets: keys("a")}},
		{"handed over by name", "a reference is name, UID and kind", wakePod(ownedBy("a")), wakePod(refers("DaemonSet", "b", "uid-a")), daemonset.Wakes{Sets: keys("a")}},
		{"handed over by kind", "a reference is name, UID and kind", wakePod(ownedBy("a")), wakePod(refers("Job", "a", "uid-a")), daemonset.Wakes{Sets: keys("a")}},
		{"adopted", "the new owner; nobody waited for its creation", wakePod(), wakePod(ownedBy("a")), daemonset.Wakes{Sets: keys("a")}},
		{
			"handed over while terminating", "both, and the new owner's deletion",
			wakePod(ownedBy("b")), wakePod(ownedBy("a"), terminating),
			daemonset.Wakes{Sets: keys("a", "b"), Seen: deleted},
		},
		{
			"turned terminating", "a deletion is observed", wakePod(ownedBy("a")), wakePod(ownedBy("a"), terminating),
			daemonset.Wakes{Sets: keys("a"), Seen: deleted},
		},
		{
			"still terminating", "the sighting may repeat", wakePod(ownedBy("a"), terminating, version("1")),
			wakePod(ownedBy("a"), terminating, version("2")),
			daemonset.Wakes{Sets: keys("a"), Seen: deleted},
		},
		{
			"resync", "the same resource version is the same state",
			wakePod(ownedBy("a"), version("1")), readyPod(ownedBy("slow"), terminating, version("1")),
			daemonset.Wakes{},
		},

		// Ready.
		{
			"turned ready", "again after minReadySeconds and a second", wakePod(ownedBy("slow")), readyPod(ownedBy("slow")),
			daemonset.Wakes{Sets: keys("slow"), Later: []daemonset.Later{{Set: keys("slow")[0], After: 11 * time.Second}}},
		},
		{
			"turned ready, no minReadySeconds", "available at once", wakePod(ownedBy("a")), readyPod(ownedBy("a")),
			daemonset.Wakes{Sets: keys("a")},
		},
		{"stays unready", "nothing to wait for", wakePod(ownedBy("slow")), wakePod(ownedBy("slow")), daemonset.Wakes{Sets: keys("slow")}},
		{"stays ready", "only the turn counts", readyPod(ownedBy("slow")), readyPod(ownedBy("slow")), daemonset.Wakes{Sets: keys("slow")}},
		{"turned unready", "only the turn to ready counts", readyPod(ownedBy("slow")), wakePod(ownedBy("slow")), daemonset.Wakes{Sets: keys("slow")}},
		{"orphan turned ready", "nobody's", wakePod(labelled("slow")), readyPod(labelled("slow")), daemonset.Wakes{}},
		{
			"turned ready, set unknown", "there is nobody to wake", wakePod(refers("DaemonSet", "new", "uid-new")),
			readyPod(refers("DaemonSet", "new", "uid-new")),
			daemonset.Wakes{},
		},
		{
			"turned ready and terminating", "will not become available", wakePod(ownedBy("slow")), readyPod(ownedBy("slow"), terminating),
			daemonset.Wakes{Sets: keys("slow"), Seen: []daemonset.Sighting{saw("uid-slow", "pod", daemonset.SawDelete)}},
		},

		// Gone.
		{
			"deleted", "a deletion is observed, the set woken", wakePod(ownedBy("a")), nil,
			daemonset.Wakes{Sets: keys("a"), Seen: deleted},
		},
		{
			"deleted after terminating", "the second event of one deletion", wakePod(ownedBy("a"), terminating), nil,
			daemonset.Wakes{Sets: keys("a"), Seen: deleted},
		},
		{"deleted, ReplicaSet's", "not ours", wakePod(refers("ReplicaSet", "a", "uid-a")), nil, daemonset.Wakes{}},
		{
			"replaced", "another UID is a delete, then an add", wakePod(ownedBy("a"), withUID("old"), version("1")), wakePod(ownedBy("a"), version("1")),
			daemonset.Wakes{Sets: keys("a"), Seen: []daemonset.Sighting{saw("uid-a", "old", daemonset.SawDelete), created[0]}},
		},
		{
			"replaced by another's", "each wakes its own", wakePod(ownedBy("b"), withUID("old")), wakePod(ownedBy("a")),
			daemonset.Wakes{Sets: keys("a", "b"), Seen: []daemonset.Sighting{saw("uid-b", "old", daemonset.SawDelete), created[0]}},
		},
		{
			"replaced by an orphan", "it is new, so its labels need not differ", wakePod(withUID("old")), wakePod(),
			daemonset.Wakes{Sets: keys("a", "wide")},
		},
		{
			"replaced and ready", "another pod did not turn ready", wakePod(ownedBy("slow"), withUID("")), readyPod(ownedBy("slow")),
			daemonset.Wakes{Sets: keys("slow"), Seen: []daemonset.Sighting{saw("uid-slow", "pod", daemonset.SawCreate)}},
		},
		{"nothing", "no event", nil, nil, daemonset.Wakes{}},
	}
	index := wakeIndex()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			prev, cur := tt.prev.DeepCopy(), tt.cur.DeepCopy()
			got := index.PodChanged(tt.prev, tt.cur)
			assert.Empty(t, cmp.Diff(tt.want, got, cmpopts.EquateEmpty()), tt.why)
			assert.Equal(t, prev, tt.prev, "input changed")
			assert.Equal(t, cur, tt.cur, "input changed")
		})
	}
}

func TestRevisionChanged(t *testing.T) {
	tests := []struct {
		name      string
		why       string
		prev, cur *appsv1.ControllerRevision
		want      []types.NamespacedName
	}{
		{"added", "like a pod", nil, wakeRevision(ownedBy("a")), keys("a")},
		{"added terminating", "its owner sees it go", nil, wakeRevision(ownedBy("a"), terminating), keys("a")},
		{"updated", "its owner", wakeRevision(ownedBy("a"), version("1")), wakeRevision(ownedBy("a"), version("2")), keys("a")},
		{"handed over", "both owners", wakeRevision(ownedBy("b")), wakeRevision(ownedBy("a")), keys("a", "b")},
		{"deleted", "its owner", wakeRevision(ownedBy("a")), nil, keys("a")},
		{"orphan added", "who might adopt it", nil, wakeRevision(), keys("a", "wide")},
		{"orphan relabelled", "who might adopt it", wakeRevision(unlabelled), wakeRevision(), keys("a", "wide")},
		{"orphan deleted", "nobody cares", wakeRevision(), nil, nil},
		{"resync", "the same state", wakeRevision(ownedBy("a"), version("1")), wakeRevision(ownedBy("a"), version("1")), nil},
		{"StatefulSet's", "not ours", nil, wakeRevision(refers("StatefulSet", "a", "uid-a")), nil},
		{"nothing", "no event", nil, nil, nil},
	}
	index := wakeIndex()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := index.RevisionChanged(tt.prev, tt.cur)
			assert.Empty(t, cmp.Diff(daemonset.Wakes{Sets: tt.want}, got, cmpopts.EquateEmpty()), tt.why)
		})
	}
}

func TestOwnerOf(t *testing.T) {
	want := daemonset.Ref{Namespace: "ns", Name: "a", UID: "uid-a"}
	got, ok := daemonset.OwnerOf(wakePod(ownedBy("a")))
	require.True(t, ok)
	assert.Equal(t, want, got)

	plain := wakePod(ownedBy("a"))
	plain.OwnerReferences[0].Controller = nil
	for name, pod := range map[string]*corev1.Pod{
		"nil": nil, "orphan": wakePod(), "other kind": wakePod(refers("Job", "a", "uid-a")), "owner but no controller": plain,
	} {
		_, ok := daemonset.OwnerOf(pod)
		assert.False(t, ok, name)
	}
}

func TestWakesAnd(t *testing.T) {
	a, b, c := types.NamespacedName{Name: "a"}, types.NamespacedName{Name: "b"}, types.NamespacedName{Name: "c"}
	one := daemonset.Wakes{
		Sets: []types.NamespacedName{a, c}, Later: []daemonset.Later{{Set: a}},
		Seen: []daemonset.Sighting{{Pod: "p"}}, Forget: []types.UID{"x"},
	}
	more := daemonset.Wakes{Sets: []types.NamespacedName{b, c}, Seen: []daemonset.Sighting{{Pod: "q"}}}
	require.Equal(t, daemonset.Wakes{
		Sets: []types.NamespacedName{a, b, c}, Later: []daemonset.Later{{Set: a}},
		Seen: []daemonset.Sighting{{Pod: "p"}, {Pod: "q"}}, Forget: []types.UID{"x"},
	}, one.And(more))
	require.Equal(t, []types.NamespacedName{a, c}, one.Sets, "not written to")
	require.Equal(t, one, one.And(daemonset.Wakes{}))
	require.Zero(t, daemonset.Wakes{}.And(daemonset.Wakes{}))
}
