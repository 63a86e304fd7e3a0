package clusterapi

import (
	"errors"
	"fmt"
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

	// Expectations must be fed with the watch events of pods, best by Driver.NewFeed and
	// Driver.Settle. What no event tells of is settled by the next Observe that shows it; a pod
	// that it does not show is waited for, five minutes (daemonset.WritesPending). Nil makes
	// a new tracker, which Driver.Expectations returns.
	Expectations *expectations.Tracker
	// Backoff may be restored from an earlier run; its policy is then the one in force, and
	// the policy in Options must be zero or the same. Nil makes a new store with the policy in
	// Options. The Driver prunes it.
	Backoff *backoff.Store

	// Follow makes plans from what has changed (daemonset.Planner) and not from everything in each
	// pass. API must be a Follower: those of fake and clientgo are, that of controllerruntime is
	// not. Result.Plan of Sync then has no Nodes; that of Plan does. For each DaemonSet some 400
	// bytes are kept for each node. With Options.Fit or Options.Surge it changes nothing: there
	// everything is looked at.
	Follow bool

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

// String returns the name of the constant, or PodNames(n) for a value that has none.
func (n PodNames) String() string {
	switch n {
	case ServerNames:
		return "ServerNames"
	case DeterministicNames:
		return "DeterministicNames"
	}
	return fmt.Sprintf("PodNames(%d)", n)
}

// check says what no Driver can be made with.
func (c Config) check() error {
	if c.API == nil {
		return errors.New("clusterapi: Config.API is nil")
	}
	if _, ok := c.API.(Follower); c.Follow && !ok {
		return fmt.Errorf("clusterapi: Config.Follow is set, but a %T cannot be followed", c.API)
	}
	if c.PodNames > DeterministicNames {
		return fmt.Errorf("clusterapi: Config.PodNames is %s, which is no way of naming pods", c.PodNames)
	}
	return nil
}

func (c Config) withDefaults() (Config, error) {
	if err := c.check(); err != nil {
		return c, err
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
	if c.Options.Backoff != (backoff.Policy{}) && c.Options.Backoff != c.Backoff.Policy {
		return c, errors.New("clusterapi: Config.Options.Backoff is not the policy of Config.Backoff")
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
