package clientgo

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
)

// Controller reconciles the DaemonSets of a cluster. It is made by [New] and runs once.
type Controller struct {
	cfg       Config
	informers *Informers
	api       *API
	driver    *clusterapi.Driver
	syncer    clusterapi.Syncer
	metrics   *Metrics
	election  election
	errors    watchErrors
	pace      *pace
	begun     atomic.Bool

	ownFactory bool

	mu       sync.Mutex
	queue    workqueue.TypedRateLimitingInterface[types.NamespacedName] // nil outside of Run
	ready    bool
	underWay map[types.NamespacedName]time.Time // passes, and since when
}

// New returns a Controller. It starts nothing and asks the server nothing; [Controller.Run]
// does.
func New(cfg Config) (*Controller, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Controller{cfg: cfg, pace: newPace(), underWay: map[types.NamespacedName]time.Time{}}
	c.metrics = newMetrics(c)
	if c.election, err = newElection(cfg); err != nil {
		return nil, err
	}
	if err := c.openCaches(); err != nil {
		return nil, err
	}
	if c.api, err = NewAPI(cfg.Client, c.informers, cfg.Recorder); err != nil {
		return nil, err
	}
	cfg.Driver.API = c.api
	if c.driver, err = clusterapi.NewDriver(cfg.Driver); err != nil {
		return nil, err
	}
	c.syncer = c.driver
	if cfg.Syncer != nil {
		c.syncer = cfg.Syncer(c.driver)
	}
	if c.syncer == nil {
		return nil, errors.New("clientgo: Config.Syncer returned nil")
	}
	return c, nil
}

// openCaches makes the informers, and their factory if there is none.
func (c *Controller) openCaches() (err error) {
	factory, informers := NewFactory, NewInformers
	if c.cfg.fits() {
		factory, informers = NewFactoryForFit, NewInformersForFit
	}
	if c.cfg.Factory == nil {
		c.cfg.Factory, c.ownFactory = factory(c.cfg.Client, c.cfg.Resync), true
	}
	c.informers, err = informers(c.cfg.Factory)
	return err
}

// Driver returns the Driver, to save its backoff for instance.
func (c *Controller) Driver() *clusterapi.Driver { return c.driver }

// API returns the ClusterAPI that the Driver uses.
func (c *Controller) API() *API { return c.api }

// Run reconciles until ctx is done, then lets the passes under way come to their end, for
// as long as Config.Grace. The error is nil if that is how it ended. Otherwise the caches
// could not be filled in time, which names what could not be read and why, or the lease was
// lost, which is [ErrLeadershipLost]. A Controller runs only once.
func (c *Controller) Run(ctx context.Context) (err error) {
	if !c.begun.CompareAndSwap(false, true) {
		return errors.New("clientgo: a Controller runs only once")
	}
	// The caches and events outlive ctx until the passes have ended.
	caches, stop := context.WithCancel(context.WithoutCancel(ctx))
	c.openQueue()
	if c.cfg.Recorder == nil {
		broadcaster := c.startEvents(caches)
		defer broadcaster.Shutdown()
	}
	handlers, err := c.informers.Handle(c.driver.NewFeed(c.informers.PodsOn), sink{c})
	if err != nil {
		stop()
		return err
	}
	defer func() {
		c.closeQueue()
		err = errors.Join(err, handlers.Remove())
		stop()
		if c.ownFactory {
			c.cfg.Factory.Shutdown() // waits for its goroutines
		}
	}()
	c.errors.watch(c.informers, c.cfg.Logger)
	c.cfg.Logger.InfoContext(ctx, "filling caches")
	c.cfg.Factory.StartWithContext(caches)
	if err := c.fillCaches(ctx, handlers); err != nil {
		if ctx.Err() != nil {
			return nil // asked to end before it began
		}
		return err
	}
	c.setReady(true)
	defer c.setReady(false)
	c.cfg.Logger.InfoContext(ctx, "caches are filled")
	if c.cfg.Leader == nil {
		return c.work(ctx, context.WithoutCancel(ctx))
	}
	return c.election.lead(ctx, c.work)
}

// fillCaches waits until the caches are filled and the handlers have heard of everything.
func (c *Controller) fillCaches(ctx context.Context, handlers *Handlers) error {
	limit := c.cfg.SyncTimeout
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, fmt.Errorf("not done after %s", limit))
		defer cancel()
	}
	if err := c.informers.WaitForSync(ctx); err != nil {
		return errors.Join(err, c.errors.of(c.informers.unsynced()))
	}
	if !cache.WaitFor(ctx, "", handlers.synced...) {
		return fmt.Errorf("clientgo: waiting for the event handlers: %w", context.Cause(ctx))
	}
	return c.informers.occupied.whole()
}

// startEvents gives the API a recorder that sends events to the server.
func (c *Controller) startEvents(ctx context.Context) record.EventBroadcaster {
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: c.cfg.Client.CoreV1().Events("")})
	c.api.recorder = broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: c.cfg.Name})
	return broadcaster
}

func (c *Controller) openQueue() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = workqueue.NewTypedRateLimitingQueueWithConfig(c.cfg.RateLimiter,
		workqueue.TypedRateLimitingQueueConfig[types.NamespacedName]{Name: c.cfg.Name, MetricsProvider: c.metrics.queue})
}

func (c *Controller) closeQueue() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue.ShutDown()
}

func (c *Controller) setReady(ready bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ready = ready
}
