package clusterapi

import (
	"context"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/daemonset"
)

// Follower is what a ClusterAPI may be besides, for Config.Follow: it tells what has changed,
// so that a pass costs what a change does and not what the cluster does.
type Follower interface {
	// Follow begins to follow a DaemonSet of that name, which need not exist. It neither fails
	// nor waits.
	Follow(key types.NamespacedName) Following
}

// Following tells what has changed about one DaemonSet.
type Following interface {
	// Changes returns what Observe would show now and did not show when Changes was called
	// last; at first that is everything. The rules for what is shown are those of Observe. The
	// objects are only read, and kept. A set that is not there is a NotFound error. After an
	// error, and after another UID of the set, Changes is not called again. Calls do not overlap.
	Changes(ctx context.Context) (Changes, error)

	// Stop ends it. It is called once.
	Stop()
}

// Changes are the differences between two observations. Each object is in it once at most, as
// it is now, or by its name if it is gone or no longer shown.
type Changes struct {
	DaemonSet *appsv1.DaemonSet // as it is now, also if it has not changed
	Nodes     []*corev1.Node    // added or changed
	Pods      []*corev1.Pod
	Revisions []*appsv1.ControllerRevision

	GoneNodes     []string
	GonePods      []types.NamespacedName
	GoneRevisions []types.NamespacedName

	AsOf Versions // as in Observation
}

// followed is a DaemonSet that is followed, with the planner that is told.
type followed struct {
	Following
	planner *daemonset.Planner
	begun   bool // everything has been told once
}

// followedSets is those of a driver. Its zero value is ready.
type followedSets struct {
	mu   sync.Mutex
	sets map[types.NamespacedName]*followed
}

// get returns what is followed of a key, and begins with it if it is new.
func (s *followedSets) get(key types.NamespacedName, api Follower, options daemonset.Options) *followed {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.sets[key]
	if f == nil {
		if s.sets == nil {
			s.sets = map[types.NamespacedName]*followed{}
		}
		f = &followed{Following: api.Follow(key), planner: daemonset.NewPlanner(options)}
		s.sets[key] = f
	}
	return f
}

// drop ends it.
func (s *followedSets) drop(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.sets[key]; f != nil {
		f.Stop()
		delete(s.sets, key)
	}
}

// follows reports whether plans are made from changes.
func (c Config) follows() bool {
	return c.Follow && c.Options.Fit == nil && c.Options.Surge == daemonset.SurgeAnyway
}

// observe looks at the cluster: at what has changed if that is followed, else at everything.
func (d *Driver) observe(ctx context.Context, key types.NamespacedName) (sighting, error) {
	if !d.cfg.follows() {
		seen, err := call(ctx, d, func(ctx context.Context) (Observation, error) { return d.cfg.API.Observe(ctx, key) })
		return sighting{Observation: seen}, err
	}
	f := d.followed.get(key, d.cfg.API.(Follower), d.cfg.Options)
	changes, err := call(ctx, d, f.Changes)
	if err != nil {
		d.followed.drop(key)
		return sighting{}, err
	}
	seen := Observation{Objects: daemonset.Objects{DaemonSet: changes.DaemonSet}, AsOf: changes.AsOf}
	if known := f.planner.DaemonSet(); known != nil && changes.DaemonSet != nil && known.UID != changes.DaemonSet.UID {
		d.followed.drop(key) // a successor: other pods are shown
		return d.observe(ctx, key)
	}
	first := !f.begun
	f.begun = true
	for _, pod := range changes.Pods {
		if pod != nil && !first { // what is there from the beginning has not just come
			d.saw(f.planner.Pod(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}), pod)
		}
	}
	for _, pod := range changes.GonePods {
		d.saw(f.planner.Pod(pod), nil)
	}
	changes.Tell(f.planner)
	return sighting{Observation: seen, planner: f.planner, first: first}, nil
}

// Tell tells a planner of the changes.
func (changes Changes) Tell(planner *daemonset.Planner) {
	planner.SetDaemonSet(changes.DaemonSet)
	for _, node := range changes.Nodes {
		planner.PutNode(node)
	}
	for _, name := range changes.GoneNodes {
		planner.RemoveNode(name)
	}
	for _, revision := range changes.Revisions {
		planner.PutRevision(revision)
	}
	for _, revision := range changes.GoneRevisions {
		planner.RemoveRevision(revision)
	}
	for _, pod := range changes.Pods {
		planner.PutPod(pod)
	}
	for _, pod := range changes.GonePods {
		planner.RemovePod(pod)
	}
}

// saw settles what a change of a pod shows; nil stands for no pod.
func (d *Driver) saw(prev, cur *corev1.Pod) {
	if prev != nil && cur != nil && prev.UID != cur.UID {
		d.saw(prev, nil)
		prev = nil
	}
	tracker := d.cfg.Expectations
	owner, ok := daemonset.OwnerOf(cur)
	if ok && prev == nil {
		tracker.SawCreate(owner.UID, cur.UID)
	}
	if ok && cur.DeletionTimestamp != nil {
		tracker.SawDelete(owner.UID, cur.UID)
	}
	if owner, ok := daemonset.OwnerOf(prev); ok && cur == nil {
		tracker.SawDelete(owner.UID, prev.UID)
	}
}

// sighting is what a pass goes by: all objects, or a planner that knows them.
type sighting struct {
	Observation
	planner *daemonset.Planner
	first   bool // the planner was told of everything
}

// pods lists what is seen of some pods of the set.
func (s sighting) pods(refs []daemonset.Ref) []*corev1.Pod {
	if s.planner == nil {
		return s.Objects.Pods
	}
	pods := make([]*corev1.Pod, 0, len(refs))
	for _, ref := range refs {
		if pod := s.planner.Pod(types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}); pod != nil {
			pods = append(pods, pod)
		}
	}
	return pods
}

// wake is when time alone may change the plan that was made of it.
func (s sighting) wake(plan daemonset.Plan) time.Time {
	if s.planner != nil {
		return s.planner.Wake()
	}
	return plan.Wake()
}

// revisions lists what is seen of the revisions.
func (s sighting) revisions() []*appsv1.ControllerRevision {
	if s.planner == nil {
		return s.Objects.Revisions
	}
	return s.planner.Objects().Revisions
}
