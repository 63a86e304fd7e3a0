package e2e_test

import (
	"fmt"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func historyScenarios() []scenario {
	all := rolling(intstr.FromString("100%"), intstr.FromInt(0))
	return []scenario{
		{
			name: "rollback", why: "going back to an earlier template takes its revision up again", nodes: 3,
			run: func(s *scene) {
				s.create(all)
				s.reaches(settled(3))
				for _, version := range []string{"v2", "v3", "v1"} {
					s.change(image(version))
					s.reaches(settled(3))
					s.answer("%s: images %s, revisions %s", version, s.images(), s.revisions())
				}
				assert.Equal(s.t, "2 3 4", s.revisions())
			},
		},
		{
			name: "history-limit", why: "of the revisions that are not in use only so many are kept", nodes: 2,
			run: func(s *scene) {
				s.create(all, func(set *appsv1.DaemonSet) { set.Spec.RevisionHistoryLimit = new(int32(1)) })
				s.reaches(settled(2))
				for i := 2; i < 6; i++ {
					s.change(image(fmt.Sprintf("v%d", i)))
					s.reaches(settled(2))
				}
				s.eventually("the history is cut", func() (bool, string) { return s.revisions() == "4 5", s.revisions() })
			},
		},
		{
			name: "history-deleted", why: "a revision that a user deletes while it is in use is written again", nodes: 2,
			run: func(s *scene) {
				s.create(all)
				s.reaches(settled(2))
				before := s.uids()
				require.NoError(s.t, s.client.AppsV1().ControllerRevisions(s.ns).DeleteCollection(s.ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
				s.change(func(set *appsv1.DaemonSet) { set.Annotations = map[string]string{"touched": "yes"} })
				s.eventually("there is a revision", func() (bool, string) { return s.revisions() == "1", s.revisions() })
				s.reaches(settled(2))
				assert.Equal(s.t, before, s.uids(), "no pod is restarted")
			},
		},
		{
			name: "strategy-changed", why: "what is not in the template restarts nothing and writes no history", nodes: 2,
			run: func(s *scene) {
				s.create(all)
				s.reaches(settled(2))
				before := s.uids()
				s.change(func(set *appsv1.DaemonSet) {
					set.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
					set.Spec.MinReadySeconds = 1
				})
				s.reaches(settled(2))
				s.quiet()
				assert.Equal(s.t, before, s.uids(), "no pod is restarted")
				assert.Equal(s.t, "1", s.revisions())
			},
		},
	}
}
