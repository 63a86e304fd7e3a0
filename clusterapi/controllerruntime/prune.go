package controllerruntime

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/daemonplan/daemonplan/backoff"
)

// pruneEvery is how often Kubernetes v1.37.2 drops outdated backoff entries, too.
const pruneEvery = time.Minute

// pruner drops outdated backoff entries. A manager runs it where it runs the controller.
type pruner struct {
	store *backoff.Store
	now   func() time.Time // nil means time.Now
	// everywhere says that the controller runs without being the leader.
	everywhere bool
}

var (
	_ manager.Runnable               = (*pruner)(nil)
	_ manager.LeaderElectionRunnable = (*pruner)(nil)
)

// Start implements manager.Runnable.
func (p *pruner) Start(ctx context.Context) error {
	now := p.now
	if now == nil {
		now = time.Now //nolint:forbidigo // the clock that the driver takes, too
	}
	wait.UntilWithContext(ctx, func(context.Context) { p.store.Prune(now()) }, pruneEvery)
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (p *pruner) NeedLeaderElection() bool { return !p.everywhere }
