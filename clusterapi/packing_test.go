package clusterapi_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
)

// packing is ten sets that compete for too little room, each pod placed by its controller.
type packing struct {
	*testing.T
	rng     *rand.Rand
	cluster *fake.Cluster
	client  *fake.Client
	watch   *fake.Watch
	runner  *clusterapi.Runner
	ears    fake.Handlers
	seen    map[string]int
}

// TestPacking: whatever happens, no node is ever given more than it has, also by a driver that
// sees its writes late, and when nothing happens any more, nothing is created and deleted
// any more.
func TestPacking(t *testing.T) {
	runs := 15
	if testing.Short() {
		runs = 3
	}
	seen := map[string]int{}
	for seed := range uint64(runs) {
		p := newPacking(t, seed, seen)
		for range 60 {
			p.trouble()
			p.step()
		}
		p.requireCalm()
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Log(seen)
	for _, name := range []string{"full", "suspended", "created", "deleted", "blocked"} {
		require.NotZero(t, seen[name], "never came up: %s", name)
	}
}

func newPacking(t *testing.T, seed uint64, seen map[string]int) *packing {
	t.Helper()
	p := &packing{T: t, rng: rand.New(rand.NewPCG(seed, 5)), cluster: fake.New(seed), seen: seen}
	for i := range 4 {
		_, err := fake.Create(p.cluster, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: nodeName(i)},
			Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse(fmt.Sprint(1 + i%2)), corev1.ResourcePods: resource.MustParse("6"),
			}},
		})
		require.NoError(t, err)
	}
	for i := range 10 {
		set := agentSet()
		set.Name = fmt.Sprintf("agent-%d", i)
		if i%3 == 0 {
			set.Spec.UpdateStrategy.RollingUpdate.MaxSurge, set.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable =
				set.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable, set.Spec.UpdateStrategy.RollingUpdate.MaxSurge
		}
		set.Spec.Template.Spec.Containers[0].Resources.Requests = p.asks()
		_, err := fake.Create(p.cluster, set)
		require.NoError(t, err)
	}
	p.client = p.cluster.NewClient()
	t.Cleanup(p.client.Close)
	p.client.ObserveOthers()
	p.client.SetLag(fake.Lag{Age: time.Duration(seed%4) * time.Second}, fake.PodKind)
	policy := []daemonset.SurgePolicy{daemonset.SurgeAnyway, daemonset.SurgeWithRoom, daemonset.SurgeOrReplace}[seed%3]
	driver, err := clusterapi.NewDriver(clusterapi.Config{
		API: p.client, Now: p.cluster.Now,
		Options: daemonset.Options{Fit: &placement.FitOptions{}, Surge: policy},
	})
	require.NoError(t, err)
	p.runner, err = clusterapi.NewRunner(driver, clusterapi.RunnerOptions{Now: p.cluster.Now, OnPass: p.count})
	require.NoError(t, err)
	p.watch, p.ears = p.client.Watch(), handlers(driver.NewFeed(nil), p.runner.Wake)
	return p
}

func (p *packing) asks() corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(100+100*p.rng.Int64N(5), resource.DecimalSI)}
}

func (p *packing) count(pass clusterapi.Pass) {
	p.seen["suspended"] += len(pass.Result.Plan.Suspended)
	p.seen["created"] += pass.Result.Count(clusterapi.CreatePod, clusterapi.Done)
	p.seen["deleted"] += pass.Result.Count(clusterapi.DeletePod, clusterapi.Done)
	for _, node := range pass.Result.Plan.Nodes {
		if node.Reason == daemonset.SurgeBlocked {
			p.seen["blocked"]++
		}
	}
}

// trouble changes what a set asks for, starts a stranger, or ends one.
func (p *packing) trouble() {
	switch p.rng.IntN(6) {
	case 0:
		key := types.NamespacedName{Namespace: agent.Namespace, Name: fmt.Sprintf("agent-%d", p.rng.IntN(10))}
		_, err := fake.Edit(p.cluster, key, func(set *appsv1.DaemonSet) {
			set.Spec.Template.Spec.Containers[0].Image = fmt.Sprintf("registry.example/agent:v%d", p.rng.IntN(100))
			set.Spec.Template.Spec.Containers[0].Resources.Requests = p.asks()
		})
		require.NoError(p, err)
	case 1:
		node := nodeName(p.rng.IntN(4))
		stranger := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "else", GenerateName: "stranger-"}}
		stranger.Spec.NodeName = node
		stranger.Spec.Containers = []corev1.Container{{Name: "main", Image: "i", Resources: corev1.ResourceRequirements{Requests: p.asks()}}}
		if on := p.loads()[node]; on.pods < 6 && on.cpu+stranger.Spec.Containers[0].Resources.Requests.Cpu().MilliValue() <= on.has {
			_, err := fake.Create(p.cluster, stranger)
			require.NoError(p, err)
			p.client.Sync(fake.PodKind) // nobody can reckon with what is not to be seen yet
		}
	case 2:
		if strangers := fake.List[*corev1.Pod](p.cluster, "else"); len(strangers) > 0 {
			gone := strangers[p.rng.IntN(len(strangers))]
			require.NoError(p, fake.Delete[*corev1.Pod](p.cluster, types.NamespacedName{Namespace: "else", Name: gone.Name}, fake.DeleteOptions{}))
		}
	}
}

// step delivers events, makes passes, and lets some seconds go by.
func (p *packing) step() {
	for range 5 {
		for _, event := range p.watch.Drain() {
			p.ears.Handle(event)
		}
		passes, err := p.runner.Drain(p.Context())
		require.NoError(p, err)
		if passes > 0 {
			p.requireRoom()
		}
		p.cluster.Run(time.Second)
	}
}

// load is what the pods on a node ask for, and what it has.
type load struct {
	cpu, has int64 // thousandths
	pods     int
}

// loads adds up every node; terminating pods are there until they end.
func (p *packing) loads() map[string]load {
	loads := map[string]load{}
	for _, node := range fake.List[*corev1.Node](p.cluster, "") {
		loads[node.Name] = load{has: node.Status.Allocatable.Cpu().MilliValue()}
	}
	for _, pod := range fake.List[*corev1.Pod](p.cluster, metav1.NamespaceAll) {
		if pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded {
			on := loads[pod.Spec.NodeName]
			on.cpu += pod.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
			on.pods++
			loads[pod.Spec.NodeName] = on
		}
	}
	return loads
}

func (p *packing) requireRoom() {
	for node, on := range p.loads() {
		require.LessOrEqual(p, on.cpu, on.has, "%s has %dm and is given %dm", node, on.has, on.cpu)
		require.LessOrEqual(p, on.pods, 6)
		if on.cpu == on.has || on.pods == 6 {
			p.seen["full"]++
		}
	}
}

// requireCalm: once updates are through there is nothing left to do.
func (p *packing) requireCalm() {
	for range 40 {
		p.step()
	}
	before := p.runner.Counters()
	for range 10 {
		p.step()
	}
	after := p.runner.Counters()
	require.Equal(p, before.Write(clusterapi.CreatePod, clusterapi.Done), after.Write(clusterapi.CreatePod, clusterapi.Done), "still creating")
	require.Equal(p, before.Write(clusterapi.DeletePod, clusterapi.Done), after.Write(clusterapi.DeletePod, clusterapi.Done), "still deleting")
}
