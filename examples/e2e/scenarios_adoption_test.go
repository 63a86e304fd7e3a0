package e2e_test

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemonplan/daemonplan/examples/e2e/witness"
)

func adoptionScenarios() []scenario {
	return []scenario{
		{
			name: "adopt-bare-pod", why: "a pod that nobody owns and that the selector picks out is the set's, and is replaced if it is not up to date", nodes: 2,
			run: func(s *scene) {
				_, err := s.client.CoreV1().Pods(s.ns).Create(s.ctx, &corev1.Pod{
					ObjectMeta: metav1.ObjectMeta{Name: "bare", Labels: map[string]string{"app": setName}},
					Spec:       corev1.PodSpec{NodeName: s.node(0), Containers: []corev1.Container{{Name: "main", Image: "registry.example/agent:v0"}}},
				}, metav1.CreateOptions{})
				require.NoError(s.t, err)
				s.create(func(set *appsv1.DaemonSet) {
					set.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
				})
				adopted := settled(2)
				adopted.updated = 1
				s.reaches(adopted)
				assert.Equal(s.t, "0=v0 1=v1", s.images())
				s.change(rolling(intstr.FromInt(1), intstr.FromInt(0)))
				s.reaches(settled(2))
				assert.Equal(s.t, "0=v1 1=v1", s.images())
				s.allowed = append(s.allowed, witness.Dropped) // until it is adopted
			},
		},
		{
			name: "release-and-adopt", why: "a pod that loses its label is let go and replaced, and one too many is taken back and ended", nodes: 2,
			run: func(s *scene) {
				s.create()
				s.reaches(settled(2))
				pod := s.pods()[s.node(0)]
				// The API counts a pod's age in whole seconds, and of two pods of one age the
				// name decides.
				time.Sleep(time.Until(pod.CreationTimestamp.Add(time.Second)))
				s.label(pod.Name, "quarantine")
				s.eventually("the pod is let go", func() (bool, string) {
					now, err := s.client.CoreV1().Pods(s.ns).Get(s.ctx, pod.Name, metav1.GetOptions{})
					return err == nil && metav1.GetControllerOf(now) == nil, fmt.Sprint(err)
				})
				s.eventually("the node has another pod", func() (bool, string) {
					next := s.pods()[s.node(0)]
					return next.Name != "" && next.Name != pod.Name, next.Name
				})
				s.reaches(settled(2))
				assert.Len(s.t, s.allPods(), 3)
				s.label(pod.Name, setName)
				// Of two pods the older one stays.
				s.eventually("one of the two is ended", func() (bool, string) {
					n := len(s.allPods())
					return n == 2 && s.pods()[s.node(0)].UID == pod.UID, fmt.Sprint(n)
				})
				s.reaches(settled(2))
				s.allowed = append(s.allowed, witness.Dropped) // by the user
			},
		},
		{
			name: "selector-overlap", why: "two sets whose selectors pick out each other's pods keep to their own", nodes: 2,
			run: func(s *scene) {
				tier := func(set *appsv1.DaemonSet) {
					set.Spec.Template.Labels = map[string]string{"tier": "x", "app": set.Name}
					set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "x"}}
				}
				s.create(tier)
				s.reaches(settled(2))
				before := s.uids()
				s.createSet(s.newSet("second", tier))
				s.setReaches("second", settled(2))
				s.quiet()
				assert.Equal(s.t, before, s.uids())
				assert.Len(s.t, s.allPods(), 4)
			},
		},
		{
			name: "selector-expressions", why: "a selector of expressions claims what it says", nodes: 2,
			run: func(s *scene) {
				s.create(func(set *appsv1.DaemonSet) {
					set.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
						{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{setName, "other"}},
						{Key: "canary", Operator: metav1.LabelSelectorOpDoesNotExist},
					}}
				})
				s.reaches(settled(2))
				pod := s.pods()[s.node(1)]
				patch := []byte(`{"metadata":{"labels":{"canary":"yes"}}}`)
				_, err := s.client.CoreV1().Pods(s.ns).Patch(s.ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
				require.NoError(s.t, err)
				s.eventually("the node has another pod", func() (bool, string) {
					next := s.pods()[s.node(1)]
					return next.Name != "" && next.Name != pod.Name, next.Name
				})
				s.reaches(settled(2))
				assert.Len(s.t, s.allPods(), 3)
			},
		},
	}
}

func (s *scene) label(pod, app string) {
	s.t.Helper()
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{"app":%q}}}`, app)
	_, err := s.client.CoreV1().Pods(s.ns).Patch(s.ctx, pod, types.MergePatchType, patch, metav1.PatchOptions{})
	require.NoError(s.t, err)
}
