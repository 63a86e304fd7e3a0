package upstream

import (
	"context"
	"fmt"
	"reflect"
	"time"
	"unsafe"

	"github.com/daemonplan/daemonplan/backoff"
	"github.com/daemonplan/daemonplan/daemonset"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/kubernetes/pkg/controller/daemon"
	clocktesting "k8s.io/utils/clock/testing"
)

//go:linkname syncDaemonSet k8s.io/kubernetes/pkg/controller/daemon.(*DaemonSetsController).syncDaemonSet
func syncDaemonSet(dsc *daemon.DaemonSetsController, ctx context.Context, key string) error //nolint:revive // the order of the method that it links to

// Controller is a stock controller that sees one snapshot.
type Controller struct {
	stock  *daemon.DaemonSetsController
	client *fake.Clientset
	queue  *delays
	events chan string
	key    string
}

// New gives a stock controller the objects of a snapshot to look at. They are shared, not
// copied, but for the set, which gets the defaults that an API server would have filled in.
func New(ctx context.Context, s daemonset.Snapshot, burst int) (*Controller, error) {
	s.Objects.DaemonSet = defaulted(s.Objects.DaemonSet)
	objects := []runtime.Object{s.Objects.DaemonSet.DeepCopy()}
	for _, r := range s.Objects.Revisions {
		objects = append(objects, r.DeepCopy())
	}
	c := &Controller{client: fake.NewClientset(objects...), events: make(chan string, 10000)}
	c.client.PrependReactor("create", "pods", accept)
	c.client.PrependReactor("delete", "pods", accept)
	c.client.PrependReactor("patch", "pods", accept)
	c.key = s.Objects.DaemonSet.Namespace + "/" + s.Objects.DaemonSet.Name

	factory := informers.NewSharedInformerFactory(c.client, 0)
	retries := flowcontrol.NewFakeBackOff(time.Second, 15*time.Minute, clocktesting.NewFakeClock(s.Now))
	stock, err := daemon.NewDaemonSetsController(ctx,
		factory.Apps().V1().DaemonSets(), factory.Apps().V1().ControllerRevisions(),
		factory.Core().V1().Pods(), factory.Core().V1().Nodes(), c.client, retries)
	if err != nil {
		return nil, err
	}
	c.stock = stock
	if err := fill(factory, s.Objects); err != nil {
		return nil, err
	}
	c.queue = &delays{TypedRateLimitingInterface: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())}
	recorder := &record.FakeRecorder{Events: c.events}
	set(stock, "queue", workqueue.TypedRateLimitingInterface[string](c.queue))
	set(stock, "eventRecorder", record.EventRecorder(recorder))
	set(stock, "burstReplicas", burst)
	seed(retries, s.Backoff, s.Now)
	return c, nil
}

// Sync makes one pass.
func (c *Controller) Sync(ctx context.Context) error { return syncDaemonSet(c.stock, ctx, c.key) }

// defaulted fills in what the controller takes for granted.
func defaulted(set *appsv1.DaemonSet) *appsv1.DaemonSet {
	set = set.DeepCopy()
	spec := &set.Spec
	if spec.RevisionHistoryLimit == nil {
		spec.RevisionHistoryLimit = new(int32(10))
	}
	if spec.UpdateStrategy.Type == "" {
		spec.UpdateStrategy.Type = appsv1.RollingUpdateDaemonSetStrategyType
	}
	if spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType {
		return set
	}
	if spec.UpdateStrategy.RollingUpdate == nil {
		spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{}
	}
	if rolling := spec.UpdateStrategy.RollingUpdate; rolling.MaxUnavailable == nil {
		rolling.MaxUnavailable = new(intstr.FromInt32(1))
	}
	if rolling := spec.UpdateStrategy.RollingUpdate; rolling.MaxSurge == nil {
		rolling.MaxSurge = new(intstr.FromInt32(0))
	}
	return set
}

func accept(action clienttesting.Action) (bool, runtime.Object, error) { //nolint:revive // the signature of a reaction of client-go
	if create, ok := action.(clienttesting.CreateAction); ok {
		return true, create.GetObject(), nil
	}
	return true, &corev1.Pod{}, nil
}

func fill(factory informers.SharedInformerFactory, objects daemonset.Objects) error {
	add := func(indexer interface{ Add(any) error }, object any) error { return indexer.Add(object) }
	if err := add(factory.Apps().V1().DaemonSets().Informer().GetIndexer(), objects.DaemonSet); err != nil {
		return err
	}
	for _, o := range objects.Nodes {
		if err := add(factory.Core().V1().Nodes().Informer().GetIndexer(), o); err != nil {
			return err
		}
	}
	for _, o := range objects.Pods {
		if err := add(factory.Core().V1().Pods().Informer().GetIndexer(), o); err != nil {
			return err
		}
	}
	for _, o := range objects.Revisions {
		if err := add(factory.Apps().V1().ControllerRevisions().Informer().GetIndexer(), o); err != nil {
			return err
		}
	}
	return nil
}

// seed puts the snapshot's backoff entries into the controller's table by repeating the
// failures that lead to them.
func seed(retries *flowcontrol.Backoff, entries backoff.Entries, now time.Time) {
	clock := retries.Clock.(*clocktesting.FakeClock)
	for _, e := range entries {
		clock.SetTime(e.Since)
		id := fmt.Sprintf("%s/%d/%s", e.Key.Owner, e.Key.Generation, e.Key.Node)
		for delay := time.Duration(0); delay < e.Delay; delay = retries.Get(id) {
			retries.Next(id, e.Since)
		}
	}
	clock.SetTime(now)
}

// set writes an unexported field of the controller.
func set(stock *daemon.DaemonSetsController, field string, value any) {
	v := reflect.ValueOf(stock).Elem().FieldByName(field)
	reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem().Set(reflect.ValueOf(value))
}

// delays is a queue that remembers what was to be done later.
type delays struct {
	workqueue.TypedRateLimitingInterface[string]
	after []time.Duration
}

// AddAfter notes the delay.
func (d *delays) AddAfter(_ string, delay time.Duration) { d.after = append(d.after, delay) }
