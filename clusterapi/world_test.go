package clusterapi_test

import (
	"fmt"
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
	"github.com/daemonplan/daemonplan/placement"
)

var agent = types.NamespacedName{Namespace: "ops", Name: "agent"}

// world is a simulated cluster with one DaemonSet, one client and one driver on it.
type world struct {
	*testing.T
	cluster *fake.Cluster
	client  *fake.Client
	watch   *fake.Watch
	driver  *clusterapi.Driver
	ears    fake.Handlers
}

// newWorld makes a cluster with nodes a, b, c, ... and an updatable set.
func newWorld(t *testing.T, nodes int, configure ...func(*clusterapi.Config)) *world {
	t.Helper()
	w := &world{T: t, cluster: fake.New(1)}
	for i := range nodes {
		_, err := fake.Create(w.cluster, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName(i)}})
		require.NoError(t, err)
	}
	_, err := fake.Create(w.cluster, agentSet())
	require.NoError(t, err)
	w.restart(configure...)
	return w
}

func nodeName(i int) string { return fmt.Sprintf("node-%02d", i) }

func agentSet() *appsv1.DaemonSet {
	labels := map[string]string{"app": "agent"}
	one, none := intstr.FromInt32(1), intstr.FromInt32(0)
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: agent.Namespace, Name: agent.Name},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
				Type:          appsv1.RollingUpdateDaemonSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &one, MaxSurge: &none},
			},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Image: "registry.example/agent:v1"}}},
			},
		},
	}
}

// restart starts a new process: a new client with fresh caches and a driver that remembers
// nothing.
func (w *world) restart(configure ...func(*clusterapi.Config)) {
	w.Helper()
	if w.client != nil {
		w.client.Close()
	}
	w.client = w.cluster.NewClient()
	w.watch = w.client.Watch()
	cfg := clusterapi.Config{API: w.client, Now: w.cluster.Now, Parallelism: 1}
	for _, f := range configure {
		f(&cfg)
	}
	driver, err := clusterapi.NewDriver(cfg)
	require.NoError(w, err)
	w.use(driver)
}

// use makes a driver that of the world, from the next event on.
func (w *world) use(driver *clusterapi.Driver) {
	w.driver, w.ears = driver, handlers(driver.NewFeed(nil), driver.Settle)
}

// handlers has wake do what the feed's answers ask for.
func handlers(f *clusterapi.Feed, wake func(daemonset.Wakes)) fake.Handlers {
	return fake.Handlers{
		DaemonSet: func(prev, cur *appsv1.DaemonSet) { wake(f.DaemonSet(prev, cur)) },
		Pod:       func(prev, cur *corev1.Pod) { wake(f.Pod(prev, cur)) },
		Revision:  func(prev, cur *appsv1.ControllerRevision) { wake(f.Revision(prev, cur)) },
		Node:      func(prev, cur *corev1.Node) { wake(f.Node(prev, cur)) },
	}
}

// deliver hands the watch events to the driver's expectations.
func (w *world) deliver() {
	for _, event := range w.watch.Drain() {
		w.ears.Handle(event)
	}
}

func (w *world) sync() (clusterapi.Result, error) { return w.driver.Sync(w.Context(), agent) }

// settle makes passes, with time for the kubelets between them, until one finds nothing to
// do.
func (w *world) settle(most int) {
	w.Helper()
	for range most {
		w.deliver()
		result, err := w.sync()
		require.NoError(w, err)
		if len(result.Writes) == 0 && result.Stale == nil && result.Plan.Reason == "" && result.Requeue == 0 {
			if w.cluster.Run(time.Minute); !w.moved() {
				return
			}
			continue
		}
		pause := 5 * time.Second
		if len(result.Writes) == 0 { // only time is waited for
			pause = max(pause, min(result.Requeue, 20*time.Minute))
		}
		w.cluster.Run(pause)
	}
	require.Failf(w, "not settled", "after %d passes", most)
}

// moved reports whether there is something new to see.
func (w *world) moved() bool {
	events := w.watch.Drain()
	for _, event := range events {
		w.ears.Handle(event)
	}
	return len(events) > 0
}

func (w *world) pods() []*corev1.Pod { return fake.List[*corev1.Pod](w.cluster, agent.Namespace) }

func (w *world) set() *appsv1.DaemonSet {
	w.Helper()
	set, err := fake.Get[*appsv1.DaemonSet](w.cluster, agent)
	require.NoError(w, err)
	return set
}

func (w *world) edit(change func(set *appsv1.DaemonSet)) {
	w.Helper()
	_, err := fake.Edit(w.cluster, agent, change)
	require.NoError(w, err)
}

func (w *world) image(image string) {
	w.Helper()
	w.edit(func(set *appsv1.DaemonSet) { set.Spec.Template.Spec.Containers[0].Image = image })
}

// outcomes lists what became of the writes of one verb, in plan order.
func outcomes(r clusterapi.Result, verb clusterapi.Verb) []clusterapi.Outcome {
	var got []clusterapi.Outcome
	for _, w := range r.Writes {
		if w.Verb == verb {
			got = append(got, w.Outcome)
		}
	}
	return got
}

func refOf(name, uid string) daemonset.Ref { return daemonset.Ref{Name: name, UID: types.UID(uid)} }

// placementOf names the node that a pod is bound to or meant for.
func placementOf(pod *corev1.Pod) (string, bool) { return placement.TargetNode(pod) }
