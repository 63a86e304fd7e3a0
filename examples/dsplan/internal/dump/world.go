// Package dump reads the objects of a cluster from files, as kubectl get prints them, and
// sorts out what belongs to which DaemonSet.
package dump

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/daemonset"
)

// World is the state of one cluster at one time, read from any number of files with Read.
// Its zero value is empty and ready. It is not safe for concurrent use while it is read.
type World struct {
	sets      []*appsv1.DaemonSet
	nodes     []*corev1.Node
	pods      map[string][]*corev1.Pod // by namespace
	revisions map[string][]*appsv1.ControllerRevision
	seen      map[identity]seen
	faults    []*ObjectError
}

// Set is one DaemonSet of a World with all that a plan for it looks at.
type Set struct {
	Namespace string
	Name      string            // empty if not even that could be read
	Objects   daemonset.Objects // empty if the DaemonSet itself could not be read
	Err       error             // why there must be no plan: some of the objects could not be read
}

// Sets returns the DaemonSets ordered by namespace and name, also those that could not be
// read; there the error says so. Without any the result is empty.
//
// The objects are shared between the sets, and the World keeps them: they are read-only.
func (w *World) Sets() []Set {
	byKey := map[setKey]Set{}
	for _, obj := range w.sets {
		key := setKey{obj.Namespace, obj.Name}
		byKey[key] = Set{Namespace: key.namespace, Name: key.name, Objects: daemonset.Objects{
			DaemonSet: obj,
			Nodes:     w.nodes,
			Pods:      w.pods[key.namespace],
			Revisions: w.revisions[key.namespace],
		}}
	}
	for _, fault := range w.faults {
		if fault.Kind == daemonSetKind {
			key := setKey{fault.Namespace, fault.Name}
			byKey[key] = Set{Namespace: key.namespace, Name: key.name}
		}
	}
	sets := make([]Set, 0, len(byKey))
	for _, key := range slices.SortedFunc(maps.Keys(byKey), setKey.compare) {
		set := byKey[key]
		set.Err = joinFaults(w.faultsOf(key))
		sets = append(sets, set)
	}
	return sets
}

// Err is what could not be read at all, whether or not it concerns a DaemonSet; nil if
// nothing.
func (w *World) Err() error { return joinFaults(slices.Values(w.faults)) }

type setKey struct{ namespace, name string }

func (k setKey) compare(other setKey) int {
	return cmp.Or(cmp.Compare(k.namespace, other.namespace), cmp.Compare(k.name, other.name))
}

// faultsOf yields what keeps one set from being planned.
func (w *World) faultsOf(key setKey) iter.Seq[*ObjectError] {
	return func(yield func(*ObjectError) bool) {
		for _, fault := range w.faults {
			if fault.concerns(key) && !yield(fault) {
				return
			}
		}
	}
}
