package clusterapi

import (
	"errors"
	"log/slog"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/daemonplan/daemonplan/backoff"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/expectations"
)

// DefaultParallelism is how many writes of one kind a pass has under way at once.
const DefaultParallelism = 16

// Config configures a Driver. Only API is required.
type Config struct {
	API     ClusterAPI
	Options daemonset.Options

	// Select says which DaemonSets are ours; nil means all. Of the others nothing is planned or
	// written, and what was remembered of them is forgotten. It must be safe for concurrent
	// use, and a change of its answer has to come with a change of the set.
	Select func(*appsv1.DaemonSet) bool

	// Expectations must be fed with the watch events of pods. Nil makes a new tracker, which
	// Driver.Expectations returns.
	Expectations *expectations.Tracker
	// Backoff may be restored from an earlier run; its policy is then the one in force. Nil
	// makes a new store with the policy in Options.
	Backoff *backoff.Store

	Parallelism int              // concurrent writes in a pass; zero or less means DefaultParallelism
	PodNames    PodNames         // zero leaves names to the server, as Kubernetes does
	CallTimeout time.Duration    // for one call of API; zero or less means no limit of its own
	Now         func() time.Time // nil means time.Now
	Logger      *slog.Logger     // nil discards
}

// PodNames says who names new pods.
type PodNames uint8

// The ways of naming pods.
const (
	// ServerNames sends generateName. A create that is repeated, after a crash or from a
	// cache that lags, makes a second pod.
	ServerNames PodNames = iota
	// DeterministicNames derives the name from the set's UID, the node and the revision. A
	// repeated create meets AlreadyExists and does no harm. The successor of a pod of the
	// same revision on the same node has the same name, and so has to wait until that pod
	// is gone, with surge too.
	DeterministicNames
)

func (c Config) withDefaults() (Config, error) {
	if c.API == nil {
		return c, errors.New("clusterapi: Config.API is nil")
	}
	if c.Select == nil {
		c.Select = func(*appsv1.DaemonSet) bool { return true }
	}
	if c.Expectations == nil {
		c.Expectations = &expectations.Tracker{}
	}
	if c.Backoff == nil {
		c.Backoff = &backoff.Store{Policy: c.Options.Backoff}
	}
	c.Options.Backoff = c.Backoff.Policy
	if c.Parallelism <= 0 {
		c.Parallelism = DefaultParallelism
	}
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // the one clock of the driver
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}
