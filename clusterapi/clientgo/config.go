package clientgo

import (
	"cmp"
	"errors"
	"log/slog"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/daemonset"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
)

// The defaults of a Controller that package clusterapi does not have.
const (
	DefaultName        = "daemonplan"
	DefaultSyncTimeout = 2 * time.Minute
)

// Config configures a Controller. Only Client is required.
type Config struct {
	Client kubernetes.Interface

	// Factory supplies the informers, for programs that share them. Run starts it, and what
	// Run has started ends with it. With Options.Fit or Options.Surge they must keep what these
	// read, see NewInformersForFit. Nil makes a factory of trimmed objects, see NewFactory and
	// NewFactoryForFit.
	Factory informers.SharedInformerFactory
	// Resync is how often the informers of a factory that is made here repeat their events.
	// Zero means DefaultResync, less than zero never.
	Resync time.Duration

	// Driver configures the passes, and says by Select which DaemonSets to reconcile. API is
	// made here and must be nil; a nil Logger is the one below. With Options.Fit one pass is made
	// at a time, whatever Workers says.
	Driver clusterapi.Config

	// Syncer replaces the Driver or wraps it, for instance to plan without acting: see
	// clusterapi.Driver.Plan. Nil means the Driver itself.
	Syncer func(*clusterapi.Driver) clusterapi.Syncer

	Workers     int           // passes at a time; zero or less means clusterapi.DefaultWorkers
	PassTimeout time.Duration // zero means clusterapi.DefaultPassTimeout, less than zero no limit
	Rest        time.Duration // after a pass, before events lead to another one for its set; zero means clusterapi.DefaultRest, less than zero none
	Grace       time.Duration // for passes under way at the end; zero means clusterapi.DefaultGrace, less than zero none

	// SyncTimeout is how long Run waits for the caches before it fails. Zero means
	// DefaultSyncTimeout, less than zero no limit.
	SyncTimeout time.Duration

	// RateLimiter delays the passes after one that failed; nil means that of client-go's
	// controllers. A delay that a server asked for is kept to if it is longer, also if an
	// event comes before.
	RateLimiter workqueue.TypedRateLimiter[types.NamespacedName]

	// Leader makes Run wait for a lease before the first pass; the caches are filled before.
	// Nil means no election.
	Leader *LeaderConfig

	// OnPass is told of every pass, before the next one of the same key begins. It is called
	// from several goroutines and holds up the worker. Nil is not called.
	OnPass func(clusterapi.Pass)

	Name     string               // of the queue, and the source of events; empty means DefaultName
	Recorder record.EventRecorder // nil makes one that writes core/v1 events
	Logger   *slog.Logger         // nil discards
}

// fits reports whether plans look at what the pods of others hold.
func (c Config) fits() bool {
	o := c.Driver.Options
	return o.Fit != nil || o.Surge != daemonset.SurgeAnyway
}

func (c Config) withDefaults() (Config, error) {
	if c.Client == nil {
		return c, errors.New("clientgo: Config.Client is nil")
	}
	if c.Driver.API != nil {
		return c, errors.New("clientgo: Config.Driver.API is made by the Controller and must be nil")
	}
	c.Resync = cmp.Or(c.Resync, DefaultResync)
	c.PassTimeout = cmp.Or(c.PassTimeout, clusterapi.DefaultPassTimeout)
	c.Rest = cmp.Or(c.Rest, clusterapi.DefaultRest)
	c.Grace = cmp.Or(c.Grace, clusterapi.DefaultGrace)
	c.SyncTimeout = cmp.Or(c.SyncTimeout, DefaultSyncTimeout)
	c.Name = cmp.Or(c.Name, DefaultName)
	if c.Workers <= 0 {
		c.Workers = clusterapi.DefaultWorkers
	}
	if c.RateLimiter == nil {
		c.RateLimiter = workqueue.DefaultTypedControllerRateLimiter[types.NamespacedName]()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Driver.Logger == nil {
		c.Driver.Logger = c.Logger
	}
	if c.Driver.Now == nil {
		c.Driver.Now = time.Now //nolint:forbidigo // the one clock of the controller
	}
	return c, nil
}
