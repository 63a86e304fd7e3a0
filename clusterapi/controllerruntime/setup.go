package controllerruntime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// DefaultName is what a controller is called, in its metrics, logs and events.
const DefaultName = "daemonplan"

// daemonSets is under what a manager's GroupKindConcurrency has the DaemonSets.
const daemonSets = "DaemonSet.apps"

// Options say how a manager is to run daemonplan; the zero value reconciles every DaemonSet
// as Kubernetes does.
type Options struct {
	// Name is unique among the controllers of a process. Empty means DefaultName.
	Name string

	// Driver configures the passes. Its API must be nil. A nil Logger means the manager's.
	// Select says which DaemonSets are reconciled; if all are, no other controller may
	// reconcile DaemonSets in this cluster. With Options.Fit or Options.Surge the manager's cache
	// must hold whole pods and nodes, see API.ObserveOthers; with Options.Fit one pass is made
	// at a time.
	Driver clusterapi.Config

	// Around, if not nil, returns what makes the passes instead of the driver, such as
	// something that only has it plan. It must hand on to the driver what it has to Settle.
	Around func(*clusterapi.Driver) clusterapi.Syncer

	// Reconciler says how failed passes are repeated, and who is told of passes.
	Reconciler ReconcilerOptions

	// Controller configures the queue and its workers. Reconciler and RateLimiter must be
	// nil. Zero MaxConcurrentReconciles means what the manager says, or
	// clusterapi.DefaultWorkers; zero ReconciliationTimeout what the manager says, or
	// clusterapi.DefaultPassTimeout. Leader election is the manager's.
	Controller controller.Options
}

// SetupWithManager adds to mgr a controller that reconciles DaemonSets, with its watches, its
// indexes on mgr's cache. It must be called before mgr starts; ctx is for setting up only. The Driver that is returned runs with mgr.
func SetupWithManager(ctx context.Context, mgr manager.Manager, options Options) (*clusterapi.Driver, error) {
	if err := options.check(mgr); err != nil {
		return nil, err
	}
	options = options.withDefaults(mgr)
	api := New(mgr.GetClient(), mgr.GetAPIReader(), mgr.GetEventRecorder(options.Name))
	if err := api.ReadFrom(ctx, mgr.GetCache()); err != nil {
		return nil, err
	}
	if o := options.Driver.Options; o.Fit != nil || o.Surge != daemonset.SurgeAnyway {
		api.ObserveOthers()
	}
	options.Driver.API = api
	driver, err := clusterapi.NewDriver(options.Driver)
	if err != nil {
		return nil, err
	}
	if err := addController(mgr, driver, options); err != nil {
		return nil, err
	}
	return driver, nil
}

func addController(mgr manager.Manager, driver *clusterapi.Driver, options Options) error {
	var syncer clusterapi.Syncer = driver
	if options.Around != nil {
		syncer = options.Around(driver)
	}
	events, err := NewEvents(driver.NewFeed(nil), syncer)
	if err != nil {
		return err
	}
	reconciler, err := NewReconciler(syncer, options.Reconciler)
	if err != nil {
		return err
	}
	options.Controller.RateLimiter = reconciler.RateLimiter()
	err = builder.ControllerManagedBy(mgr).
		Named(options.Name).
		WithOptions(options.Controller).
		Watches(&appsv1.DaemonSet{}, events.DaemonSets()).
		Watches(&corev1.Pod{}, events.Pods()).
		Watches(&appsv1.ControllerRevision{}, events.Revisions()).
		Watches(&corev1.Node{}, events.Nodes()).
		Complete(reconciler)
	if err != nil {
		return fmt.Errorf("controllerruntime: %w", err)
	}
	return nil
}

// check finds what cannot work, before anything is added to the manager.
func (o Options) check(mgr manager.Manager) error {
	switch {
	case mgr == nil:
		return errors.New("controllerruntime: the manager is nil")
	case o.Driver.API != nil:
		return errors.New("controllerruntime: Options.Driver.API is set; it is the manager's client")
	case o.Controller.Reconciler != nil || o.Controller.RateLimiter != nil:
		return errors.New("controllerruntime: Options.Controller has a Reconciler or a RateLimiter of its own")
	}
	for _, obj := range []client.Object{&appsv1.DaemonSet{}, &corev1.Pod{}} {
		if _, err := apiutil.GVKForObject(obj, mgr.GetScheme()); err != nil {
			return fmt.Errorf("controllerruntime: the manager's scheme: %w", err)
		}
	}
	return nil
}

func (o Options) withDefaults(mgr manager.Manager) Options {
	o.Name = cmp.Or(o.Name, DefaultName)
	if o.Driver.Logger == nil {
		o.Driver.Logger = slog.New(logr.ToSlogHandler(mgr.GetLogger().WithName(o.Name)))
	}
	general := mgr.GetControllerOptions()
	c := &o.Controller
	if c.MaxConcurrentReconciles <= 0 {
		c.MaxConcurrentReconciles = cmp.Or(
			max(general.GroupKindConcurrency[daemonSets], 0),
			max(general.MaxConcurrentReconciles, 0),
			clusterapi.DefaultWorkers,
		)
	}
	c.ReconciliationTimeout = cmp.Or(c.ReconciliationTimeout, general.ReconciliationTimeout, clusterapi.DefaultPassTimeout)
	return o
}
