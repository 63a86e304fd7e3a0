package command

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/leaderelection"
)

// The values of --pod-names.
const (
	podNamesServer        = "server"
	podNamesDeterministic = "deterministic"
)

// validate names every flag that cannot be meant.
func (o *options) validate() error {
	if o.version {
		return nil
	}
	return errors.Join(o.validateNumbers(), o.validateWords(), o.validateModes(), o.validateElection())
}

func (o *options) validateNumbers() error {
	var errs []error
	check := func(ok bool, format string, values ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, values...))
		}
	}
	check(o.qps > 0 || o.qps < 0, "--kube-api-qps is %v: no request could be made", o.qps)
	check(o.burst > 0, "--kube-api-burst is %d: it must be at least 1", o.burst)
	check(o.workers > 0, "--workers is %d: it must be at least 1", o.workers)
	check(o.concurrentWrites > 0, "--concurrent-writes is %d: it must be at least 1", o.concurrentWrites)
	check(o.resync >= 0, "--resync is %s: it must not be less than 0", o.resync)
	check(o.connectTimeout > 0, "--connect-timeout is %s: it must be more than 0", o.connectTimeout)
	return errors.Join(errs...)
}

func (o *options) validateWords() error {
	var errs []error
	if o.class != "" {
		for _, problem := range validation.IsDNS1123Label(o.class) {
			errs = append(errs, fmt.Errorf("--class is %q: %s", o.class, problem))
		}
	}
	if o.podNames != podNamesServer && o.podNames != podNamesDeterministic {
		errs = append(errs, fmt.Errorf("--pod-names is %q: it must be %s or %s", o.podNames, podNamesServer, podNamesDeterministic))
	}
	if o.logFormat != formatText && o.logFormat != formatJSON {
		errs = append(errs, fmt.Errorf("--log-format is %q: it must be %s or %s", o.logFormat, formatText, formatJSON))
	}
	if _, err := logLevel(o.logLevel); err != nil {
		errs = append(errs, err)
	}
	if o.listen != "" {
		_, port, err := net.SplitHostPort(o.listen)
		if err == nil {
			_, err = net.LookupPort("tcp", port)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("--listen is %q: it must be HOST:PORT, or :PORT for all addresses: %w", o.listen, err))
		}
	}
	return errors.Join(errs...)
}

func (o *options) validateModes() error {
	var errs []error
	if o.dryRun && o.leaderElect {
		errs = append(errs, errors.New("--leader-elect and --dry-run exclude each other: a lease is written"))
	}
	if !o.dryRun && o.explicit["dry-run-events"] {
		errs = append(errs, errors.New("--dry-run-events is for --dry-run"))
	}
	if o.verbose && o.explicit["log-level"] {
		errs = append(errs, errors.New("-v and --log-level exclude each other"))
	}
	return errors.Join(errs...)
}

func (o *options) validateElection() error {
	if !o.leaderElect {
		return nil
	}
	var errs []error
	if problems := validation.IsDNS1123Label(o.leaseNamespace); len(problems) > 0 {
		errs = append(errs, fmt.Errorf("--leader-elect-resource-namespace is %q: %s", o.leaseNamespace, strings.Join(problems, "; ")))
	}
	// One that is derived is as good as the class.
	if problems := validation.IsDNS1123Subdomain(o.leaseName); o.explicit["leader-elect-resource-name"] && len(problems) > 0 {
		errs = append(errs, fmt.Errorf("--leader-elect-resource-name is %q: %s", o.leaseName, strings.Join(problems, "; ")))
	}
	if o.retryPeriod <= 0 {
		errs = append(errs, fmt.Errorf("--leader-elect-retry-period is %s: it must be more than 0", o.retryPeriod))
	}
	if o.leaseDuration <= o.renewDeadline {
		errs = append(errs, fmt.Errorf("--leader-elect-lease-duration is %s: it must be more than --leader-elect-renew-deadline, %s", o.leaseDuration, o.renewDeadline))
	}
	if o.leaseDuration < minLease {
		errs = append(errs, fmt.Errorf("--leader-elect-lease-duration is %s: it must be at least %s", o.leaseDuration, minLease))
	}
	// The election itself asks for this.
	if float64(o.renewDeadline) <= leaderelection.JitterFactor*float64(o.retryPeriod) {
		errs = append(errs, fmt.Errorf("--leader-elect-renew-deadline is %s: it must be more than %.1f times --leader-elect-retry-period, %s", o.renewDeadline, leaderelection.JitterFactor, o.retryPeriod))
	}
	return errors.Join(errs...)
}
