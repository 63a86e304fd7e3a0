package clusterapi_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
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

const (
	simulationSeeds = 2000
	simulationSteps = 200
	maxBudget       = 3 // no strategy of a simulation allows more
	passesToSettle  = 400
)

// TestSimulation runs one set through edits, node churn, failing kubelets, stale reads,
// failing writes, misdelivered events and crashes, and checks after every step what must
// always hold; then everything turns well, and the set must reach the state that a run
// without trouble reaches.
//
// DAEMONPLAN_SEED=N runs one seed; DAEMONPLAN_SEEDS says how many there are.
func TestSimulation(t *testing.T) {
	first, count := 1, simulationSeeds
	if testing.Short() {
		count = 100
	}
	if text := os.Getenv("DAEMONPLAN_SEEDS"); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(t, err)
		count = n
	}
	if text := os.Getenv("DAEMONPLAN_SEED"); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(t, err)
		first, count = n, 1
	}
	total := events{}
	for seed := first; seed < first+count && !t.Failed(); seed++ {
		s := newSimulation(t, uint64(seed))
		s.run()
		total.add(s.events)
	}
	t.Log(total)
	if count >= 100 {
		total.require(t)
	}
}

// events counts what happened, so that a simulation in which nothing does is noticed.
type events map[string]int

func (e events) add(other events) {
	for name, n := range other {
		e[name] += n
	}
}

func (e events) require(t *testing.T) {
	t.Helper()
	for _, name := range []string{
		"create", "delete", "chosen", "surge", "lost", "refused", "stale", "expired", "crash", "failed pod",
		"node gone", "node back", "adopted", "rollback", "revision deleted",
	} {
		require.NotZero(t, e[name], "no simulation had a %s", name)
	}
}

type simulation struct {
	*world
	seed  uint64
	rng   *rand.Rand
	names func(*clusterapi.Config)
	// deterministic says that pod names are; caches may then lag without bound.
	deterministic bool
	events        events
	held          time.Time // when the cache that is held back is let go
	// taken are the nodes that an update has taken a pod from and not given one back yet.
	taken map[string]bool
}

func newSimulation(t *testing.T, seed uint64) *simulation {
	t.Helper()
	s := &simulation{
		world:  &world{T: t, cluster: fake.New(seed)},
		seed:   seed,
		rng:    rand.New(rand.NewPCG(seed, 2)),
		names:  func(*clusterapi.Config) {},
		events: events{},
		taken:  map[string]bool{},
	}
	if seed%4 == 0 {
		s.deterministic = true
		s.names = func(c *clusterapi.Config) { c.PodNames = clusterapi.DeterministicNames }
	}
	for i := range 2 + s.rng.IntN(5) {
		s.addNode(nodeName(i))
	}
	_, err := fake.Create(s.cluster, agentSet())
	require.NoError(t, err)
	s.start()
	return s
}

// start starts a process whose writes are watched.
func (s *simulation) start() {
	s.restart(s.names, func(c *clusterapi.Config) {
		c.API = &witness{ClusterAPI: s.client, Follower: s.client, simulation: s}
		c.Follow = s.seed%3 == 0
	})
}

func (s *simulation) run() {
	defer func() { // also when a requirement ends the test
		if s.Failed() {
			s.Logf("replay: DAEMONPLAN_SEED=%d go test ./clusterapi -run TestSimulation", s.seed)
		}
	}()
	for step := range simulationSteps {
		s.trouble()
		s.pass()
		s.cluster.Run(time.Duration(s.rng.IntN(4000)) * time.Millisecond)
		s.check(step)
		if s.Failed() {
			s.FailNow()
		}
	}
	s.calm()
}

// pass delivers events and makes one pass, as a runner does.
func (s *simulation) pass() {
	s.deliver()
	result, err := s.sync()
	for _, w := range result.Writes {
		switch {
		case w.Verb == clusterapi.CreatePod && w.Outcome == clusterapi.Done:
			s.events["create"]++
		case w.Verb == clusterapi.DeletePod && w.Outcome == clusterapi.Done:
			s.events["delete"]++
			s.take(result.Plan, w)
		case w.Verb == clusterapi.AdoptPod && w.Outcome == clusterapi.Done:
			s.events["adopted"]++
		case w.Verb == clusterapi.DeleteRevision && w.Outcome == clusterapi.Done:
			s.events["revision deleted"]++
		case w.Outcome == clusterapi.Unknown:
			s.events["lost"]++
		case w.Outcome == clusterapi.Failed:
			s.events["refused"]++
		}
	}
	for _, c := range result.Plan.Creates {
		if c.Reason == daemonset.SurgeStarted {
			s.events["surge"]++
		}
	}
	for _, change := range result.Plan.Revisions {
		if change.Reasons[0] == daemonset.RolledBack {
			s.events["rollback"]++
		}
	}
	if result.Stale != nil {
		s.events["stale"]++
	}
	if result.Expired.Creates > 0 || len(result.Expired.Deletes) > 0 {
		s.events["expired"]++
	}
	s.events["failed pod"] += len(result.Plan.Failures)
	if s.client.Crashed() {
		s.events["crash"]++
		s.start()
	}
	_ = err // failing is part of it; what counts is what becomes of the cluster
}

