package clusterapi

import (
	"errors"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/daemonset"
)

// Feed turns the events of informers into passes: each method takes one event, and what it
// asks for goes to FeedOptions.Wake. It is safe for concurrent use, so that each informer
// may have its own goroutine.
//
// In all methods a nil prev means added, a nil cur deleted; both nil mean nothing. Objects
// are only read, but pods are kept.
type Feed struct {
	options FeedOptions

	mu    sync.RWMutex
	index *daemonset.SetIndex
	pods  daemonset.NodePods
}

// FeedOptions configure a Feed. Only Wake is required.
type FeedOptions struct {
	// Wake does what an event asks for, like Runner.Wake. It must not block.
	Wake func(daemonset.Wakes)
	// Options are those of the Driver: they say how nodes are judged.
	Options daemonset.Options
	// Select says which DaemonSets are ours, as in Config; nil means all. The others wake
	// nobody.
	Select func(*appsv1.DaemonSet) bool
	// PodsOn returns the pods that are bound or pinned to a node, from an index of the
	// caller's cache that is no older than the events. Nil makes the Feed keep its own table.
	PodsOn func(node string) []*corev1.Pod
}

// NewFeed returns a Feed that knows no DaemonSet yet.
func NewFeed(options FeedOptions) (*Feed, error) {
	if options.Wake == nil {
		return nil, errors.New("clusterapi: FeedOptions.Wake is nil")
	}
	return &Feed{options: options, index: daemonset.NewSetIndex(options.Options.Placement)}, nil
}

// DaemonSet takes the event of a DaemonSet. One that is no longer selected is as one that is
// gone: it is forgotten, and woken once more, so that a pass under way is not the last.
func (f *Feed) DaemonSet(prev, cur *appsv1.DaemonSet) {
	gone := f.selected(prev)
	here := f.selected(cur)
	f.put(gone, here)
	f.options.Wake(daemonset.SetChanged(gone, here))
}

func (f *Feed) put(gone, here *appsv1.DaemonSet) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case here != nil:
		f.index.Put(here)
	case gone != nil:
		f.index.Remove(types.NamespacedName{Namespace: gone.Namespace, Name: gone.Name})
	}
}

// selected is set, or nil if it is not ours.
func (f *Feed) selected(set *appsv1.DaemonSet) *appsv1.DaemonSet {
	if set == nil || f.options.Select != nil && !f.options.Select(set) {
		return nil
	}
	return set
}

// Pod takes the event of a pod.
func (f *Feed) Pod(prev, cur *corev1.Pod) {
	f.options.Wake(f.podWakes(prev, cur))
}

func (f *Feed) podWakes(prev, cur *corev1.Pod) daemonset.Wakes {
	if f.options.PodsOn == nil {
		f.mu.Lock()
		f.pods.Changed(prev, cur)
		f.mu.Unlock()
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.index.PodChanged(prev, cur)
}

// Revision takes the event of a ControllerRevision.
func (f *Feed) Revision(prev, cur *appsv1.ControllerRevision) {
	f.mu.RLock()
	wakes := f.index.RevisionChanged(prev, cur)
	f.mu.RUnlock()
	f.options.Wake(wakes)
}

// Node takes the event of a node. Its cost is linear in the DaemonSets of the cluster if the
// node matters (see daemonset.NodeMatters), else constant.
func (f *Feed) Node(prev, cur *corev1.Node) {
	if !daemonset.NodeMatters(prev, cur) {
		return
	}
	f.options.Wake(f.nodeWakes(prev, cur))
}

func (f *Feed) nodeWakes(prev, cur *corev1.Node) daemonset.Wakes {
	f.mu.RLock()
	defer f.mu.RUnlock()
	podsOn := f.options.PodsOn
	if podsOn == nil {
		podsOn = f.pods.On
	}
	return f.index.NodeChanged(prev, cur, podsOn(cur.Name))
}
