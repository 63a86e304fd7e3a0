package controllerruntime

import (
	"context"
	"errors"
	"fmt"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/daemonset"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// API is the ClusterAPI on a client.Client.
//
// Observe reads through that client, which may be a manager's and so read from its cache, or
// one without a cache; either costs what the set's namespace has. ReadFrom makes it cost
// what the set has.
type API struct {
	client   client.Client
	live     client.Reader
	recorder events.EventRecorder
	reader   reader
	others   bool // observations show the pods of others
}

var _ clusterapi.ClusterAPI = (*API)(nil)

// New returns the ClusterAPI on c. Live and Revision read through live, which must not read
// from a cache: Manager.GetAPIReader, or c itself if it has none. Neither may be nil. A nil
// recorder drops events; it must not block, and those of a manager and of client-go do not.
func New(c client.Client, live client.Reader, recorder events.EventRecorder) *API {
	return &API{client: c, live: live, recorder: recorder, reader: &plainReader{c}}
}

// Observe implements clusterapi.Reader. What it returns may be shared with a cache.
func (a *API) Observe(ctx context.Context, key types.NamespacedName) (clusterapi.Observation, error) {
	seen, err := observe(ctx, a.reader, key)
	if err != nil || !a.others {
		return seen, err
	}
	// These are looked at later than what Observation.AsOf is about.
	seen.Objects.Others, err = a.reader.others(ctx)
	return seen, errors.Join(err, whole(seen.Objects.Others))
}

// ObserveOthers lets Observe show the pods of all namespaces too (Objects.Others), which
// Options.Fit and Options.Surge read. It must be called before Observe. What it reads from
// must hold whole pods and nodes, not those of [Diet], of all namespaces; where pods without
// containers show that it does not, Observe returns an error.
func (a *API) ObserveOthers() { a.others = true }

// whole is an error if a pod lacks what has to be counted. No API server admits one without
// containers.
func whole(pods []*corev1.Pod) error {
	for _, pod := range pods {
		if len(pod.Spec.Containers) == 0 {
			return fmt.Errorf("controllerruntime: %w: pod %s/%s has no containers in the cache, so a transform drops what Options.Fit and Options.Surge read: leave out the Diet",
				clusterapi.ErrAdapter, pod.Namespace, pod.Name)
		}
	}
	return nil
}

// Live implements clusterapi.Reader.
func (a *API) Live(ctx context.Context, key types.NamespacedName) (*appsv1.DaemonSet, error) {
	set := &appsv1.DaemonSet{}
	if err := a.live.Get(ctx, key, set); err != nil {
		return nil, err
	}
	return set, nil
}

// Revision implements clusterapi.Reader.
func (a *API) Revision(ctx context.Context, key types.NamespacedName) (*appsv1.ControllerRevision, error) {
	revision := &appsv1.ControllerRevision{}
	if err := a.live.Get(ctx, key, revision); err != nil {
		return nil, err
	}
	return revision, nil
}

func named(ref daemonset.Ref) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: ref.Namespace, Name: ref.Name}
}
