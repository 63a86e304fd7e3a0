package daemonset_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/backoff"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/expectations"
	"github.com/daemonplan/daemonplan/internal/gen"
	"github.com/daemonplan/daemonplan/placement"
	"github.com/daemonplan/daemonplan/rollout"
)

// sequence is a planner, what it should know, and a source of changes.
type sequence struct {
	random  *rand.Rand
	options daemonset.Options
	planner *daemonset.Planner
	pool    []daemonset.Objects // of cases, from which objects come

	set       *appsv1.DaemonSet
	nodes     map[string]*corev1.Node
	pods      map[types.NamespacedName]*corev1.Pod
	revisions map[types.NamespacedName]*appsv1.ControllerRevision
	moment    daemonset.Moment
	plan      daemonset.Plan
	made      int
}

func newSequence(seed uint64) *sequence {
	s := &sequence{
		random:    rand.New(rand.NewPCG(seed, 7)),
		nodes:     map[string]*corev1.Node{},
		pods:      map[types.NamespacedName]*corev1.Pod{},
		revisions: map[types.NamespacedName]*appsv1.ControllerRevision{},
	}
	for i := range uint64(3) {
		c := gen.Make(gen.Bytes(3*seed+i), gen.Options{Lenient: true, Rewritten: true})
		if seed%5 == 4 && i == 2 {
			c = gen.Hostile(gen.Bytes(3*seed+i), gen.Options{Lenient: true, Rewritten: true})
		}
		s.pool = append(s.pool, c.Snapshot.Objects)
		if i == 0 {
			s.options = c.Options
			s.moment = daemonset.Moment{Now: c.Snapshot.Now, Pending: c.Snapshot.Pending, Backoff: c.Snapshot.Backoff}
		}
	}
	s.choose(seed)
	s.planner = daemonset.NewPlanner(s.options)
	s.load(s.pool[0])
	return s
}

// choose picks the options that generated cases do not have.
func (s *sequence) choose(seed uint64) {
	if seed%3 == 1 {
		s.options.Backoff = backoff.Policy{Max: 20 * time.Second}
	}
	switch seed % 12 {
	case 3:
		s.options.Profile = rollout.Kubernetes127
	case 5:
		s.options.Profile = rollout.Kubernetes112
	case 7:
		s.options.Fit = &placement.FitOptions{}
	case 9:
		s.options.Surge = daemonset.SurgeOrReplace
	case 2, 4, 6:
		s.options.Prefer = func(a, b rollout.Node) int { return strings.Compare(a.Name[len(a.Name)-1:], b.Name[len(b.Name)-1:]) }
	}
}

// load tells the planner of all objects of a case.
func (s *sequence) load(objects daemonset.Objects) {
	s.putSet(objects.DaemonSet)
	for _, o := range objects.Nodes {
		s.putNode(o)
	}
	for _, o := range objects.Pods {
		s.putPod(o)
	}
	for _, o := range objects.Revisions {
		s.putRevision(o)
	}
}

func (s *sequence) putSet(o *appsv1.DaemonSet) {
	s.set = o
	s.planner.SetDaemonSet(o)
}

func (s *sequence) putNode(o *corev1.Node) {
	if o != nil {
		s.nodes[o.Name] = o
	}
	s.planner.PutNode(o)
}

func (s *sequence) putPod(o *corev1.Pod) {
	if o != nil {
		s.pods[types.NamespacedName{Namespace: o.Namespace, Name: o.Name}] = o
	}
	s.planner.PutPod(o)
}

func (s *sequence) putRevision(o *appsv1.ControllerRevision) {
	if o != nil {
		s.revisions[types.NamespacedName{Namespace: o.Namespace, Name: o.Name}] = o
	}
	s.planner.PutRevision(o)
}