// take notes that an update took an available pod from a node.
func (s *simulation) take(plan daemonset.Plan, w clusterapi.Write) {
	for _, d := range plan.Deletes {
		if d.Pod == w.Ref && d.Reason == daemonset.Outdated {
			s.events["chosen"]++
			s.taken[d.Node] = true
		}
	}
}

// trouble lets one thing happen.
func (s *simulation) trouble() {
	if !s.held.IsZero() && !s.cluster.Now().Before(s.held) {
		s.client.SetLag(fake.Lag{})
		s.held = time.Time{}
	}
	node := nodeName(s.rng.IntN(7))
	switch s.rng.IntN(16) {
	case 0:
		s.image(fmt.Sprintf("registry.example/agent:v%d", 1+s.rng.IntN(4)))
	case 1:
		s.editStrategy()
	case 2:
		s.toggleNode(node)
	case 3:
		s.taint(node)
	case 4:
		s.cluster.SetNodeHealth(node, fake.Health(s.rng.IntN(3)))
	case 5:
		s.cluster.SetFateOn(node, fake.Fate{
			Outcome: fake.Outcome(s.rng.IntN(7)),
			After:   time.Duration(s.rng.IntN(20)) * time.Second,
			Hangs:   s.rng.IntN(8) == 0,
		})
	case 6:
		s.cluster.SetFateOn(node, fake.Fate{})
	case 7:
		kinds := []fake.Kind{fake.PodKind, fake.DaemonSetKind, fake.RevisionKind, fake.NodeKind}
		s.client.SetLag(fake.Lag{Age: time.Duration(s.rng.IntN(8)) * time.Second}, kinds[s.rng.IntN(4)])
	case 8:
		s.client.SetLag(fake.Lag{Hold: true}, fake.PodKind)
		s.held = s.cluster.Now().Add(time.Duration(s.rng.IntN(20)) * time.Second)
		if s.deterministic {
			s.held = s.cluster.Now().Add(time.Duration(s.rng.IntN(20)) * time.Minute)
		}
	case 9:
		s.client.SetChaos(fake.Chaos{Refuse: s.rng.Float64() / 3, Lose: s.rng.Float64() / 3})
	case 10:
		s.client.SetChaos(fake.Chaos{})
	case 11:
		s.watch.Distort(fake.Distortion{Drop: s.rng.Float64() / 10, Repeat: 0.2, Delay: 0.2, Reorder: 0.3})
	case 12:
		s.client.Inject(fake.Fault{Call: fake.AnyWrite, Skip: s.rng.IntN(3), When: fake.When(s.rng.IntN(2)), Crash: true})
	case 13:
		s.orphan()
	case 14:
		// Long enough for expectations and old versions to be given up. A cache that still
		// lags by then leads to twins, but not if names are deterministic.
		if s.rng.IntN(4) == 0 && (s.held.IsZero() || s.deterministic) {
			s.cluster.Run(6 * time.Minute)
		}
	}
}

func (s *simulation) addNode(name string) {
	_, err := fake.Create(s.cluster, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
	require.NoError(s, err)
}

func (s *simulation) toggleNode(name string) {
	key := types.NamespacedName{Name: name}
	if _, err := fake.Get[*corev1.Node](s.cluster, key); err != nil {
		s.events["node back"]++
		s.addNode(name)
		return
	}
	if len(fake.List[*corev1.Node](s.cluster, "")) > 1 {
		s.events["node gone"]++
		require.NoError(s, fake.Delete[*corev1.Node](s.cluster, key, fake.DeleteOptions{}))
	}
}

func (s *simulation) taint(name string) {
	effects := []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule}
	own := corev1.Taint{Key: "dedicated", Effect: effects[s.rng.IntN(3)]}
	_, err := fake.Edit(s.cluster, types.NamespacedName{Name: name}, func(n *corev1.Node) {
		kept := slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == own.Key })
		if len(kept) == len(n.Spec.Taints) {
			kept = append(kept, own)
		}
		n.Spec.Taints = kept
	})
	_ = err // the node may not be there
}

func (s *simulation) editStrategy() {
	s.edit(func(set *appsv1.DaemonSet) {
		unavailable, surge := intstr.FromInt(1+s.rng.IntN(maxBudget)), intstr.FromInt(0)
		if s.rng.IntN(3) == 0 {
			unavailable, surge = surge, intstr.FromInt(1+s.rng.IntN(maxBudget))
		}
		set.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &unavailable, MaxSurge: &surge}
		set.Spec.MinReadySeconds = int32(5 * s.rng.IntN(3))
		limit := int32(s.rng.IntN(3))
		set.Spec.RevisionHistoryLimit = &limit
	})
}

