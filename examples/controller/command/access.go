package command

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// checkReads lists one object of each kind that is cached and opens a watch, as the
// informers will.
func checkReads(ctx context.Context, client kubernetes.Interface) error {
	var errs []error
	for _, p := range []func(context.Context) error{
		readable(client.AppsV1().DaemonSets(metav1.NamespaceAll)),
		readable(client.AppsV1().ControllerRevisions(metav1.NamespaceAll)),
		readable(client.CoreV1().Pods(metav1.NamespaceAll)),
		readable(client.CoreV1().Nodes()),
	} {
		if err := p(ctx); apierrors.IsForbidden(err) {
			errs = append(errs, err)
		} else if err != nil {
			return err
		}
	}
	if len(errs) > 0 {
		return final("rights are missing:\n%w", errors.Join(errs...))
	}
	return nil
}

// collection is a client of one kind.
type collection[L runtime.Object] interface {
	List(ctx context.Context, options metav1.ListOptions) (L, error)
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
}

// readable returns a check of whether a kind can be listed and watched.
func readable[L runtime.Object](objects collection[L]) func(context.Context) error {
	return func(ctx context.Context) error {
		list, err := objects.List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil {
			return err
		}
		at, err := meta.ListAccessor(list)
		if err != nil {
			return err
		}
		second := int64(1)
		opened, err := objects.Watch(ctx, metav1.ListOptions{ResourceVersion: at.GetResourceVersion(), TimeoutSeconds: &second})
		if err != nil {
			return err
		}
		opened.Stop()
		return nil
	}
}

// checkWrites asks the API server for every right that an instance needs that acts.
func checkWrites(ctx context.Context, o options, client kubernetes.Interface, logger *slog.Logger) error {
	wanted := WriteRights()
	if o.leaderElect {
		wanted = append(wanted, LeaseRights(o.leaseNamespace, o.leaseName)...)
	}
	var missing []string
	for _, right := range wanted {
		review, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, right.review(), metav1.CreateOptions{})
		if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
			logger.WarnContext(ctx, "rights cannot be checked", "error", err)
			return nil
		}
		if err != nil {
			return err
		}
		if !review.Status.Allowed {
			missing = append(missing, right.String())
		}
	}
	if len(missing) > 0 {
		return final("rights are missing: %s", strings.Join(missing, ", "))
	}
	return nil
}

func (r Right) review() *authorizationv1.SelfSubjectAccessReview {
	resource, subresource, _ := strings.Cut(r.Resource, "/")
	return &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: r.Verb, Group: r.Group, Resource: resource, Subresource: subresource,
				Namespace: r.Namespace, Name: r.Name,
			},
		},
	}
}