// snapshot is what Compute is given.
func (s *sequence) snapshot() daemonset.Snapshot {
	objects := daemonset.Objects{DaemonSet: s.set, Nodes: values(s.nodes), Pods: values(s.pods), Revisions: values(s.revisions)}
	if s.options.Fit != nil || s.options.Surge != daemonset.SurgeAnyway {
		objects.Others = objects.Pods
	}
	m := s.moment
	return daemonset.Snapshot{Objects: objects, Now: m.Now, Pending: m.Pending, Backoff: m.Backoff, Suspended: m.Suspended}
}

// values lists a map in order of its keys.
func values[K comparable, V any](m map[K]V) []V {
	keys := make([]K, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b K) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	list := make([]V, len(keys))
	for i, key := range keys {
		list[i] = m[key]
	}
	return list
}

// one returns one of the keys of a map, and whether there is any.
func one[K comparable, V any](s *sequence, m map[K]V) (V, bool) {
	list := values(m)
	if len(list) == 0 {
		var none V
		return none, false
	}
	return list[s.random.IntN(len(list))], true
}

func (s *sequence) from() daemonset.Objects { return s.pool[s.random.IntN(len(s.pool))] }

func (s *sequence) change() string {
	s.made++
	switch s.random.IntN(25) {
	case 0, 1:
		return s.changeSet()
	case 2:
		if objects := s.from(); len(objects.Nodes) > 0 {
			s.putNode(objects.Nodes[s.random.IntN(len(objects.Nodes))])
		}
		return "a node comes"
	case 3:
		if node, ok := one(s, s.nodes); ok {
			delete(s.nodes, node.Name)
			s.planner.RemoveNode(node.Name)
		}
		return "a node goes"
	case 4, 5, 6:
		if objects := s.from(); len(objects.Pods) > 0 {
			s.putPod(objects.Pods[s.random.IntN(len(objects.Pods))])
		}
		return "a pod comes"
	case 7:
		s.removePod()
		return "a pod goes"
	case 8:
		return s.changeRevision()
	case 9, 10, 11, 12, 13, 14:
		return s.changePod()
	case 15, 16:
		return s.apply()
	case 17, 18, 19, 20:
		return s.pass()
	case 21:
		s.moment.Backoff = s.entries()
		return "other backoff"
	case 22:
		s.moment.Pending = expectations.Pending{}
		if s.random.IntN(2) == 0 {
			s.moment.Pending = expectations.Pending{Creates: 1, Deadline: s.moment.Now.Add(time.Duration(s.random.IntN(40)) * time.Second)}
		}
		return "other writes pending"
	}
	if s.random.IntN(2) == 0 {
		return s.taintAll()
	}
	s.load(s.from())
	return "another case"
}

// taintAll leaves the set no node to run on.
func (s *sequence) taintAll() string {
	for _, node := range values(s.nodes) {
		node = node.DeepCopy()
		node.Spec.Taints = []corev1.Taint{{Key: "closed", Effect: corev1.TaintEffectNoSchedule}}
		s.putNode(node)
	}
	return "all nodes are closed"
}

func (s *sequence) removePod() {
	if pod, ok := one(s, s.pods); ok {
		key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
		delete(s.pods, key)
		s.planner.RemovePod(key)
	}
}

func (s *sequence) changeRevision() string {
	if s.random.IntN(2) == 0 {
		if objects := s.from(); len(objects.Revisions) > 0 {
			s.putRevision(objects.Revisions[s.random.IntN(len(objects.Revisions))])
		}
		return "a revision comes"
	}
	if revision, ok := one(s, s.revisions); ok {
		key := types.NamespacedName{Namespace: revision.Namespace, Name: revision.Name}
		delete(s.revisions, key)
		s.planner.RemoveRevision(key)
	}
	return "a revision goes"
}

