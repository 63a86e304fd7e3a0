package e2e_test

import (
	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func placementScenarios() []scenario {
	return []scenario{
		{
			name: "create", why: "a new set gets one pod on each node, one revision, and a status", nodes: 3,
			run: func(s *scene) {
				s.create()
				s.reaches(settled(3))
				s.answer("images %s, revisions %s", s.images(), s.revisions())
			},
		},
		{
			name: "scale-by-labels", why: "pods come to nodes that get the label and go from those that lose it", nodes: 4,
			run: func(s *scene) {
				label := func(value string) func(*corev1.Node) {
					return func(node *corev1.Node) { node.Labels["disk"] = value }
				}
				s.create(func(set *appsv1.DaemonSet) { set.Spec.Template.Spec.NodeSelector["disk"] = "fast" })
				s.reaches(status{})
				s.changeNode(s.node(0), label("fast"))
				s.changeNode(s.node(1), label("fast"))
				s.reaches(settled(2))
				s.changeNode(s.node(0), label("slow"))
				s.changeNode(s.node(2), label("fast"))
				s.eventually("the pods have moved", func() (bool, string) { return s.images() == "1=v1 2=v1", s.images() })
				s.reaches(settled(2))
			},
		},
		{
			name: "node-affinity", why: "required node affinity of the template is kept to, beside the pin to one node", nodes: 3,
			run: func(s *scene) {
				s.create(func(set *appsv1.DaemonSet) {
					set.Spec.Template.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
						RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
							MatchFields: []corev1.NodeSelectorRequirement{
								{Key: "metadata.name", Operator: corev1.NodeSelectorOpNotIn, Values: []string{s.node(1)}},
							},
						}}},
					}}
				})
				s.allowed = append(s.allowed, "Missing") // the witness does not read affinity
				s.reaches(settled(2))
				assert.Equal(s.t, "0=v1 2=v1", s.images())
			},
		},
		{
			name: "taint-no-schedule", why: "a pod that runs may stay on a node that takes no new ones", nodes: 2,
			run: func(s *scene) {
				s.create()
				s.reaches(settled(2))
				before := s.uids()
				s.changeNode(s.node(0), taint(corev1.TaintEffectNoSchedule))
				s.quiet()
				// Nobody has to look at the set for that; whoever does, says what is there.
				s.change(func(set *appsv1.DaemonSet) { set.Annotations = map[string]string{"touched": "yes"} })
				s.reaches(status{desired: 1, current: 1, ready: 1, updated: 1, available: 1, misscheduled: 1})
				assert.Equal(s.t, before, s.uids(), "no pod is restarted")
				s.changeNode(s.node(0), func(node *corev1.Node) { node.Spec.Taints = nil })
				s.reaches(settled(2))
				assert.Equal(s.t, before, s.uids(), "no pod is restarted")
			},
		},
		{
			name: "taint-no-execute", why: "a pod goes from a node that it does not tolerate, and comes back", nodes: 2,
			run: func(s *scene) {
				s.create()
				s.reaches(settled(2))
				s.changeNode(s.node(0), taint(corev1.TaintEffectNoExecute))
				s.reaches(settled(1))
				assert.Equal(s.t, "1=v1", s.images())
				s.changeNode(s.node(0), func(node *corev1.Node) { node.Spec.Taints = nil })
				s.reaches(settled(2))
			},
		},
		{
			name: "taint-tolerated", why: "a set that tolerates a taint is on the node", nodes: 2,
			run: func(s *scene) {
				s.changeNode(s.node(0), taint(corev1.TaintEffectNoExecute))
				s.create(func(set *appsv1.DaemonSet) {
					set.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
				})
				s.reaches(settled(2))
			},
		},
		{
			name: "cordon", why: "a cordoned node gets and keeps its pod, and its pod is updated", nodes: 2,
			run: func(s *scene) {
				_, err := s.plane.Kubectl(s.ctx, "cordon", s.node(0))
				assert.NoError(s.t, err)
				s.create(rolling(intstr.FromInt(1), intstr.FromInt(0)))
				s.reaches(settled(2))
				s.change(image("v2"))
				s.reaches(settled(2))
				_, err = s.plane.Kubectl(s.ctx, "uncordon", s.node(0))
				assert.NoError(s.t, err)
				before := s.uids()
				s.quiet()
				assert.Equal(s.t, before, s.uids(), "no pod is restarted")
			},
		},
	}
}

func taint(effect corev1.TaintEffect) func(*corev1.Node) {
	return func(node *corev1.Node) {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: "dedicated", Value: "gpu", Effect: effect})
	}
}
