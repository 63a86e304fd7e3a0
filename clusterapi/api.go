package clusterapi

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/daemonset"
)

// ClusterAPI is what an adapter implements: twelve calls, none of which decides anything.
//
// All methods may be called from several goroutines at once. Errors must satisfy the
// predicates of k8s.io/apimachinery/pkg/api/errors (IsNotFound, IsConflict, ...), because
// the Driver decides by them. A call that returns no error returns an object.
//
// A call must return when its context is done, also while the server does not answer. A call
// whose context is done returns an error, also if it was done before the call; a write that
// was not sent then has no effect, and must not be sent later.
//
// Observe's objects are only read. What the other calls return belongs to the caller, and an
// argument must be neither changed nor kept.
//
// fake.TestClusterAPI checks an implementation against all this.
type ClusterAPI interface {
	Reader
	Writer
}

// Reader supplies what a plan is made from.
type Reader interface {
	// Observe returns the DaemonSet with all nodes, the pods that it owns and the orphans of
	// its namespace, and the ControllerRevisions of its namespace. Pods that the set owns
	// belong in it also if its selector no longer matches them, so do not list by the
	// selector; orphans that it does not match may be left out. Pods that are being deleted or
	// have finished belong in it, and nodes in whatever state. Pods and revisions of other
	// namespaces or other controllers are passed over.
	//
	// The set and the revisions are whole, but for their managedFields: they are written back.
	// Of a node the labels and taints are enough; of a pod its identity, resource version,
	// labels and owner references, when it was created and deleted, the node that it is bound
	// to, or else pinned to by its affinity, its phase, and its Ready condition with its time.
	// What else they have need not be shown. With Options.Fit or Options.Surge planning reads
	// more: of nodes what they can hold and their conditions, of pods their whole spec, and
	// the pods of others, in Objects.Others or Observation.Beside, unless Options.Beside counts
	// them. None of these may be older than Observation.AsOf says of pods. With Options.Fit that has to be known: without
	// it two sets may be given the same room, and kubelets refuse the second one's pods.
	//
	// It may serve from caches that lag, also each by its own delay; Observation.AsOf says how
	// far they have come. The objects are only read, so they may be a cache's own. A set that
	// is not there is a NotFound error.
	Observe(ctx context.Context, key types.NamespacedName) (Observation, error)

	// Live returns the DaemonSet from the API server itself, never from a cache. It is asked
	// before something is adopted and after a status write met a conflict. A set that is not
	// there is a NotFound error.
	Live(ctx context.Context, key types.NamespacedName) (*appsv1.DaemonSet, error)

	// Revision returns a revision from the API server itself, never from a cache. It is
	// asked when the name of a new revision is taken. One that is not there is a NotFound
	// error.
	Revision(ctx context.Context, key types.NamespacedName) (*appsv1.ControllerRevision, error)
}

// Observation is what Observe saw.
type Observation struct {
	Objects daemonset.Objects
	AsOf    Versions
	// Beside counts the pods of others, for adapters that keep count of them; Options.Beside
	// goes before it. Nil leaves them to Objects.Others.
	Beside daemonset.Beside
}

// Versions are resource versions, one for each kind that the Driver writes: the objects of
// the observation show every write up to it. Older than that is safe, newer is not: the
// Driver would take its own writes for undone. An empty one is not known, and nothing is
// concluded from it.
type Versions struct {
	DaemonSets string
	Pods       string
	Revisions  string
}

// Writer carries out single changes.
//
// No write may have an effect on a successor of the object that it is about, which has the
// same name: it fails with a Conflict error if the UID does not match, and with NotFound if
// there is no such object. The UID in a Ref, or in an object that is written, is never empty.
//
// An API server of Kubernetes v1.37.2 says Conflict itself of a UID in an update or in the
// preconditions of a deletion. Of another UID in a patch it says Invalid, with metadata.uid
// among the causes, unless a resource version in the patch is a Conflict before: an adapter
// that guards patches by a UID has to make a Conflict of that.
type Writer interface {
	// CreatePod creates the pod and returns it as stored, with name, UID and resource
	// version. With generateName the name comes from the server. Not idempotent, unless the
	// pod has a name: then a second call is an AlreadyExists error.
	CreatePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error)

	// PatchPod applies a JSON merge patch (RFC 7396), which concerns the pod's metadata only,
	// and returns the pod as stored. A list in it replaces the stored one, also if it is empty;
	// a strategic merge patch would not do that to owner references. A resource version in the
	// patch other than the stored one is a Conflict error; without one the patch is idempotent.
	PatchPod(ctx context.Context, pod daemonset.Ref, mergePatch []byte) (*corev1.Pod, error)

	// DeletePod asks for the pod's graceful deletion, with its UID as a precondition and with
	// the grace period that the pod has of its own. Repeating it is harmless: it succeeds, or is
	// a NotFound error once the pod is gone.
	DeletePod(ctx context.Context, pod daemonset.Ref) error

	// CreateRevision creates the revision and returns it as stored. A name that is taken is
	// an AlreadyExists error.
	CreateRevision(ctx context.Context, revision *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error)

	// UpdateRevision replaces the revision and returns it as stored. Its resource version is
	// set, and one other than the stored one is a Conflict error.
	UpdateRevision(ctx context.Context, revision *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error)

	// PatchRevision applies a JSON merge patch to the revision's metadata and returns the
	// revision as stored. Resource versions are as with PatchPod.
	PatchRevision(ctx context.Context, revision daemonset.Ref, mergePatch []byte) (*appsv1.ControllerRevision, error)

	// DeleteRevision removes the revision, with its UID as a precondition.
	DeleteRevision(ctx context.Context, revision daemonset.Ref) error

	// UpdateStatus replaces the DaemonSet's status, leaves its spec, and returns the set as
	// stored. Its resource version is set, and one other than the stored one is a Conflict
	// error. Its metadata are those of a set that Observe, Live or UpdateStatus returned. So an
	// adapter need not shield them, though an API server of Kubernetes v1.37.2 takes over
	// labels, annotations, finalizers and owner references with the status.
	UpdateStatus(ctx context.Context, set *appsv1.DaemonSet) (*appsv1.DaemonSet, error)

	// RecordEvent publishes an event about the DaemonSet. It must not block on the network
	// and reports no error: events are best effort.
	RecordEvent(ctx context.Context, about daemonset.Ref, event daemonset.Event)
}
