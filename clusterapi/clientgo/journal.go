package clientgo

import (
	"errors"
	"sync"

	"github.com/daemonplan/daemonplan/daemonset"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// journal notes the names of objects that change in the caches, for those that follow a
// DaemonSet. What became of an object they read from the cache.
//
// It hears of changes before anybody can see them ([onChange]); only of what is left out of a
// new list, after a broken watch, by an event, a moment later.
type journal struct {
	mu        sync.Mutex
	followers map[types.NamespacedName][]*following
	node      *corev1.Node // of the last call, until it is clear whether it is the object before a change
}

// dirty are the names of what has changed.
type dirty struct {
	nodes     map[string]struct{}
	pods      map[types.NamespacedName]struct{}
	revisions map[types.NamespacedName]struct{}
}

// watch connects the journal to the caches.
func (j *journal) watch(i *Informers) error {
	return errors.Join(
		listen(i.nodes, j, j.nodeChanges, func(node *corev1.Node) { j.nodeIs(node.Name) }),
		listen(i.pods, j, j.podChanges, j.podChanges),
		listen(i.revisions, j, j.revisionChanges, j.revisionChanges),
	)
}

// listen calls changes with each state of an object, and gone with the last one.
func listen[T any](informer cache.SharedIndexInformer, j *journal, changes, gone func(T)) error {
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(obj any) {
		if missed, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = missed.Obj
		}
		if object, ok := obj.(T); ok {
			gone(object)
		}
	}})
	return errors.Join(err, onChange(informer, j, changes))
}

// nodeChanges takes a state of a node. Most changes are of what no plan reads; they are known
// by the state that was given just before.
func (j *journal) nodeChanges(node *corev1.Node) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if prev := j.node; prev != nil && prev != node && prev.Name == node.Name {
		j.node = nil
		if daemonset.NodeMatters(prev, node) {
			j.noteNode(node.Name)
		}
		return
	}
	j.settleNode()
	j.node = node
}

// settleNode notes a node that came or went.
func (j *journal) settleNode() {
	if j.node != nil {
		j.noteNode(j.node.Name)
		j.node = nil
	}
}

func (j *journal) nodeIs(name string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.noteNode(name)
}

func (j *journal) noteNode(name string) {
	for _, followers := range j.followers {
		for _, f := range followers {
			note(&f.dirty.nodes, name)
		}
	}
}

// podChanges takes a state of a pod. It concerns the DaemonSet that owns the pod or, if nobody
// does, those of its namespace.
func (j *journal) podChanges(pod *corev1.Pod) {
	owner, ours := daemonset.OwnerOf(pod)
	if !ours && metav1.GetControllerOfNoCopy(pod) != nil {
		return
	}
	name := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	j.mu.Lock()
	defer j.mu.Unlock()
	followers := j.followers[types.NamespacedName{Namespace: pod.Namespace, Name: owner.Name}]
	if !ours || len(followers) == 0 { // with a wrong name in the reference, the UID is what counts
		followers = j.in(pod.Namespace)
	}
	for _, f := range followers {
		note(&f.dirty.pods, name)
	}
}

func (j *journal) revisionChanges(revision metav1.Object) {
	name := types.NamespacedName{Namespace: revision.GetNamespace(), Name: revision.GetName()}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, f := range j.in(name.Namespace) {
		note(&f.dirty.revisions, name)
	}
}

// in lists who follows a DaemonSet of a namespace.
func (j *journal) in(namespace string) []*following {
	var all []*following
	for key, followers := range j.followers {
		if key.Namespace == namespace {
			all = append(all, followers...)
		}
	}
	return all
}

func note[K comparable](names *map[K]struct{}, name K) {
	if *names == nil {
		*names = map[K]struct{}{}
	}
	(*names)[name] = struct{}{}
}
