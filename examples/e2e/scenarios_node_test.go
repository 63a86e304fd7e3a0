package e2e_test

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func nodeScenarios() []scenario {
	return []scenario{
		{
			name: "node-added", why: "a node that joins gets a pod, and no other is touched", nodes: 2,
			run: func(s *scene) {
				s.create()
				s.reaches(settled(2))
				before := s.uids()
				s.addNode(s.node(2))
				s.reaches(settled(3))
				after := s.uids()
				for node, uid := range before {
					assert.Equal(s.t, uid, after[node])
				}
			},
		},
		{
			name: "node-again", why: "a node that is deleted and made again under its name gets a pod of its own", nodes: 2,
			run: func(s *scene) {
				s.create()
				s.reaches(settled(2))
				before := s.uids()
				require.NoError(s.t, s.client.CoreV1().Nodes().Delete(s.ctx, s.node(0), metav1.DeleteOptions{}))
				// The pod's end is the garbage collector's to bring about, which takes its time.
				s.eventually("the pod is gone with its node", func() (bool, string) { return s.images() == "1=v1", s.images() })
				s.reaches(settled(1))
				s.addNode(s.node(0))
				s.reaches(settled(2))
				after := s.uids()
				assert.NotEqual(s.t, before[s.node(0)], after[s.node(0)])
				assert.Equal(s.t, before[s.node(1)], after[s.node(1)])
			},
		},
		{
			name: "node-again-at-once", why: "so does one that is back before anyone has cleaned up", nodes: 2,
			run: func(s *scene) {
				s.create()
				s.reaches(settled(2))
				require.NoError(s.t, s.client.CoreV1().Nodes().Delete(s.ctx, s.node(0), metav1.DeleteOptions{}))
				s.addNode(s.node(0))
				s.quiet()
				s.reaches(settled(2))
			},
		},
		{
			name: "pod-failed", why: "a pod that has failed is replaced", nodes: 2,
			run: func(s *scene) {
				s.create()
				s.reaches(settled(2))
				before := s.uids()
				pod := s.pods()[s.node(0)]
				pod.Status.Phase = corev1.PodFailed
				_, err := s.client.CoreV1().Pods(s.ns).UpdateStatus(s.ctx, &pod, metav1.UpdateOptions{})
				require.NoError(s.t, err)
				s.reported("FailedDaemonPod")
				s.eventually("there is another pod", func() (bool, string) {
					uid := s.uids()[s.node(0)]
					return uid != "" && uid != before[s.node(0)], uid
				})
				s.reaches(settled(2))
			},
		},
		{
			name: "events", why: "what is created and deleted is told as events", nodes: 2,
			run: func(s *scene) {
				s.create()
				s.reaches(settled(2))
				s.change(image("v2")) // nobody else deletes pods for this
				s.reaches(settled(2))
				s.reported("SuccessfulDelete")
				s.quiet()
				s.answer("events %v", s.events())
			},
		},
		{
			name: "pod-deleted", why: "a pod that a user deletes is replaced", nodes: 3,
			run: func(s *scene) {
				s.create()
				s.reaches(settled(3))
				s.deletePod(s.node(0))
				s.reaches(settled(3))
				s.allowed = append(s.allowed, "OverBudget") // by the user
			},
		},
	}
}

// deletePod deletes the set's pod on a node and returns when there is another one.
func (s *scene) deletePod(node string) {
	s.t.Helper()
	pod := s.pods()[node]
	require.NoError(s.t, s.client.CoreV1().Pods(s.ns).Delete(s.ctx, pod.Name, metav1.DeleteOptions{}))
	s.eventually("another pod is on "+node, func() (bool, string) {
		next := s.pods()[node]
		return next.Name != "" && next.UID != pod.UID, next.Name
	})
}
