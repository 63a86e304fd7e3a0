package clientgo

import (
	"context"
	"errors"
	"fmt"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/daemonset"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
)

// API is the ClusterAPI of a real cluster: Observe answers from the caches of Informers,
// everything else goes to the API server. It is safe for concurrent use.
type API struct {
	client    kubernetes.Interface
	informers *Informers
	recorder  record.EventRecorder // nil drops events
}

var _ clusterapi.ClusterAPI = (*API)(nil)

// NewAPI returns the ClusterAPI on client. Observe is of use once the informers have synced.
// A nil recorder drops events; those of client-go do not block.
func NewAPI(client kubernetes.Interface, informers *Informers, recorder record.EventRecorder) (*API, error) {
	if client == nil || informers == nil {
		return nil, errors.New("clientgo: an API needs a client and informers")
	}
	return &API{client: client, informers: informers, recorder: recorder}, nil
}

// Observe returns what the caches show. The objects are shared with the caches, the slices
// are only to be read, too.
func (a *API) Observe(ctx context.Context, key types.NamespacedName) (clusterapi.Observation, error) {
	if err := ctx.Err(); err != nil {
		return clusterapi.Observation{}, err
	}
	i := a.informers
	// The versions come first: what is read later is no older.
	asOf := i.reached()
	set, err := i.set(key)
	if err != nil {
		return clusterapi.Observation{}, err
	}
	if set == nil {
		return clusterapi.Observation{}, apierrors.NewNotFound(appsv1.Resource("daemonsets"), key.Name)
	}
	pods, err := i.podsFor(set)
	if err != nil {
		return clusterapi.Observation{}, fmt.Errorf("clientgo: pods of %s: %w", key, err)
	}
	revisions, err := i.revisions.GetIndexer().ByIndex(cache.NamespaceIndex, key.Namespace)
	if err != nil {
		return clusterapi.Observation{}, fmt.Errorf("clientgo: revisions of %s: %w", key.Namespace, err)
	}
	if err := i.occupied.whole(); err != nil {
		return clusterapi.Observation{}, err
	}
	return clusterapi.Observation{
		Beside: i.occupied.view(),
		AsOf:   asOf,
		Objects: daemonset.Objects{
			DaemonSet: set,
			Nodes:     i.nodeList.get(),
			Pods:      pods,
			Revisions: typed[*appsv1.ControllerRevision](revisions),
		},
	}, nil
}

// reached is the resource version up to which a cache shows everything. It is empty, which
// means not known, if client-go's feature AtomicFIFO is turned off.
func reached(informer cache.SharedIndexInformer) string {
	return informer.GetIndexer().LastStoreSyncResourceVersion()
}

func (i *Informers) reached() clusterapi.Versions {
	return clusterapi.Versions{DaemonSets: reached(i.sets), Pods: reached(i.pods), Revisions: reached(i.revisions)}
}

// set returns the cached DaemonSet, or nil.
func (i *Informers) set(key types.NamespacedName) (*appsv1.DaemonSet, error) {
	obj, exists, err := i.sets.GetIndexer().GetByKey(key.String())
	if err != nil {
		return nil, fmt.Errorf("clientgo: DaemonSet %s: %w", key, err)
	}
	if !exists {
		return nil, nil
	}
	set, ok := obj.(*appsv1.DaemonSet)
	if !ok {
		return nil, fmt.Errorf("clientgo: the cache of DaemonSets holds a %T", obj)
	}
	return set, nil
}

// Live returns the DaemonSet from the API server.
func (a *API) Live(ctx context.Context, key types.NamespacedName) (*appsv1.DaemonSet, error) {
	return a.client.AppsV1().DaemonSets(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
}

// Revision returns the revision from the API server.
func (a *API) Revision(ctx context.Context, key types.NamespacedName) (*appsv1.ControllerRevision, error) {
	return a.client.AppsV1().ControllerRevisions(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
}
