package clusterapi

import (
	"context"
	"fmt"
	"runtime/debug"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/daemonset"
)

// call makes one call of the adapter and stays in control: a panic becomes an error, and a
// call that goes on after its context is done is left behind.
func call[T any](ctx context.Context, d *Driver, f func(context.Context) (T, error)) (T, error) {
	if d.cfg.CallTimeout > 0 {
		limited, cancel := context.WithTimeout(ctx, d.cfg.CallTimeout)
		defer cancel()
		ctx = limited
	}
	if ctx.Err() != nil {
		var none T
		return none, context.Cause(ctx)
	}
	answers := make(chan answer[T], 1)
	go func() {
		a := answer[T]{err: fmt.Errorf("%w: the call ended its goroutine", ErrAdapter)}
		defer func() { answers <- a }()
		a = guarded(ctx, f)
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
	}
	select {
	case a := <-answers: // both were there; an answer is worth more
		return a.value, a.err
	default:
		var none T
		return none, context.Cause(ctx)
	}
}

type answer[T any] struct {
	value T
	err   error
}

func guarded[T any](ctx context.Context, f func(context.Context) (T, error)) (a answer[T]) {
	defer func() {
		if r := recover(); r != nil {
			a.err = fmt.Errorf("%w: panic: %v\n%s", ErrAdapter, r, debug.Stack())
		}
	}()
	value, err := f(ctx)
	return answer[T]{value, err}
}

// object is call for methods that return an object: the one that was asked for, with a UID.
// Of want the name and the UID may be open.
func object[T any, P interface {
	*T
	metav1.Object
}](ctx context.Context, d *Driver, want daemonset.Ref, f func(context.Context) (P, error)) (P, error) {
	got, err := call(ctx, d, f)
	switch {
	case err != nil:
		return nil, err
	case got == nil:
		return nil, fmt.Errorf("%w: neither an object nor an error", ErrAdapter)
	case got.GetName() == "" || got.GetUID() == "":
		return nil, fmt.Errorf("%w: the %T that was returned has the name %q and the UID %q, and neither may be empty, also in a fake client", ErrAdapter, *got, got.GetName(), got.GetUID())
	case got.GetNamespace() != want.Namespace,
		want.Name != "" && got.GetName() != want.Name,
		want.UID != "" && got.GetUID() != want.UID:
		return nil, fmt.Errorf("%w: another %T was returned, %s/%s with UID %s", ErrAdapter, *got, got.GetNamespace(), got.GetName(), got.GetUID())
	}
	return got, nil
}

// live reads the set from the server. It may be another one of that name.
func (p *pass) live(ctx context.Context) (*appsv1.DaemonSet, error) {
	want := daemonset.Ref{Namespace: p.key.Namespace, Name: p.key.Name}
	return object(ctx, p.Driver, want, func(ctx context.Context) (*appsv1.DaemonSet, error) { return p.cfg.API.Live(ctx, p.key) })
}

// act is call for methods that return nothing.
func act(ctx context.Context, d *Driver, f func(context.Context) error) error {
	_, err := call(ctx, d, func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) })
	return err
}

// refused reports whether an error proves that a write has not taken effect. Everything
// else, a time-out above all, leaves that open.
func refused(err error) bool {
	switch apierrors.ReasonForError(err) {
	case metav1.StatusReasonInvalid, metav1.StatusReasonForbidden, metav1.StatusReasonUnauthorized,
		metav1.StatusReasonBadRequest, metav1.StatusReasonNotFound, metav1.StatusReasonAlreadyExists,
		metav1.StatusReasonConflict, metav1.StatusReasonTooManyRequests, metav1.StatusReasonMethodNotAllowed,
		metav1.StatusReasonNotAcceptable, metav1.StatusReasonUnsupportedMediaType,
		metav1.StatusReasonRequestEntityTooLarge, metav1.StatusReasonGone:
		return true
	case metav1.StatusReasonUnknown, metav1.StatusReasonServerTimeout, metav1.StatusReasonStoreReadError,
		metav1.StatusReasonTimeout, metav1.StatusReasonInternalError, metav1.StatusReasonExpired,
		metav1.StatusReasonServiceUnavailable:
	}
	return false
}
