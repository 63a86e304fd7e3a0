package clusterapi

import (
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/daemonset"
)

// Feed says what the events of informers ask for: which DaemonSets to make a pass for, and
// what is settled. Its answers are for Runner.Wake, or for Driver.Settle and a queue of the
// caller's. Make one with Driver.NewFeed.
//
// It is safe for concurrent use, so that each informer may have its own goroutine; events of
// one object must come in order. In all methods a nil prev means added, a nil cur deleted;
// both nil mean nothing. Objects are only read.
type Feed struct {
	driver  *Driver
	selects func(*appsv1.DaemonSet) bool
	podsOn  func(node string) []*corev1.Pod

	mu    sync.RWMutex
	index *daemonset.SetIndex
	pods  *daemonset.NodePods // nil if the caller knows which pods are on a node
}

// NewFeed returns a Feed that knows no DaemonSet yet. It judges nodes and selects sets as d
// does.
//
// podsOn returns the pods that are bound or pinned to a node, from an index of the caller's
// cache that is no older than the events; see daemonset.SetIndex.NodeChanged. Nil makes the
// Feed keep the pods of its events in a table of its own.
func (d *Driver) NewFeed(podsOn func(node string) []*corev1.Pod) *Feed {
	f := &Feed{
		driver:  d,
		selects: d.cfg.Select,
		podsOn:  podsOn,
		index:   daemonset.NewSetIndex(d.cfg.Options.Placement),
	}
	if podsOn == nil {
		f.pods = &daemonset.NodePods{}
		f.podsOn = f.pods.On
	}
	return f
}

// DaemonSet takes the event of a DaemonSet. One that is no longer selected is as one that is
// gone: it is forgotten, and woken once more, so that a pass under way is not the last. Of
// one that is not selected nothing is asked.
func (f *Feed) DaemonSet(prev, cur *appsv1.DaemonSet) daemonset.Wakes {
	gone, here := f.selected(prev), f.selected(cur)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case here != nil:
		f.index.Put(here)
	case gone != nil:
		f.index.Remove(types.NamespacedName{Namespace: gone.Namespace, Name: gone.Name})
	}
	return daemonset.SetChanged(gone, here)
}

// selected is set, or nil if it is not ours.
func (f *Feed) selected(set *appsv1.DaemonSet) *appsv1.DaemonSet {
	if set == nil || !f.selects(set) {
		return nil
	}
	return set
}

// Pod takes the event of a pod; see daemonset.SetIndex.PodChanged and, with Options.Fit,
// daemonset.Suspensions.PodChanged.
func (f *Feed) Pod(prev, cur *corev1.Pod) daemonset.Wakes {
	if f.pods != nil {
		f.keep(prev, cur)
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.driver.suspended.podChanged(f.index.PodChanged(prev, cur), prev, cur)
}

// Room takes the event of a pod that no DaemonSet controls or could adopt, neither before nor
// after it: all that counts is the room that it leaves, with Options.Fit or Options.Surge.
// Pod would do as well, and keeps the pod if the Feed keeps pods.
func (f *Feed) Room(prev, cur *corev1.Pod) daemonset.Wakes {
	return f.driver.suspended.podChanged(daemonset.Wakes{}, prev, cur)
}

func (f *Feed) keep(prev, cur *corev1.Pod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pods.Changed(prev, cur)
}

// Revision takes the event of a ControllerRevision; see daemonset.SetIndex.RevisionChanged.
func (f *Feed) Revision(prev, cur *appsv1.ControllerRevision) daemonset.Wakes {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.index.RevisionChanged(prev, cur)
}

// Node takes the event of a node; see daemonset.SetIndex.NodeChanged and, with Options.Fit,
// daemonset.Suspensions.NodeChanged. Its cost is linear in the DaemonSets of the cluster if
// the node matters, else constant.
func (f *Feed) Node(prev, cur *corev1.Node) daemonset.Wakes {
	var w daemonset.Wakes
	if daemonset.NodeMatters(prev, cur) {
		w = f.nodeWakes(prev, cur)
	}
	return f.driver.suspended.nodeChanged(w, prev, cur)
}

func (f *Feed) nodeWakes(prev, cur *corev1.Node) daemonset.Wakes {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.index.NodeChanged(prev, cur, f.podsOn(cur.Name))
}