// orphan takes the owner from a pod, as somebody may by hand.
func (s *simulation) orphan() {
	pods := s.pods()
	if len(pods) == 0 {
		return
	}
	pod := pods[s.rng.IntN(len(pods))]
	_, err := fake.Edit(s.cluster, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, func(p *corev1.Pod) {
		p.OwnerReferences = nil
	})
	_ = err
}

// check looks at the cluster itself, not at what the driver sees of it.
func (s *simulation) check(step int) {
	current := map[string]int{}
	for _, pod := range s.pods() {
		if !live(pod) || metav1.GetControllerOf(pod) == nil {
			continue
		}
		node, _ := placementOf(pod)
		current[node+" "+pod.Labels[appsv1.ControllerRevisionHashLabelKey]]++
		if available(pod) {
			delete(s.taken, node)
		}
	}
	for where, n := range current {
		if n > 1 {
			s.Errorf("seed %d step %d: %d live pods of one revision on %s", s.seed, step, n, where)
		}
	}
	for node := range s.taken {
		if !s.eligible(node) {
			delete(s.taken, node) // it would have lost its pod, or not got one, in any case
		}
	}
	if len(s.taken) > maxBudget {
		s.Errorf("seed %d step %d: an update took the pods of %d nodes at once: %v", s.seed, step, len(s.taken), s.taken)
	}
}

func (s *simulation) eligible(name string) bool {
	node, err := fake.Get[*corev1.Node](s.cluster, types.NamespacedName{Name: name})
	return err == nil && !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Effect != corev1.TaintEffectPreferNoSchedule
	})
}

func live(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded
}

func available(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// witness sees every delete before it is sent.
type witness struct {
	clusterapi.ClusterAPI
	clusterapi.Follower
	simulation *simulation
	mu         sync.Mutex
}

// CreatePod takes its time, and events arrive meanwhile.
func (w *witness) CreatePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	w.mu.Lock()
	w.simulation.cluster.Run(300 * time.Millisecond)
	w.simulation.deliver()
	w.mu.Unlock()
	return w.ClusterAPI.CreatePod(ctx, pod)
}

func (w *witness) DeletePod(ctx context.Context, ref daemonset.Ref) error {
	w.mu.Lock()
	s := w.simulation
	pod, err := fake.Get[*corev1.Pod](s.cluster, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name})
	if err == nil && pod.UID == ref.UID {
		if owner := metav1.GetControllerOf(pod); owner != nil && owner.UID != s.set().UID {
			s.Errorf("seed %d: the delete of pod %s would hit one of %s", s.seed, ref.Name, owner.Name)
		}
	}
	w.mu.Unlock()
	return w.ClusterAPI.DeletePod(ctx, ref)
}

// calm ends all trouble and requires that everything comes right.
func (s *simulation) calm() {
	s.client.ClearFaults()
	s.client.SetLag(fake.Lag{})
	s.watch.Distort(fake.Distortion{})
	s.cluster.SetFate(nil)
	for i := range 7 {
		s.cluster.SetFateOn(nodeName(i), fake.Fate{})
		s.cluster.SetNodeHealth(nodeName(i), fake.Healthy)
	}
	s.cluster.Run(20 * time.Minute) // what was lost is given up, hung pods end, backoffs run out
	s.settle(passesToSettle)
	s.requireIdeal()
}

// requireIdeal requires the state that a run without trouble ends in.
func (s *simulation) requireIdeal() {
	set := s.set()
	on := map[string][]*corev1.Pod{}
	for _, pod := range s.pods() {
		if owner := metav1.GetControllerOf(pod); owner != nil && owner.UID == set.UID {
			node, _ := placementOf(pod)
			on[node] = append(on[node], pod)
		}
	}
	desired := 0
	for _, node := range fake.List[*corev1.Node](s.cluster, "") {
		if !s.eligible(node.Name) {
			delete(on, node.Name)
			continue
		}
		desired++
		pods := on[node.Name]
		delete(on, node.Name)
		if len(pods) != 1 || !live(pods[0]) || !available(pods[0]) {
			s.Errorf("seed %d: %s ends with %d pods", s.seed, node.Name, len(pods))
			continue
		}
		if got, want := pods[0].Spec.Containers[0].Image, set.Spec.Template.Spec.Containers[0].Image; got != want {
			s.Errorf("seed %d: %s ends with %s, not %s", s.seed, node.Name, got, want)
		}
	}
	for node, pods := range on {
		s.Errorf("seed %d: %d pods end on %s, which does not exist", s.seed, len(pods), node)
	}
	if got := int(set.Status.NumberAvailable); got != desired {
		s.Errorf("seed %d: status says %d available, there are %d", s.seed, got, desired)
	}
	if n := s.driver.Expectations().Owners(); n != 0 {
		s.Errorf("seed %d: %d owners still wait for something", s.seed, n)
	}
	if s.Failed() {
		s.Logf("replay: DAEMONPLAN_SEED=%d go test ./clusterapi -run TestSimulation", s.seed)
		s.FailNow()
	}
}
