package command

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/discovery"
)

// The versions of Kubernetes that the program runs on. Before the first one, maxSurge of a
// DaemonSet was not stable. The second is the one whose controller this one is compared
// with; what comes after it is tried with a warning.
const (
	oldestServer = "v1.25.0"
	knownServer  = "v1.37.2"
)

// retryInterval is how long to wait before a server that did not answer is asked again.
const retryInterval = 500 * time.Millisecond

// preflight finds out what would otherwise show up as errors that are logged for ever: a
// server that cannot be reached, is too old, or refuses what the program needs. It takes no
// longer than --connect-timeout.
func preflight(ctx context.Context, o options, c clients, logger *slog.Logger) error {
	limited, cancel := context.WithTimeout(ctx, o.connectTimeout)
	defer cancel()
	checks := []func(context.Context) error{
		func(ctx context.Context) error { return checkVersion(ctx, c, logger) },
		func(ctx context.Context) error { return checkAPI(ctx, c) },
		func(ctx context.Context) error { return checkReads(ctx, c.aside) },
	}
	if !o.dryRun {
		checks = append(checks, func(ctx context.Context) error { return checkWrites(ctx, o, c.aside, logger) })
	}
	for _, check := range checks {
		if err := patiently(limited, logger, check); err != nil {
			return explain(ctx, o, c, err)
		}
	}
	return nil
}

// patiently repeats a check while nobody answers it.
func patiently(ctx context.Context, logger *slog.Logger, check func(context.Context) error) error {
	for told := false; ; {
		err := check(ctx)
		if err == nil || !transient(err) {
			return err
		}
		if ctx.Err() != nil {
			return err
		}
		if !told {
			logger.WarnContext(ctx, "the API server does not answer; trying again", "error", err)
			told = true
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(retryInterval):
		}
	}
}

// transient reports whether another try may help.
func transient(err error) bool {
	if _, ok := errors.AsType[*finalError](err); ok {
		return false
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return false
	}
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		return status.ErrStatus.Code >= 500 || apierrors.IsTooManyRequests(err)
	}
	return true
}

// finalError is about a server that answered.
type finalError struct{ error }

// Unwrap returns the cause, if there is one.
func (e *finalError) Unwrap() error { return errors.Unwrap(e.error) }

func final(format string, values ...any) error { return &finalError{fmt.Errorf(format, values...)} }

// explain says what an error of a check means.
func explain(ctx context.Context, o options, c clients, err error) error {
	_, answered := errors.AsType[*apierrors.StatusError](err)
	_, judged := errors.AsType[*finalError](err)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case judged:
		return err
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the API server at %s does not accept the credentials: %w", c.server, err)
	case answered && !transient(err):
		return fmt.Errorf("the API server at %s refuses (%s): %w", c.server, apierrors.ReasonForError(err), err)
	case transient(err):
		return fmt.Errorf("the API server at %s did not answer within %s: %w", c.server, o.connectTimeout, err)
	}
	return fmt.Errorf("the API server at %s cannot be trusted: %w", c.server, err)
}

func checkVersion(ctx context.Context, c clients, logger *slog.Logger) error {
	info, err := discovery.ToDiscoveryInterfaceWithContext(c.aside.Discovery()).ServerVersionWithContext(ctx)
	if err != nil {
		return fmt.Errorf("reading /version: %w", err)
	}
	got, err := version.ParseGeneric(info.GitVersion)
	if err != nil {
		return final("the server at %s says that its version is %q: is it an API server of Kubernetes?", c.server, info.GitVersion)
	}
	known := version.MustParseGeneric(knownServer)
	switch {
	case got.Major() == 0: // as builds say that nobody gave a version
		logger.WarnContext(ctx, "the API server does not know its version; going by what it serves", "server", info.GitVersion)
	case got.LessThan(version.MustParseGeneric(oldestServer)):
		return final("the API server at %s is of version %s, which is too old: %s or newer is needed", c.server, info.GitVersion, oldestServer)
	case got.Major() != known.Major() || got.Minor() > known.Minor():
		logger.WarnContext(ctx, "the API server is newer than the Kubernetes that this program follows", "server", info.GitVersion, "known", knownServer)
	}
	logger.InfoContext(ctx, "API server", "address", c.server, "version", info.GitVersion)
	return nil
}

func checkAPI(ctx context.Context, c clients) error {
	group := appsv1.SchemeGroupVersion.String()
	served, err := discovery.ToDiscoveryInterfaceWithContext(c.aside.Discovery()).ServerResourcesForGroupVersionWithContext(ctx, group)
	if apierrors.IsNotFound(err) {
		return final("the API server at %s does not serve %s", c.server, group)
	}
	if err != nil {
		return fmt.Errorf("reading /apis/%s: %w", group, err)
	}
	var names []string
	for _, resource := range served.APIResources {
		names = append(names, resource.Name)
	}
	for _, wanted := range []string{"daemonsets", "daemonsets/status", "controllerrevisions"} {
		if !slices.Contains(names, wanted) {
			return final("the API server at %s does not serve %s of %s", c.server, wanted, group)
		}
	}
	return nil
}
