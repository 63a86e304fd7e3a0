package script

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/daemonset"
)

// Planner is the function under test: daemonset.Compute, or in this package's own tests
// something that is wrong in a known way.
type Planner func(daemonset.Snapshot, daemonset.Options) (daemonset.Plan, error)

// World is a small cluster with one DaemonSet, named agent, in the namespace demo. It
// starts without nodes, pods and revisions, at noon of 2026-03-10.
type World struct {
	plan     Planner
	set      *appsv1.DaemonSet
	snapshot daemonset.Snapshot // without the set
	last     daemonset.Plan
}

// The constants of every world.
const (
	namespace = "demo"
	setName   = "agent"
	setUID    = types.UID("uid-agent")
	image     = "v1"
)

// NewWorld returns an empty world that asks plan for its plans.
func NewWorld(plan Planner) *World {
	labels := map[string]string{"app": setName}
	return &World{
		plan: plan,
		set: &appsv1.DaemonSet{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: setName, UID: setUID, Generation: 1},
			Spec: appsv1.DaemonSetSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}},
				},
			},
			Status: appsv1.DaemonSetStatus{ObservedGeneration: 1},
		},
		snapshot: daemonset.Snapshot{Now: time.Date(2026, time.March, 10, 12, 0, 0, 0, time.UTC)},
	}
}

// Run implements Runner.
func (w *World) Run(command string) (string, error) {
	words := strings.Fields(command)
	name, words := words[0], words[1:]
	if show, ok := w.shows()[name]; ok {
		return show(words)
	}
	if change, ok := w.changes()[name]; ok {
		return "", change(words)
	}
	return "", errors.New("unknown command")
}

// changes are the commands that change the world and print nothing.
func (w *World) changes() map[string]func([]string) error {
	return map[string]func([]string) error{
		"daemonset": w.changeSet,
		"selector":  w.changeSelector,
		"status":    w.changeStatus,
		"template":  w.changeTemplate,
		"tolerate":  w.tolerate,
		"affinity":  w.requireAffinity,
		"preferred": w.preferAffinity,
		"nodes":     w.addNodes,
		"node":      w.changeNode,
		"label":     w.labelNode,
		"taint":     w.taintNode,
		"untaint":   w.untaintNode,
		"pod":       w.addPod,
		"other":     w.addOther,
		"remember":  w.remember,
		"revision":  w.addRevisions,
		"remove":    w.remove,
		"backoff":   w.backOff,
		"pending":   w.expect,
		"advance":   w.advance,
	}
}

// shows are the commands that print.
func (w *World) shows() map[string]func([]string) (string, error) {
	return map[string]func([]string) (string, error){
		"plan":    w.showPlan,
		"explain": w.explain,
		"json":    w.showJSON,
		"object":  w.showObject,
	}
}

// remove takes objects out of the world: "remove pods p1 p2", "remove nodes a",
// "remove others db", "remove revisions v1", "remove daemonset".
func (w *World) remove(words []string) error {
	if err := someWords(words); err != nil {
		return err
	}
	objects, names := &w.snapshot.Objects, words[1:]
	switch words[0] {
	case "pods":
		objects.Pods = slices.DeleteFunc(objects.Pods, func(p *corev1.Pod) bool { return slices.Contains(names, p.Name) })
	case "nodes":
		objects.Nodes = slices.DeleteFunc(objects.Nodes, func(n *corev1.Node) bool { return slices.Contains(names, n.Name) })
	case "others":
		w.removeOthers(names)
	case "revisions":
		return w.removeRevisions(names)
	case "daemonset":
		w.set = nil
	default:
		return fmt.Errorf("cannot remove %q", words[0])
	}
	return nil
}

// current is the world as a snapshot.
func (w *World) current() daemonset.Snapshot {
	s := w.snapshot
	s.Objects.DaemonSet = w.set
	return s
}
