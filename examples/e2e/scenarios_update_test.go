package e2e_test

import (
	"strconv"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemonplan/daemonplan/examples/e2e/controlplane"
	"github.com/daemonplan/daemonplan/examples/e2e/witness"
)

func updateScenarios() []scenario {
	one, none := intstr.FromInt(1), intstr.FromInt(0)
	return []scenario{
		{
			name: "max-unavailable-1", why: "an update goes node by node", nodes: 4,
			run: func(s *scene) { s.update(one, none) },
		},
		{
			name: "max-unavailable-50", why: "a percentage is of the nodes wanted, rounded up", nodes: 5,
			run: func(s *scene) { s.update(intstr.FromString("50%"), none) },
		},
		{
			name: "max-surge-1", why: "with surge no node is ever without a pod", nodes: 4,
			run: func(s *scene) {
				since := s.update(none, one)
				assert.Zero(s.t, s.worst(since), "no node is without an available pod during the update")
			},
		},
		{
			name: "max-surge-all", why: "all nodes at once", nodes: 4,
			run: func(s *scene) {
				since := s.update(none, intstr.FromString("100%"))
				assert.Zero(s.t, s.worst(since), "no node is without an available pod during the update")
			},
		},
		{
			name: "min-ready", why: "the next node waits until the last one was ready for long enough", nodes: 3,
			run: func(s *scene) {
				s.create(rolling(one, none), func(set *appsv1.DaemonSet) { set.Spec.MinReadySeconds = 2 })
				s.reaches(settled(3))
				s.change(image("v2"))
				s.reaches(settled(3))
			},
		},
		{
			name: "on-delete", why: "pods are updated as the user deletes them", nodes: 3,
			run: func(s *scene) {
				s.create(func(set *appsv1.DaemonSet) {
					set.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
				})
				s.reaches(settled(3))
				s.change(image("v2"))
				old := settled(3)
				old.updated = 0
				s.reaches(old)
				s.quiet()
				assert.Equal(s.t, "0=v1 1=v1 2=v1", s.images())
				s.deletePod(s.node(1))
				old.updated = 1
				s.reaches(old)
				s.answer("images %s, revisions %s", s.images(), s.revisions())
			},
		},
		{
			name: "paused-by-broken-image", why: "an update whose pods never get ready stops at its budget, and a rollback restarts no pod that it has not touched", nodes: 4,
			run: func(s *scene) {
				s.create(rolling(one, none))
				s.reaches(settled(4))
				before := s.uids()
				s.change(broken("v2"))
				s.reaches(status{desired: 4, current: 4, ready: 3, updated: 1, available: 3, unavailable: 1})
				s.quiet()
				s.reaches(status{desired: 4, current: 4, ready: 3, updated: 1, available: 3, unavailable: 1})
				s.change(func(set *appsv1.DaemonSet) {
					set.Spec.Template.Annotations = nil
					image("v1")(set)
				})
				s.reaches(settled(4))
				assert.Equal(s.t, 3, same(before, s.uids()))
				s.answer("revisions %s", s.revisions())
			},
		},
		{
			name: "broken-surge", why: "with surge a broken update leaves every old pod running", nodes: 3,
			run: func(s *scene) {
				s.create(rolling(none, one))
				s.reaches(settled(3))
				// Of two old pods the older one is kept, and times are in whole seconds. In the
				// same second it is the one whose name comes first, ready or not.
				time.Sleep(1100 * time.Millisecond)
				s.change(broken("v2"))
				s.eventually("one pod of the update is there", func() (bool, string) {
					n := len(s.allPods())
					return n == 4, ""
				})
				s.quiet()
				assert.Len(s.t, s.allPods(), 4)
				assert.Equal(s.t, int32(3), s.get().Status.NumberAvailable)
				s.change(func(set *appsv1.DaemonSet) { set.Spec.Template.Annotations = nil })
				s.reaches(settled(3))
			},
		},
		{
			name: "changed-midway", why: "an update that is overtaken by the next one ends with the next one", nodes: 5,
			run: func(s *scene) {
				s.create(rolling(one, none), slowly)
				s.reaches(settled(5))
				s.change(image("v2"))
				s.begins()
				s.change(image("v3"))
				s.reaches(settled(5))
				s.answer("images %s, revisions %s", s.images(), s.revisions())
			},
		},
	}
}

// update creates a set, updates it to v2 with these limits, and sees that all pods are new. It
// returns the version of the change.
func (s *scene) update(unavailable, surge intstr.IntOrString) (since string) {
	s.t.Helper()
	nodes := int32(len(s.nodes()))
	s.create(rolling(unavailable, surge))
	s.reaches(settled(nodes))
	before := s.uids()
	since = s.change(image("v2")).ResourceVersion
	s.reaches(settled(nodes))
	assert.Zero(s.t, same(before, s.uids()))
	s.answer("images %s, revisions %s", s.images(), s.revisions())
	return since
}

// worst is the most nodes that were without an available pod since a version.
func (s *scene) worst(since string) int {
	s.t.Helper()
	version, err := strconv.ParseUint(since, 10, 64)
	require.NoError(s.t, err)
	return witness.WorstUnavailable(s.witness.History(), s.get(), version)
}

// broken is an update whose pods never get ready.
func broken(version string) func(*appsv1.DaemonSet) {
	return func(set *appsv1.DaemonSet) {
		image("v2")(set)
		set.Spec.Template.Annotations = map[string]string{controlplane.NeverReady: "true"}
	}
}

// same counts the nodes that have the same pod in both.
func same(before, after map[string]string) int {
	count := 0
	for node, uid := range before {
		if after[node] == uid {
			count++
		}
	}
	return count
}
