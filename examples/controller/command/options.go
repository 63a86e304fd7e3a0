package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/clientgo"
)

// options are the values of the flags.
type options struct {
	kubeconfig, server string
	qps                float64
	burst              int
	connectTimeout     time.Duration

	class                     string
	workers, concurrentWrites int
	resync                    time.Duration
	podNames                  string
	placePods, follow         bool

	dryRun, dryRunEvents bool

	leaderElect    bool
	leaseNamespace string
	leaseName      string
	leaseDuration  time.Duration
	renewDeadline  time.Duration
	retryPeriod    time.Duration

	listen    string
	logFormat string
	logLevel  string
	verbose   bool
	version   bool

	explicit map[string]bool // flags that were given
	helped   bool            // help was asked for, and printed
}

// errUsage is wrapped by errors about flags.
var errUsage = errors.New("see -h for the flags")

// helpText is what stands before the flags.
const helpText = `%s reconciles the DaemonSets of a cluster in place of the controller in
kube-controller-manager, which has to be off: --controllers=*,-daemonset-controller.
With --dry-run it only reports, and is safe beside that one.

Usage: %[1]s [flags]

A duration is a number with a unit: 500ms, 30s, 5m, 12h.

`

// parseOptions reads and checks the flags. Help goes to stdout.
func parseOptions(args []string, stdout io.Writer) (options, error) {
	o := options{explicit: map[string]bool{}}
	flags := flag.NewFlagSet(program, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	o.register(flags)
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(stdout, helpText, program)
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		o.helped = true
		return o, nil
	case err != nil:
		return o, fmt.Errorf("%w; %w", err, errUsage)
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q; %w", flags.Arg(0), errUsage)
	}
	flags.Visit(func(f *flag.Flag) { o.explicit[f.Name] = true })
	o.derive()
	if err := o.validate(); err != nil {
		return o, fmt.Errorf("%w; %w", err, errUsage)
	}
	return o, nil
}

func (o *options) register(flags *flag.FlagSet) {
	o.registerServer(flags)
	o.registerWork(flags)
	o.registerElection(flags)
	o.registerOutput(flags)
}

func (o *options) registerServer(flags *flag.FlagSet) {
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "`file` with the server and credentials; without it $KUBECONFIG, ~/.kube/config, or those of the pod it runs in")
	flags.StringVar(&o.server, "server", "", "`address` of the API server, instead of the one in the kubeconfig")
	flags.Float64Var(&o.qps, "kube-api-qps", 20, "requests to the API server in a second; less than zero is no limit")
	flags.IntVar(&o.burst, "kube-api-burst", 30, "requests to the API server in a burst")
	flags.DurationVar(&o.connectTimeout, "connect-timeout", 10*time.Second, "how long to try to reach the API server at the start, and to check its version and the rights there")
}

func (o *options) registerWork(flags *flag.FlagSet) {
	flags.StringVar(&o.class, "class", "", "act on the DaemonSets whose annotation "+ClassAnnotation+" has this `value`; empty: on those without it")
	flags.IntVar(&o.workers, "workers", clusterapi.DefaultWorkers, "DaemonSets to reconcile at the same time")
	flags.IntVar(&o.concurrentWrites, "concurrent-writes", clusterapi.DefaultParallelism, "writes of one DaemonSet under way at the same time")
	flags.DurationVar(&o.resync, "resync", clientgo.DefaultResync, "how often to look at every DaemonSet although nothing happened; 0 is never")
	flags.StringVar(&o.podNames, "pod-names", podNamesServer, "who names new pods: server, as Kubernetes has it, or deterministic, with which a repeated create makes no twin")
	flags.BoolVar(&o.follow, "follow", false, "plan from what has changed and not from the whole cluster in each pass, which takes less time and some 400 bytes for each DaemonSet and node; what /plans shows has no nodes then")
	flags.BoolVar(&o.placePods, "place-pods", false, "bind the pods to their nodes where there is room for them, and leave nothing to a scheduler; then one DaemonSet is reconciled at a time")
	flags.BoolVar(&o.dryRun, "dry-run", false, "only report what would be done; takes part in no election")
	flags.BoolVar(&o.dryRunEvents, "dry-run-events", true, "in a dry run, report as events of the DaemonSets too, which are the only writes of a dry run")
}

func (o *options) registerElection(flags *flag.FlagSet) {
	flags.BoolVar(&o.leaderElect, "leader-elect", true, "act only while holding a lease, so that of several replicas one acts; off in a dry run")
	flags.StringVar(&o.leaseNamespace, "leader-elect-resource-namespace", "kube-system", "`namespace` of the lease")
	flags.StringVar(&o.leaseName, "leader-elect-resource-name", "", "`name` of the lease (default \""+program+"\", with a class \""+program+"-CLASS\")")
	flags.DurationVar(&o.leaseDuration, "leader-elect-lease-duration", clientgo.DefaultLeaseDuration, "how long others wait for a leader that does not renew the lease")
	flags.DurationVar(&o.renewDeadline, "leader-elect-renew-deadline", clientgo.DefaultRenewDeadline, "how long the leader tries to renew the lease before it gives up")
	flags.DurationVar(&o.retryPeriod, "leader-elect-retry-period", clientgo.DefaultRetryPeriod, "how long to wait between tries to get or renew the lease")
}

func (o *options) registerOutput(flags *flag.FlagSet) {
	flags.StringVar(&o.listen, "listen", "127.0.0.1:8080", "`address` of /healthz, /readyz, /metrics and /plans; empty serves none, and keeps no plans")
	flags.StringVar(&o.logFormat, "log-format", formatText, "text or json")
	flags.StringVar(&o.logLevel, "log-level", "info", "debug, info, warn or error")
	flags.BoolVar(&o.verbose, "v", false, "the same as --log-level=debug")
	flags.BoolVar(&o.version, "version", false, "print the version and end")
}

// derive fills in what depends on other flags.
func (o *options) derive() {
	if o.leaseName == "" {
		o.leaseName = program
		if o.class != "" {
			o.leaseName += "-" + o.class
		}
	}
	if o.dryRun && !o.explicit["leader-elect"] {
		o.leaderElect = false
	}
	if o.verbose {
		o.logLevel = "debug"
	}
}
