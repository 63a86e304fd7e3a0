package command

import appsv1 "k8s.io/api/apps/v1"

// ClassAnnotation is the annotation of a DaemonSet that says which instance of this program
// acts on it: the one whose --class is its value. One that is absent or empty is the class
// of an instance without --class. So instances of different classes share no DaemonSet.
//
// The DaemonSet controller of Kubernetes v1.37.2 knows no such annotation and acts on every
// DaemonSet.
const ClassAnnotation = "daemonplan.dev/class"

// ofClass returns a function that reports whether a set is of the class.
func ofClass(class string) func(*appsv1.DaemonSet) bool {
	return func(set *appsv1.DaemonSet) bool { return set.Annotations[ClassAnnotation] == class }
}
