package controllerruntime

import (
	"context"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/daemonset"
	appsv1 "k8s.io/api/apps/v1"
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
	return observe(ctx, a.reader, key)
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
