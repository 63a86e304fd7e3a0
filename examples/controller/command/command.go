package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/clientgo"
	"github.com/daemonplan/daemonplan/placement"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
)

// program is the name in messages, of the lease, and of the source of events.
const program = "daemonplan-controller"

// The exit statuses other than zero.
const (
	exitFailure = 1
	exitUsage   = 2
)

// Run is the program: it reconciles until ctx is done, and returns the exit status. That is
// 0 for an end that was asked for, 1 for a failure, and 2 for flags that cannot be meant;
// the reason is the last line on stderr, where the log goes, too. A failure to reach the
// API server, or to find there what is needed, shows within --connect-timeout.
//
// It handles no signals, see [Main], and changes nothing that is global to the process.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stdout)
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "%s: %v\n", program, err)
		return exitUsage
	case o.helped:
		return 0
	case o.version:
		fmt.Fprintln(stdout, versionText())
		return 0
	}
	logger, err := newLogger(o, stderr)
	if err == nil {
		err = connectAndServe(ctx, o, logger)
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", program, err)
		return exitFailure
	}
	return 0
}

func connectAndServe(ctx context.Context, o options, logger *slog.Logger) error {
	c, err := newClients(o)
	if err != nil {
		return err
	}
	return serve(ctx, o, c, logger)
}

// serve reconciles with given clients.
func serve(ctx context.Context, o options, c clients, logger *slog.Logger) error {
	ctx = logr.NewContextWithSlogLogger(ctx, logger) // client-go logs by it
	kept := &plans{}
	cfg := config(o, c, logger)
	if o.listen != "" {
		cfg.OnPass = func(p clusterapi.Pass) { kept.note(p, time.Now()) }
	}
	if o.dryRun {
		broadcaster := broadcast(ctx, o, c)
		defer broadcaster.Shutdown()
		cfg.Recorder = broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: program})
		goDry(ctx, &cfg, newReporter(logger, cfg.Recorder))
	}
	controller, err := clientgo.New(cfg)
	if err != nil {
		return err
	}
	if o.listen != "" {
		listener, err := net.Listen("tcp", o.listen)
		if err != nil {
			return fmt.Errorf("--listen: %w", err)
		}
		site := startSite(listener, handler(controller.Handler(), kept), logger)
		defer site.stop(ctx)
	}
	if err := preflight(ctx, o, c, logger); err != nil {
		if ctx.Err() != nil {
			return nil // asked to end before it began
		}
		return err
	}
	logger.InfoContext(ctx, "starting", "version", versionText(), "class", o.class, "placePods", o.placePods, "follow", o.follow, "dryRun", o.dryRun, "leaderElect", o.leaderElect)
	stop := context.AfterFunc(ctx, func() {
		logger.InfoContext(ctx, "ending once the passes under way have ended", "cause", context.Cause(ctx))
	})
	defer stop()
	err = controller.Run(ctx)
	if errors.Is(err, clientgo.ErrLeadershipLost) {
		return fmt.Errorf("another replica may act now: %w", err)
	}
	if err == nil {
		logger.InfoContext(ctx, "ended", "cause", context.Cause(ctx))
	}
	return err
}

// config is what the flags mean to the controller.
func config(o options, c clients, logger *slog.Logger) clientgo.Config {
	cfg := clientgo.Config{
		Client:  c.work,
		Name:    program,
		Workers: o.workers,
		Resync:  o.resync,
		Logger:  logger,
		Driver: clusterapi.Config{
			Select:      ofClass(o.class),
			Follow:      o.follow,
			Parallelism: o.concurrentWrites,
			Logger:      logger,
		},
	}
	if o.resync == 0 {
		cfg.Resync = -1
	}
	if o.podNames == podNamesDeterministic {
		cfg.Driver.PodNames = clusterapi.DeterministicNames
	}
	if o.placePods {
		cfg.Driver.Options.Fit = &placement.FitOptions{}
	}
	if o.leaderElect {
		cfg.Leader = &clientgo.LeaderConfig{
			Namespace: o.leaseNamespace, Name: o.leaseName, Client: c.aside,
			LeaseDuration: o.leaseDuration, RenewDeadline: o.renewDeadline, RetryPeriod: o.retryPeriod,
		}
	}
	return cfg
}

// goDry makes a controller plan without acting.
func goDry(ctx context.Context, cfg *clientgo.Config, r *reporter) {
	cfg.Syncer = func(d *clusterapi.Driver) clusterapi.Syncer { return planner{d} }
	keep := cfg.OnPass
	cfg.OnPass = func(p clusterapi.Pass) {
		if keep != nil {
			keep(p)
		}
		r.report(ctx, p)
	}
}

// broadcast makes a broadcaster of events that go to the API server, or nowhere.
func broadcast(ctx context.Context, o options, c clients) record.EventBroadcaster {
	broadcaster := record.NewBroadcaster(record.WithContext(context.WithoutCancel(ctx)))
	if o.dryRunEvents {
		broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: c.work.CoreV1().Events(corev1.NamespaceAll)})
	}
	return broadcaster
}
