package e2e_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// status is what a set says of its nodes, in short.
type status struct {
	desired, current, ready, updated, available, unavailable, misscheduled int32
}

func statusOf(set *appsv1.DaemonSet) status {
	s := set.Status
	return status{
		s.DesiredNumberScheduled, s.CurrentNumberScheduled, s.NumberReady, s.UpdatedNumberScheduled,
		s.NumberAvailable, s.NumberUnavailable, s.NumberMisscheduled,
	}
}

// settled is the status of a set that has all that it wants on n nodes.
func settled(n int32) status {
	return status{desired: n, current: n, ready: n, updated: n, available: n}
}

// reaches returns when the scene's set has this status for its present spec.
func (s *scene) reaches(want status) {
	s.t.Helper()
	s.setReaches(setName, want)
}

func (s *scene) setReaches(name string, want status) {
	s.t.Helper()
	s.eventually(fmt.Sprintf("set %s reaches %+v", name, want), func() (bool, string) {
		set, err := s.client.AppsV1().DaemonSets(s.ns).Get(s.ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		return set.Status.ObservedGeneration == set.Generation && statusOf(set) == want,
			fmt.Sprintf("%+v, generation %d, observed %d", statusOf(set), set.Generation, set.Status.ObservedGeneration)
	})
}

// pods returns the live pods that the scene's set owns, by node.
func (s *scene) pods() map[string]corev1.Pod {
	s.t.Helper()
	return s.podsOf(s.get())
}

func (s *scene) podsOf(set *appsv1.DaemonSet) map[string]corev1.Pod {
	s.t.Helper()
	byNode := map[string]corev1.Pod{}
	for _, pod := range s.allPods() {
		owner := metav1.GetControllerOf(&pod)
		if owner == nil || owner.UID != set.UID || pod.DeletionTimestamp != nil {
			continue
		}
		byNode[pod.Spec.NodeName] = pod
	}
	return byNode
}

func (s *scene) allPods() []corev1.Pod {
	s.t.Helper()
	list, err := s.client.CoreV1().Pods(s.ns).List(s.ctx, metav1.ListOptions{})
	require.NoError(s.t, err)
	return list.Items
}

// images says on which node which version runs, as "0=v1 1=v2".
func (s *scene) images() string {
	s.t.Helper()
	var parts []string
	for node, pod := range s.pods() {
		_, version, _ := strings.Cut(pod.Spec.Containers[0].Image, ":")
		parts = append(parts, strings.TrimPrefix(node, s.ns+"-")+"="+version)
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// uids identifies the live pods of the scene's set.
func (s *scene) uids() map[string]string {
	s.t.Helper()
	byNode := map[string]string{}
	for node, pod := range s.pods() {
		byNode[node] = string(pod.UID)
	}
	return byNode
}

// revisions says which revisions of the scene's set there are, as "1 3", by number.
func (s *scene) revisions() string {
	s.t.Helper()
	list, err := s.client.AppsV1().ControllerRevisions(s.ns).List(s.ctx, metav1.ListOptions{})
	require.NoError(s.t, err)
	set := s.get()
	var numbers []int64
	for _, revision := range list.Items {
		if owner := metav1.GetControllerOf(&revision); owner != nil && owner.UID == set.UID {
			numbers = append(numbers, revision.Revision)
		}
	}
	slices.Sort(numbers)
	return strings.Trim(fmt.Sprint(numbers), "[]")
}

// reported returns when an event with this reason is there about the scene's set.
func (s *scene) reported(reason string) {
	s.t.Helper()
	s.eventually("an event "+reason, func() (bool, string) {
		seen := s.events()
		return slices.Contains(seen, reason), fmt.Sprint(seen)
	})
}

// events returns the reasons of the events about the scene's set, sorted, each once.
func (s *scene) events() []string {
	s.t.Helper()
	list, err := s.client.CoreV1().Events(s.ns).List(s.ctx, metav1.ListOptions{})
	require.NoError(s.t, err)
	var reasons []string
	for _, event := range list.Items {
		if event.InvolvedObject.Kind == "DaemonSet" && event.InvolvedObject.Name == setName {
			reasons = append(reasons, event.Reason)
		}
	}
	slices.Sort(reasons)
	return slices.Compact(reasons)
}

// nodes returns the names of the scene's nodes.
func (s *scene) nodes() []string {
	s.t.Helper()
	list, err := s.client.CoreV1().Nodes().List(s.ctx, metav1.ListOptions{LabelSelector: pool + "=" + s.ns})
	require.NoError(s.t, err)
	var names []string
	for _, node := range list.Items {
		names = append(names, node.Name)
	}
	return names
}
