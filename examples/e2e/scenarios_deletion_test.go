package e2e_test

import (
	"fmt"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemonplan/daemonplan/examples/e2e/witness"
)

func deletionScenarios() []scenario {
	return []scenario{
		deletion("delete-background", metav1.DeletePropagationBackground),
		deletion("delete-foreground", metav1.DeletePropagationForeground),
		{
			name: "delete-orphan", why: "pods and history that a set leaves behind are its successor's, and go on running", nodes: 3,
			run: func(s *scene) {
				s.create()
				s.reaches(settled(3))
				before := s.uids()
				s.deleteSet(metav1.DeletePropagationOrphan)
				s.quiet()
				pods := s.allPods()
				require.Len(s.t, pods, 3)
				for _, pod := range pods {
					assert.Nil(s.t, metav1.GetControllerOf(&pod), "pod %s is left without an owner", pod.Name)
				}
				s.create()
				s.reaches(settled(3))
				assert.Equal(s.t, before, s.uids(), "no pod is restarted")
				s.eventually("the history is adopted", func() (bool, string) { return s.revisions() == "1", s.revisions() })
			},
		},
		{
			name: "delete-orphan-updated", why: "a successor with another template updates the pods that it adopts", nodes: 3,
			run: func(s *scene) {
				s.create()
				s.reaches(settled(3))
				before := s.uids()
				s.deleteSet(metav1.DeletePropagationOrphan)
				// The template generation of a set's first template is 1, as that of the pods that
				// are left; pods with an equal one count as updated. So the next change counts.
				s.create(rolling(intstr.FromInt(1), intstr.FromInt(0)))
				s.reaches(settled(3))
				s.change(image("v2"))
				s.reaches(settled(3))
				assert.Zero(s.t, same(before, s.uids()))
				s.answer("images %s", s.images())
			},
		},
		{
			name: "delete-namespace", why: "a namespace that is deleted in the middle of an update goes away", nodes: 5,
			run: func(s *scene) {
				s.create(rolling(intstr.FromInt(1), intstr.FromInt(0)), slowly)
				s.reaches(settled(5))
				s.change(image("v2"))
				s.begins()
				s.ended = true
				s.allowed = append(s.allowed, witness.OverBudget) // by the namespace's end
				require.NoError(s.t, s.client.CoreV1().Namespaces().Delete(s.ctx, s.ns, metav1.DeleteOptions{}))
				s.eventually("the namespace is gone", func() (bool, string) {
					ns, err := s.client.CoreV1().Namespaces().Get(s.ctx, s.ns, metav1.GetOptions{})
					return apierrors.IsNotFound(err), fmt.Sprint(ns.Status, err)
				})
			},
		},
	}
}

// deletion takes a set down with all it has, and makes it again under its name.
func deletion(name string, policy metav1.DeletionPropagation) scenario {
	return scenario{
		name: name, why: "a set that is deleted takes its pods along, and its successor gets new ones", nodes: 3,
		run: func(s *scene) {
			s.create()
			s.reaches(settled(3))
			before := s.uids()
			s.deleteSet(policy)
			s.create()
			s.reaches(settled(3))
			assert.Zero(s.t, same(before, s.uids()))
			s.eventually("only the new pods are there", func() (bool, string) {
				n := len(s.allPods())
				return n == 3, fmt.Sprint(n)
			})
			assert.Equal(s.t, "1", s.revisions())
		},
	}
}

// deleteSet deletes the scene's set and returns when the object is gone.
func (s *scene) deleteSet(policy metav1.DeletionPropagation) {
	s.t.Helper()
	require.NoError(s.t, s.client.AppsV1().DaemonSets(s.ns).Delete(s.ctx, setName, metav1.DeleteOptions{PropagationPolicy: &policy}))
	s.eventually("the set is gone", func() (bool, string) {
		_, err := s.client.AppsV1().DaemonSets(s.ns).Get(s.ctx, setName, metav1.GetOptions{})
		return apierrors.IsNotFound(err), fmt.Sprint(err)
	})
}
