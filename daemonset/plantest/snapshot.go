package plantest

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/daemonplan/daemonplan/daemonset"
)

// Snapshot puts a set and other objects together, at [Now]. The objects are nodes, pods,
// revisions, and states that the set was or is in, oldest first: each state becomes its
// ControllerRevision, numbered from 1. Another kind of object panics. A template of which no
// state is given is one that the controller has not seen yet.
//
// The set is copied, and its status is what the controller would have written last.
func Snapshot(set *appsv1.DaemonSet, objects ...runtime.Object) daemonset.Snapshot {
	s := daemonset.Snapshot{Objects: daemonset.Objects{DaemonSet: set.DeepCopy()}, Now: Now()}
	states := int64(0)
	for _, object := range objects {
		switch object := object.(type) {
		case *corev1.Node:
			s.Objects.Nodes = append(s.Objects.Nodes, object)
		case *corev1.Pod:
			s.Objects.Pods = append(s.Objects.Pods, object)
		case *appsv1.DaemonSet:
			states++
			s.Objects.Revisions = append(s.Objects.Revisions, Revision(object, states))
		case *appsv1.ControllerRevision:
			s.Objects.Revisions = append(s.Objects.Revisions, object)
		default:
			panic(fmt.Sprintf("plantest: a snapshot has no place for a %T", object))
		}
	}
	plan, err := daemonset.Compute(s, daemonset.Options{})
	if err != nil {
		panic(fmt.Sprintf("plantest: %v", err))
	}
	if plan.Status != nil {
		s.Objects.DaemonSet.Status = *plan.Status
	}
	return s
}

// Revision builds the ControllerRevision of a state of the set.
func Revision(of *appsv1.DaemonSet, number int64) *appsv1.ControllerRevision {
	revision := revisionOf(of)
	revision.Revision = number
	revision.CreationTimestamp = anHourAgo()
	return revision
}

// revisionOf is the revision that the set would write first.
func revisionOf(set *appsv1.DaemonSet) *appsv1.ControllerRevision {
	plan, err := daemonset.Compute(daemonset.Snapshot{Objects: daemonset.Objects{DaemonSet: set}}, daemonset.Options{})
	if err != nil {
		panic(fmt.Sprintf("plantest: %v", err))
	}
	i := slices.IndexFunc(plan.Revisions, func(c daemonset.RevisionChange) bool { return c.Op == daemonset.CreateRevision })
	if i < 0 {
		panic(fmt.Sprintf("plantest: %s/%s would write no revision: %s", set.Namespace, set.Name, plan.Reason))
	}
	revision := plan.Revisions[i].Revision
	revision.TypeMeta = metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ControllerRevision"}
	return revision
}
