package controllerruntime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/daemonplan/daemonplan/clusterapi"
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

	// Choose says which DaemonSets to reconcile, as for the function Choose. Nil means all:
	// then no other controller may reconcile DaemonSets in this cluster. When a set is no
	// longer chosen, its pods stay as they are.
	Choose func(*appsv1.DaemonSet) bool

	// Driver configures the passes. Its API must be nil. A nil Logger means the manager's.
	Driver clusterapi.Config

	// Reconciler says how failed passes are repeated, and who is told of passes.
	Reconciler ReconcilerOptions

	// Controller configures the queue and its workers. Reconciler and RateLimiter must be
	// nil. Zero MaxConcurrentReconciles means what the manager says, or
	// clusterapi.DefaultWorkers; zero ReconciliationTimeout what the manager says, or
	// clusterapi.DefaultPassTimeout. Leader election is the manager's.
	Controller controller.Options
}

// SetupWithManager adds to mgr a controller that reconciles DaemonSets, with its watches, its
// indexes on mgr's cache, and a task that drops outdated backoff entries. It must be called
// before mgr starts; ctx is for setting up only. The Driver that is returned runs with mgr.
func SetupWithManager(ctx context.Context, mgr manager.Manager, options Options) (*clusterapi.Driver, error) {
	options, err := options.withDefaults(mgr)
	if err != nil {
		return nil, err
	}
	api := New(mgr.GetClient(), mgr.GetAPIReader(), mgr.GetEventRecorder(options.Name))
	if err := api.ReadFrom(ctx, mgr.GetCache()); err != nil {
		return nil, err
	}
	options.Driver.API = Choose(api, options.Choose)
	driver, err := clusterapi.NewDriver(options.Driver)
	if err != nil {
		return nil, err
	}
	events, err := NewEvents(driver, EventsOptions{
		PodsOn: func(ctx context.Context, node string) ([]*corev1.Pod, error) {
			return podsOn(ctx, mgr.GetCache(), node)
		},
		Choose:    options.Choose,
		Placement: options.Driver.Options.Placement,
	})
	if err != nil {
		return nil, err
	}
	reconciler, err := NewReconciler(driver, options.Reconciler)
	if err != nil {
		return nil, err
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
		return nil, fmt.Errorf("controllerruntime: %w", err)
	}
	if err := mgr.Add(&pruner{
		store:      driver.Backoff(),
		now:        options.Driver.Now,
		everywhere: !needsLeader(mgr, options),
	}); err != nil {
		return nil, fmt.Errorf("controllerruntime: add the pruning of backoff: %w", err)
	}
	return driver, nil
}

// needsLeader says whether the controller runs only where the manager is the leader.
func needsLeader(mgr manager.Manager, o Options) bool {
	needs := cmp.Or(o.Controller.NeedLeaderElection, mgr.GetControllerOptions().NeedLeaderElection)
	return needs == nil || *needs
}

func (o Options) withDefaults(mgr manager.Manager) (Options, error) {
	switch {
	case mgr == nil:
		return o, errors.New("controllerruntime: the manager is nil")
	case o.Driver.API != nil:
		return o, errors.New("controllerruntime: Options.Driver.API is set; it is the manager's client")
	case o.Controller.Reconciler != nil || o.Controller.RateLimiter != nil:
		return o, errors.New("controllerruntime: Options.Controller has a Reconciler or a RateLimiter of its own")
	}
	for _, obj := range []client.Object{&appsv1.DaemonSet{}, &corev1.Pod{}} {
		if _, err := apiutil.GVKForObject(obj, mgr.GetScheme()); err != nil {
			return o, fmt.Errorf("controllerruntime: the manager's scheme: %w", err)
		}
	}
	if o.Name == "" {
		o.Name = DefaultName
	}
	if o.Driver.Logger == nil {
		o.Driver.Logger = slog.New(logr.ToSlogHandler(mgr.GetLogger().WithName(o.Name)))
	}
	general := mgr.GetControllerOptions()
	if o.Controller.MaxConcurrentReconciles <= 0 {
		o.Controller.MaxConcurrentReconciles = general.GroupKindConcurrency[daemonSets]
	}
	if o.Controller.MaxConcurrentReconciles <= 0 && general.MaxConcurrentReconciles <= 0 {
		o.Controller.MaxConcurrentReconciles = clusterapi.DefaultWorkers
	}
	if o.Controller.ReconciliationTimeout == 0 && general.ReconciliationTimeout == 0 {
		o.Controller.ReconciliationTimeout = clusterapi.DefaultPassTimeout
	}
	return o, nil
}
