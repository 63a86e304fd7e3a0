package controllerruntime_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/daemonplan/daemonplan/clusterapi/controllerruntime"
)

func newManager(t *testing.T, s *apiServer) manager.Manager {
	t.Helper()
	return newManagerWith(t, s, cache.Options{ByObject: controllerruntime.Diet()})
}

func newManagerWith(t *testing.T, s *apiServer, options cache.Options) manager.Manager {
	t.Helper()
	unchecked := true
	mgr, err := manager.New(s.config(), manager.Options{
		Scheme:         scheme.Scheme,
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper(), nil },
		Metrics:        server.Options{BindAddress: "0"},
		Cache:          options,
		Controller:     config.Controller{SkipNameValidation: &unchecked}, // several tests, one process
	})
	require.NoError(t, err)
	return mgr
}

// running is a server, a manager that runs daemonplan, and what its passes did.
type running struct {
	*apiServer

	mu       sync.Mutex
	counters clusterapi.Counters
	stop     func()
}

func runManager(t *testing.T, s *apiServer, options controllerruntime.Options) *running {
	t.Helper()
	r := &running{apiServer: s}
	options.Driver.Now = s.Now
	options.Reconciler.OnPass = func(p clusterapi.Pass) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.counters.Add(p)
	}
	r.start(t, newManager(t, s), options)
	return r
}

func (r *running) start(t *testing.T, mgr manager.Manager, options controllerruntime.Options) {
	t.Helper()
	_, err := controllerruntime.SetupWithManager(t.Context(), mgr, options)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- mgr.Start(ctx) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	t.Cleanup(r.stop)
}

func (r *running) counted() clusterapi.Counters {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counters
}

// until lets the cluster live until is holds.
func (r *running) until(t *testing.T, why string, is func() bool) {
	t.Helper()
	require.Eventually(t, func() bool {
		r.Run(time.Second)
		return is()
	}, eventually, 5*time.Millisecond, why)
}

func (r *running) set(t *testing.T, key types.NamespacedName) *appsv1.DaemonSet {
	t.Helper()
	set, err := fake.Get[*appsv1.DaemonSet](r.Cluster, key)
	require.NoError(t, err)
	return set
}

// rolledOut says that count pods of the latest template are available, and nothing else.
func (r *running) rolledOut(t *testing.T, key types.NamespacedName, count int32) func() bool {
	t.Helper()
	return func() bool {
		set := r.set(t, key)
		s := set.Status
		return s.ObservedGeneration == set.Generation && s.DesiredNumberScheduled == count &&
			s.UpdatedNumberScheduled == count && s.NumberAvailable == count && s.NumberUnavailable == 0 &&
			len(fake.List[*corev1.Pod](r.Cluster, key.Namespace)) == int(count)
	}
}

