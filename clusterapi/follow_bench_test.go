package clusterapi_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
)

// BenchmarkFollowedUpdate has a driver that follows its set update 5,000 nodes, a tenth at a
// time, on the simulated cluster, with a pass after every ten milliseconds in which something
// happened. It reports how many times as long Compute takes to plan all these passes, and
// Compute in a Scratch without reports, as a Planner that is told of the changes. Of the
// planner's times for all passes the shortest of five counts, of Compute's the shortest of
// three for every fiftieth pass, times fifty: what else the machine does makes some long.
//
//	go test -run '^$' -bench FollowedUpdate -benchtime 1x ./clusterapi
func BenchmarkFollowedUpdate(b *testing.B) {
	const nodes = 5_000
	for b.Loop() {
		u := newFollowedUpdate(b, nodes)
		u.converge() // the set is installed
		begin := len(u.told)
		u.computed, u.scratched = 0, 0
		_, err := fake.Edit(u.cluster, agent, func(set *appsv1.DaemonSet) {
			set.Spec.Template.Spec.Containers[0].Image = "registry.example/agent:v2"
		})
		require.NoError(b, err)
		u.converge()
		set, err := fake.Get[*appsv1.DaemonSet](u.cluster, agent)
		require.NoError(b, err)
		require.Equal(b, int32(nodes), set.Status.UpdatedNumberScheduled)
		require.Equal(b, int32(nodes), set.Status.NumberAvailable)
		planner := shortest(5, func() time.Duration { return replay(b, u.told, begin) })
		passes := float64(len(u.told) - begin)
		b.ReportMetric(passes, "passes")
		b.ReportMetric(planner.Seconds()*1e6/passes, "planner-µs/pass")
		b.ReportMetric(u.computed.Seconds()*1e6/passes, "compute-µs/pass")
		b.ReportMetric(float64(u.computed)/float64(planner), "compute/planner")
		b.ReportMetric(float64(u.scratched)/float64(planner), "scratch/planner")
		u.client.Close()
	}
}

func shortest(turns int, measure func() time.Duration) time.Duration {
	least := measure()
	for range turns - 1 {
		least = min(least, measure())
	}
	return least
}

// told is what a driver's planner is told for one pass.
type told struct {
	changes clusterapi.Changes
	moment  daemonset.Moment
}

// replay has a planner make all plans, and measures those from begin on.
func replay(b *testing.B, passes []told, begin int) time.Duration {
	b.Helper()
	runtime.GC()
	planner := daemonset.NewPlanner(daemonset.Options{})
	start := b.Elapsed()
	for i, pass := range passes {
		if i == begin {
			start = b.Elapsed()
		}
		pass.changes.Tell(planner)
		_, err := planner.Plan(pass.moment)
		require.NoError(b, err)
	}
	return b.Elapsed() - start
}

type followedUpdate struct {
	testing.TB
	*timed
	cluster *fake.Cluster
	driver  *clusterapi.Driver
	watch   *fake.Watch
	ears    fake.Handlers
	events  int
}

func newFollowedUpdate(b *testing.B, nodes int) *followedUpdate {
	b.Helper()
	u := &followedUpdate{TB: b, cluster: fake.New(1)}
	for i := range nodes {
		_, err := fake.Create(u.cluster, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName(i)}})
		require.NoError(b, err)
	}
	set := agentSet()
	set.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = new(intstr.FromString("10%"))
	_, err := fake.Create(u.cluster, set)
	require.NoError(b, err)
	client := u.cluster.NewClient()
	u.watch = client.Watch()
	u.timed = &timed{ClusterAPI: client, client: client, now: u.cluster.Now, clock: b.Elapsed}
	u.driver, err = clusterapi.NewDriver(clusterapi.Config{API: u.timed, Now: u.cluster.Now, Follow: true, Parallelism: 1})
	require.NoError(b, err)
	u.timed.driver = u.driver
	u.ears = handlers(u.driver.NewFeed(nil), func(w daemonset.Wakes) {
		u.driver.Settle(w)
		u.events++
	})
	return u
}

// converge makes passes until nothing happens any more.
func (u *followedUpdate) converge() {
	u.Helper()
	for idle := 0; idle < 2; {
		for _, event := range u.watch.Drain() {
			u.ears.Handle(event)
		}
		if idle++; u.events > 0 {
			result, err := u.driver.Sync(u.Context(), agent)
			require.NoError(u, err)
			require.Nil(u, result.Stale)
			idle, u.events = 0, 0
		}
		if next, due := u.cluster.Next(); due {
			idle = 0
			u.cluster.Run(max(10*time.Millisecond, next.Sub(u.cluster.Now())))
		}
	}
}

// timed notes what a driver is told, and has Compute plan it now and then.
type timed struct {
	clusterapi.ClusterAPI
	client  *fake.Client
	driver  *clusterapi.Driver
	now     func() time.Time
	clock   func() time.Duration
	scratch daemonset.Scratch

	told                []told
	computed, scratched time.Duration
}

// Follow follows the set, and notes what is told.
func (t *timed) Follow(key types.NamespacedName) clusterapi.Following {
	return &timedFollowing{Following: t.client.Follow(key), timed: t, key: key}
}

type timedFollowing struct {
	clusterapi.Following
	timed *timed
	key   types.NamespacedName
}

func (f *timedFollowing) Changes(ctx context.Context) (clusterapi.Changes, error) {
	changes, err := f.Following.Changes(ctx)
	if err != nil {
		return changes, err
	}
	t, owner := f.timed, changes.DaemonSet.UID
	moment := daemonset.Moment{Now: t.now(), Pending: t.driver.Expectations().Pending(owner), Backoff: t.driver.Backoff().View(owner)}
	t.told = append(t.told, told{changes, moment})
	if len(t.told)%sampled != 0 {
		return changes, nil
	}
	seen, err := t.client.Observe(ctx, f.key)
	if err != nil {
		return changes, err
	}
	s := daemonset.Snapshot{Objects: seen.Objects, Pending: moment.Pending, Backoff: moment.Backoff, Now: moment.Now}
	t.computed += sampled * shortest(3, func() time.Duration {
		start := t.clock()
		_, err = daemonset.Compute(s, daemonset.Options{})
		return t.clock() - start
	})
	t.scratched += sampled * shortest(3, func() time.Duration {
		start := t.clock()
		_, err = t.scratch.Compute(s, daemonset.Options{})
		return t.clock() - start
	})
	return changes, err
}

// sampled: one pass of so many is planned by Compute as well.
const sampled = 50
