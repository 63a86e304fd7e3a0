package clientgo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// The defaults of a leader election, as in Kubernetes v1.37.2.
const (
	DefaultLeaseDuration = 15 * time.Second
	DefaultRenewDeadline = 10 * time.Second
	DefaultRetryPeriod   = 2 * time.Second
)

// ErrLeadershipLost is wrapped by the error of Run when the lease could not be renewed. The
// passes under way were cut short. The process should end.
var ErrLeadershipLost = errors.New("the lease was lost")

// LeaderConfig says which Lease the one replica that reconciles must hold. Namespace and
// Name are required.
type LeaderConfig struct {
	Namespace, Name string
	Identity        string // of this replica; empty means the host's name and a random part

	// Client should be one of its own, so that a renewal does not wait behind the writes of
	// passes. Nil means that of the Controller.
	Client kubernetes.Interface

	LeaseDuration time.Duration // zero means DefaultLeaseDuration
	RenewDeadline time.Duration // zero means DefaultRenewDeadline
	RetryPeriod   time.Duration // zero means DefaultRetryPeriod
}

func (l LeaderConfig) withDefaults(client kubernetes.Interface) (LeaderConfig, error) {
	if l.Namespace == "" || l.Name == "" {
		return l, errors.New("clientgo: LeaderConfig needs a Namespace and a Name")
	}
	if l.Client == nil {
		l.Client = client
	}
	if l.Identity == "" {
		host, err := os.Hostname()
		if err != nil {
			return l, fmt.Errorf("clientgo: LeaderConfig has no Identity: %w", err)
		}
		l.Identity = host + "_" + string(uuid.NewUUID())
	}
	if l.LeaseDuration == 0 {
		l.LeaseDuration = DefaultLeaseDuration
	}
	if l.RenewDeadline == 0 {
		l.RenewDeadline = DefaultRenewDeadline
	}
	if l.RetryPeriod == 0 {
		l.RetryPeriod = DefaultRetryPeriod
	}
	return l, nil
}

// election is a Controller's leader election; its zero value is none.
type election struct {
	leader  LeaderConfig
	logger  *slog.Logger
	lock    *resourcelock.LeaseLock
	elector *leaderelection.LeaderElector // nil without an election
	leading chan context.Context          // of the time for which the lease is held
}

func newElection(cfg Config) (election, error) {
	if cfg.Leader == nil {
		return election{}, nil
	}
	leader, err := cfg.Leader.withDefaults(cfg.Client)
	if err != nil {
		return election{}, err
	}
	e := election{leader: leader, logger: cfg.Logger, leading: make(chan context.Context, 1)}
	e.lock = &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: leader.Namespace, Name: leader.Name},
		Client:     leader.Client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: leader.Identity},
	}
	e.elector, err = leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Name:          cfg.Name,
		Lock:          e.lock,
		LeaseDuration: leader.LeaseDuration,
		RenewDeadline: leader.RenewDeadline,
		RetryPeriod:   leader.RetryPeriod,
		// Not ReleaseOnCancel: with it, a replica that cannot reach the server is told that
		// it lost the lease only after it has failed to give it back, and by then another one
		// may have taken it.
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(hold context.Context) { e.leading <- hold },
			OnStoppedLeading: func() {},
			OnNewLeader: func(identity string) {
				cfg.Logger.Info("leader", "identity", identity, "self", identity == leader.Identity)
			},
		},
	})
	if err != nil {
		return election{}, fmt.Errorf("clientgo: Config.Leader: %w", err)
	}
	return e, nil
}

// lead waits for the lease, holds it while work works, and gives it back after that. The
// second context of work is done when the lease is lost.
func (e *election) lead(ctx context.Context, work func(stop, hold context.Context) error) error {
	candidacy, resign := context.WithCancel(context.WithoutCancel(ctx))
	defer resign()
	resigned := make(chan struct{})
	go func() {
		defer close(resigned)
		e.elector.Run(candidacy)
	}()
	var err error
	var lost bool
	select {
	case <-ctx.Done():
	case hold := <-e.leading:
		err = work(ctx, hold)
		lost = hold.Err() != nil
	}
	resign()
	<-resigned
	switch {
	case lost:
		return errors.Join(err, fmt.Errorf("clientgo: %w", ErrLeadershipLost))
	case e.elector.IsLeader():
		if failed := e.release(ctx); failed != nil {
			e.logger.WarnContext(ctx, "the lease runs out instead of being given back", "error", failed)
		}
	}
	return err
}

// release gives the lease back, so that the next replica need not wait for its end.
func (e *election) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.leader.RenewDeadline)
	defer cancel()
	record, _, err := e.lock.Get(ctx)
	if err != nil {
		return err
	}
	if record.HolderIdentity != e.leader.Identity {
		return nil
	}
	record.HolderIdentity = ""
	record.LeaseDurationSeconds = 1
	return e.lock.Update(ctx, *record)
}

// check reports a lease that should have been renewed or given up by now.
func (e *election) check() error {
	if e.elector == nil {
		return nil
	}
	return e.elector.Check(e.leader.RenewDeadline)
}

// leads reports whether the lease is held.
func (e *election) leads() bool { return e.elector != nil && e.elector.IsLeader() }