// changePod changes one thing of one pod.
func (s *sequence) changePod() string {
	pod, ok := one(s, s.pods)
	if !ok {
		return "no pod changes"
	}
	pod = pod.DeepCopy()
	defer func() { s.putPod(pod) }()
	switch s.random.IntN(10) {
	case 0:
		pod.Status.Phase = corev1.PodFailed
	case 1:
		pod.Status.Phase = corev1.PodSucceeded
	case 2:
		pod.DeletionTimestamp = new(metav1.NewTime(s.moment.Now.Truncate(time.Second)))
	case 3:
		pod.OwnerReferences = nil
	case 4:
		pod.Labels = map[string]string{"app": "agent", appsv1.ControllerRevisionHashLabelKey: s.plan.Revision.Hash}
	case 5:
		pod.Spec.NodeName = fmt.Sprintf("node-%02d", s.random.IntN(14))
	case 6:
		pod.Status.Phase, pod.Status.Conditions = corev1.PodRunning, nil
	default:
		pod.Status.Phase = corev1.PodRunning
		since := s.moment.Now.Add(-time.Duration(s.random.IntN(30)) * time.Second).Truncate(time.Second)
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(since)}}
	}
	return "a pod changes"
}

// apply does what the plan says, more or less.
func (s *sequence) apply() string {
	for i, c := range s.plan.Creates {
		pod := s.plan.Pod(c)
		pod.Name = fmt.Sprintf("made-%d-%d", s.made, i)
		pod.UID = types.UID("uid-" + pod.Name)
		pod.CreationTimestamp = metav1.NewTime(s.moment.Now.Truncate(time.Second))
		s.putPod(pod)
	}
	for _, d := range s.plan.Deletes {
		key := types.NamespacedName{Namespace: d.Pod.Namespace, Name: d.Pod.Name}
		delete(s.pods, key)
		s.planner.RemovePod(key)
	}
	for _, change := range s.plan.Revisions {
		if change.Op == daemonset.CreateRevision && s.random.IntN(2) == 0 {
			s.putRevision(change.Revision)
		}
	}
	s.moment.Suspended = s.plan.Suspended
	var store backoff.Store
	store.Policy = s.options.Backoff
	for _, e := range s.moment.Backoff {
		store.Restore(backoff.Entries{e})
	}
	for _, key := range s.plan.Failures {
		store.Record(key, s.moment.Now)
	}
	if s.set != nil {
		s.moment.Backoff = store.View(s.set.UID)
	}
	return "the plan is applied"
}

// pass lets time pass, mostly up to when something happens, and now and then back.
func (s *sequence) pass() string {
	wake := s.plan.Wake()
	switch k := s.random.IntN(10); {
	case k < 4 && wake.After(s.moment.Now):
		s.moment.Now = wake
	case k < 6 && wake.After(s.moment.Now):
		s.moment.Now = wake.Add(-1)
	case k == 7 && len(s.moment.Backoff) > 0:
		turn := s.options.Backoff.Turns(s.moment.Backoff[s.random.IntN(len(s.moment.Backoff))], s.moment.Now)
		if turn.After(s.moment.Now) {
			s.moment.Now = turn
		}
	case k == 9:
		s.moment.Now = s.moment.Now.Add(-time.Duration(s.random.IntN(20)) * time.Second)
		return "time goes back"
	case k == 8:
		s.moment.Now = s.moment.Now.Add(time.Duration(s.random.IntN(120)) * time.Minute)
	default:
		s.moment.Now = s.moment.Now.Add(time.Duration(s.random.IntN(20)) * time.Second)
	}
	return "time passes"
}

func (s *sequence) entries() backoff.Entries {
	var entries backoff.Entries
	if s.set == nil {
		return entries
	}
	for i := range 14 {
		if s.random.IntN(3) > 0 {
			continue
		}
		ago := []time.Duration{0, time.Second, time.Minute, time.Hour, -time.Hour, -time.Minute}[s.random.IntN(6)]
		entries = append(entries, backoff.Entry{
			Key:   backoff.Key{Owner: s.set.UID, Generation: s.set.Status.ObservedGeneration, Node: fmt.Sprintf("node-%02d", i)},
			Delay: time.Second << s.random.IntN(12),
			Since: s.moment.Now.Add(-ago),
		})
	}
	return entries
}
