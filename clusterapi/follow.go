package clusterapi

import (
	"context"
	"fmt"
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

	// Stop ends it. It is called once, and does not wait for a call of Changes whose context is
	// done but which still goes on.
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
	begun   bool // what was there at first is settled
}

// first reports whether nothing has been settled yet, the first time it is asked. That of nil is
// false.
func (f *followed) first() bool {
	if f == nil {
		return false
	}
	first := !f.begun
	f.begun = true
	return first
}

// followedSets is those of a driver. Its zero value is ready.
type followedSets struct {
	mu   sync.Mutex
	sets map[types.NamespacedName]*followed
}

// get returns what is followed of a key; nil if nothing is.
func (s *followedSets) get(key types.NamespacedName) *followed {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sets[key]
}

func (s *followedSets) add(key types.NamespacedName, f *followed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sets == nil {
		s.sets = map[types.NamespacedName]*followed{}
	}
	s.sets[key] = f
}

// drop ends it. Other sets do not wait for that.
func (s *followedSets) drop(key types.NamespacedName) {
	s.mu.Lock()
	f := s.sets[key]
	delete(s.sets, key)
	s.mu.Unlock()
	if f != nil {
		f.Stop()
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
		if err == nil {
			err = belongs(seen, key)
		}
		return sighting{Observation: seen}, err
	}
	f, err := d.follow(ctx, key)
	if err != nil {
		return sighting{}, err
	}
	changes, err := call(ctx, d, f.Changes)
	seen := Observation{Objects: daemonset.Objects{DaemonSet: changes.DaemonSet}, AsOf: changes.AsOf}
	if err == nil {
		err = belongs(seen, key)
	}
	if err != nil {
		d.followed.drop(key)
		return sighting{}, err
	}
	switch known := f.planner.DaemonSet(); {
	case known == nil: // what is there from the beginning has not just come
	case known.UID != changes.DaemonSet.UID:
		d.followed.drop(key) // a successor: other pods are shown
		return d.observe(ctx, key)
	default:
		d.sawPods(f.planner, changes)
	}
	changes.Tell(f.planner)
	return sighting{Observation: seen, followed: f}, nil
}

// follow returns what is followed of a key, and begins with it if nothing is.
func (d *Driver) follow(ctx context.Context, key types.NamespacedName) (*followed, error) {
	if f := d.followed.get(key); f != nil {
		return f, nil
	}
	following, err := call(ctx, d, func(context.Context) (Following, error) {
		return d.cfg.API.(Follower).Follow(key), nil
	})
	switch {
	case err != nil:
		return nil, err
	case following == nil:
		return nil, fmt.Errorf("%w: Follow returned nil", ErrAdapter)
	}
	f := &followed{Following: following, planner: daemonset.NewPlanner(d.cfg.Options)}
	d.followed.add(key, f)
	return f, nil
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

// sawPods settles what changes of pods show that the planner has not been told of.
func (d *Driver) sawPods(planner *daemonset.Planner, changes Changes) {
	tracker, owner := d.cfg.Expectations, changes.DaemonSet.UID
	for _, pod := range changes.Pods {
		if pod == nil {
			continue
		}
		prev := planner.Pod(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name})
		if prev != nil && prev.UID != pod.UID {
			tracker.SawDelete(owner, prev.UID)
			prev = nil
		}
		if of, ok := daemonset.OwnerOf(pod); ok && of.UID == owner && prev == nil {
			tracker.SawCreate(owner, pod.UID)
		}
		if pod.DeletionTimestamp != nil {
			tracker.SawDelete(owner, pod.UID)
		}
	}
	for _, key := range changes.GonePods { // also one that was adopted and deleted unseen
		if prev := planner.Pod(key); prev != nil {
			tracker.SawDelete(owner, prev.UID)
		}
	}
}

// sighting is what a pass goes by: all objects, or a planner that knows them.
type sighting struct {
	Observation
	*followed // nil: all objects
}

// pods lists what is seen of some pods of the set.
func (s sighting) pods(refs []daemonset.Ref) []*corev1.Pod {
	if s.followed == nil {
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
	if s.followed != nil {
		return s.planner.Wake()
	}
	return plan.Wake()
}

// revisions lists what is seen of the revisions.
func (s sighting) revisions() []*appsv1.ControllerRevision {
	if s.followed == nil {
		return s.Objects.Revisions
	}
	return s.planner.Objects().Revisions
}