func (r *running) addNode(t *testing.T, name string) {
	t.Helper()
	_, err := fake.Create(r.Cluster, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
	require.NoError(t, err)
}

var agentKey = types.NamespacedName{Namespace: "ns", Name: "agent"}

func TestRollout(t *testing.T) {
	r := runManager(t, newAPIServer(t), controllerruntime.Options{})
	for _, name := range []string{"a", "b", "c", "d"} {
		r.addNode(t, name)
	}
	_, err := fake.Create(r.Cluster, agent())
	require.NoError(t, err)
	r.until(t, "first rollout", r.rolledOut(t, agentKey, 4))

	_, err = fake.Edit(r.Cluster, agentKey, func(set *appsv1.DaemonSet) {
		set.Spec.Template.Spec.Containers[0].Image = "registry.example/agent:v2"
	})
	require.NoError(t, err)
	r.until(t, "update", r.rolledOut(t, agentKey, 4))
	require.Len(t, fake.List[*appsv1.ControllerRevision](r.Cluster, "ns"), 2)

	r.addNode(t, "e")
	r.until(t, "a node more", r.rolledOut(t, agentKey, 5))

	pod := fake.List[*corev1.Pod](r.Cluster, "ns")[0]
	pod.Status.Phase = corev1.PodFailed
	_, err = fake.UpdateStatus(r.Cluster, pod)
	require.NoError(t, err)
	r.until(t, "a failed pod is replaced", func() bool {
		_, err := fake.Get[*corev1.Pod](r.Cluster, client.ObjectKeyFromObject(pod))
		return err != nil && r.rolledOut(t, agentKey, 5)()
	})
	r.until(t, "its event arrives", func() bool {
		recorded := r.Recorded()
		return len(recorded) > 0 && recorded[0].About.Name == "agent" && recorded[0].Event.Reason == "FailedDaemonPod"
	})
	counters := r.counted() // before a pass is cut short by the end
	r.stop()

	calls := r.calls.get()
	require.Equal(t, 4+4+1+1, calls["create pods"], "no pod was created twice: %v", calls)
	require.Equal(t, 4+1, calls["delete pods"], "and none deleted twice: %v", calls)
	require.Equal(t, 2, calls["create controllerrevisions"])
	for _, kind := range []string{"nodes", "pods", "daemonsets", "controllerrevisions"} {
		require.Equal(t, 1, calls["list "+kind], "observing costs no calls: %v", calls)
		require.Equal(t, 1, calls["watch "+kind])
		require.Zero(t, calls["get "+kind], "nothing was adopted, and no write was stale")
	}
	require.Zero(t, counters.Passes.Failed+counters.Passes.Panicked, "%+v", counters)
	require.Zero(t, counters.Expired)
	t.Logf("%d passes, %d of them refused because of old reads; calls: %v", counters.Passes.Total(), counters.Passes.Refused, calls)
}

// TestServerDelay: retries keep to the delay that a server asks for. The pass after the first
// is woken by the status that the first one wrote, and waits for nothing.
func TestServerDelay(t *testing.T) {
	const create, delay = "create controllerrevisions", time.Second
	s := newAPIServer(t)
	s.refuse = func(call string) error {
		if call == create {
			return apierrors.NewTooManyRequests("busy", int(delay/time.Second))
		}
		return nil
	}
	r := runManager(t, s, controllerruntime.Options{})
	begun := time.Now() //nolint:forbidigo // a manager waits in real time
	_, err := fake.Create(r.Cluster, agent())
	require.NoError(t, err)
	r.until(t, "four attempts", func() bool { return r.calls.get()[create] >= 4 })
	require.GreaterOrEqual(t, time.Since(begun), 2*delay) //nolint:forbidigo // as above
}

// TestHandover: a manager that starts later goes on where another one ended.
func TestHandover(t *testing.T) {
	s := newAPIServer(t)
	first := runManager(t, s, controllerruntime.Options{})
	first.addNode(t, "a")
	_, err := fake.Create(s.Cluster, agent())
	require.NoError(t, err)
	first.until(t, "first rollout", first.rolledOut(t, agentKey, 1))
	first.stop()
	pods := fake.List[*corev1.Pod](s.Cluster, "ns")

	second := runManager(t, s, controllerruntime.Options{})
	second.addNode(t, "b")
	second.until(t, "the next one", second.rolledOut(t, agentKey, 2))
	require.Contains(t, names(fake.List[*corev1.Pod](s.Cluster, "ns")), pods[0].Name, "the pod that was there stays")
}

func names(pods []*corev1.Pod) []string {
	var names []string
	for _, pod := range pods {
		names = append(names, pod.Name)
	}
	return names
}

func TestSelect(t *testing.T) {
	r := runManager(t, newAPIServer(t), controllerruntime.Options{Driver: clusterapi.Config{
		Select: func(set *appsv1.DaemonSet) bool { return set.Annotations["ours"] == "yes" },
	}})
	r.addNode(t, "a")
	theirs := agent()
	theirs.Name = "theirs"
	_, err := fake.Create(r.Cluster, theirs)
	require.NoError(t, err)
	ours := agent()
	ours.Namespace, ours.Annotations = "ours", map[string]string{"ours": "yes"}
	_, err = fake.Create(r.Cluster, ours)
	require.NoError(t, err)
	r.until(t, "ours", r.rolledOut(t, client.ObjectKeyFromObject(ours), 1))
	require.Empty(t, fake.List[*corev1.Pod](r.Cluster, "ns"))
	require.Zero(t, r.set(t, client.ObjectKeyFromObject(theirs)).Status)

	edit := func(answer string) func(*appsv1.DaemonSet) {
		return func(set *appsv1.DaemonSet) { set.Annotations = map[string]string{"ours": answer} }
	}
	_, err = fake.Edit(r.Cluster, client.ObjectKeyFromObject(theirs), edit("yes"))
	require.NoError(t, err)
	r.until(t, "taken over", r.rolledOut(t, client.ObjectKeyFromObject(theirs), 1))

	gone := r.counted().Passes.Gone
	_, err = fake.Edit(r.Cluster, client.ObjectKeyFromObject(ours), edit("no"))
	require.NoError(t, err)
	r.until(t, "it is let go", func() bool { return r.counted().Passes.Gone > gone })
	r.addNode(t, "b")
	r.until(t, "theirs only", r.rolledOut(t, client.ObjectKeyFromObject(theirs), 2))
	require.Len(t, fake.List[*corev1.Pod](r.Cluster, "ours"), 1, "its pod stays, and gets no company")
}

// planner only plans.
type planner struct{ *clusterapi.Driver }

func (p planner) Sync(ctx context.Context, key types.NamespacedName) (clusterapi.Result, error) {
	return p.Plan(ctx, key)
}

func TestAround(t *testing.T) {
	r := runManager(t, newAPIServer(t), controllerruntime.Options{
		Around: func(d *clusterapi.Driver) clusterapi.Syncer { return planner{d} },
	})
	r.addNode(t, "a")
	_, err := fake.Create(r.Cluster, agent())
	require.NoError(t, err)
	r.until(t, "a pass", func() bool { return r.counted().Passes.Succeeded > 0 })
	for call := range r.calls.get() {
		require.Regexp(t, "^(list|watch) ", call, "a planner writes nothing")
	}
}

func TestSetupErrors(t *testing.T) {
	s := newAPIServer(t)
	mgr := newManager(t, s)
	strange, err := manager.New(s.config(), manager.Options{
		Scheme:         runtime.NewScheme(),
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper(), nil },
		Metrics:        server.Options{BindAddress: "0"},
	})
	require.NoError(t, err)
	unmapped, err := manager.New(s.config(), manager.Options{
		Scheme:         scheme.Scheme,
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return meta.NewDefaultRESTMapper(nil), nil },
		Metrics:        server.Options{BindAddress: "0"},
	})
	require.NoError(t, err)
	r, err := controllerruntime.NewReconciler(planner{}, controllerruntime.ReconcilerOptions{})
	require.NoError(t, err)
	tests := []struct {
		name    string
		mgr     manager.Manager
		options controllerruntime.Options
		want    string
	}{
		{"no manager", nil, controllerruntime.Options{}, "manager is nil"},
		{"API", mgr, controllerruntime.Options{Driver: clusterapi.Config{API: s.client}}, "Driver.API"},
		{"reconciler", mgr, controllerruntime.Options{Controller: controller.Options{Reconciler: reconcile.Func(nil)}}, "Reconciler"},
		{"rate limiter", mgr, controllerruntime.Options{Controller: controller.Options{RateLimiter: r.RateLimiter()}}, "RateLimiter"},
		{"scheme", strange, controllerruntime.Options{}, "scheme"},
		{"server without pods", unmapped, controllerruntime.Options{}, "index pods"},
		{"no syncer", mgr, controllerruntime.Options{Around: func(*clusterapi.Driver) clusterapi.Syncer { return nil }}, "Syncer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := controllerruntime.SetupWithManager(t.Context(), tt.mgr, tt.options)
			require.ErrorContains(t, err, tt.want)
		})
	}
}
