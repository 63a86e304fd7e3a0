package diff_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/diff"
	"github.com/daemonplan/daemonplan/internal/gen"
	"github.com/daemonplan/daemonplan/placement"
)

func eachCase(t *testing.T, check func(c gen.Case)) {
	t.Helper()
	runs := uint64(1000)
	if testing.Short() {
		runs = 200
	}
	for seed := range runs {
		check(gen.Make(gen.Bytes(seed), gen.Options{Lenient: seed%4 == 0}))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestNothingDiffersFromItself(t *testing.T) {
	eachCase(t, func(c gen.Case) {
		r, err := diff.Snapshots(c.Snapshot, c.Snapshot, c.Options)
		require.NoError(t, err)
		assert.True(t, r.Empty(), "%+v", r)
		assert.Equal(t, len(c.Snapshot.Objects.Nodes), r.Unchanged)
		assert.Empty(t, r.Counts())
	})
}

// changed is a case with another spec, as a server would store it.
func changed(t *testing.T, c gen.Case, change func(*appsv1.DaemonSet)) daemonset.Snapshot {
	t.Helper()
	given := c.Snapshot.Objects.DaemonSet.DeepCopy()
	change(given)
	set, err := diff.Apply(c.Snapshot.Objects.DaemonSet, given)
	require.NoError(t, err)
	after := c.Snapshot
	after.Objects.DaemonSet = set
	return after
}

// TestReportsAgreeWithPlans: for changes of every kind, each node has at most one effect, and
// it is what the two plans say of the node.
func TestReportsAgreeWithPlans(t *testing.T) {
	seen := map[diff.Effect]int{}
	changes := map[string]func(*appsv1.DaemonSet){
		"image": func(s *appsv1.DaemonSet) {
			for i := range s.Spec.Template.Spec.Containers {
				s.Spec.Template.Spec.Containers[i].Image = "registry.example/new:1"
			}
		},
		"tolerate all": func(s *appsv1.DaemonSet) {
			s.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		},
		"tolerate none": func(s *appsv1.DaemonSet) { s.Spec.Template.Spec.Tolerations = nil },
		"anywhere": func(s *appsv1.DaemonSet) {
			s.Spec.Template.Spec.NodeSelector, s.Spec.Template.Spec.Affinity = nil, nil
		},
		"nowhere": func(s *appsv1.DaemonSet) { s.Spec.Template.Spec.NodeSelector = map[string]string{"no": "where"} },
		"onDelete": func(s *appsv1.DaemonSet) {
			s.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
		},
		"all at once": func(s *appsv1.DaemonSet) {
			s.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: new(intstr.FromString("100%"))}}
		},
		"one by one": func(s *appsv1.DaemonSet) { s.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{} },
		"later":      func(s *appsv1.DaemonSet) { s.Spec.MinReadySeconds = 3000 },
	}
	eachCase(t, func(c gen.Case) {
		before, err := daemonset.Compute(c.Snapshot, c.Options)
		require.NoError(t, err)
		for name, change := range changes {
			snapshot := changed(t, c, change)
			r, err := diff.Snapshots(c.Snapshot, snapshot, c.Options)
			require.NoError(t, err)
			after, err := daemonset.Compute(snapshot, c.Options)
			require.NoError(t, err)
			assert.Len(t, after.Nodes, len(r.Nodes)+r.Unchanged)
			if before.Revision == after.Revision && before.Revision.Hash != "" && before.Reason == "" {
				assert.False(t, r.Template.Changed, name)
			}
			for i := range r.Nodes {
				n := &r.Nodes[i]
				seen[n.Effect]++
				checkNode(t, n, before, after)
			}
		}
	})
	for _, effect := range []diff.Effect{diff.Gains, diff.Admits, diff.Loses, diff.Closes, diff.Restarts, diff.Outdates, diff.Spares, diff.Delays, diff.Hastens, diff.Differs} {
		assert.NotZero(t, seen[effect], effect)
	}
}

// checkNode holds an effect to the reports that the plans have on the node.
func checkNode(t *testing.T, n *diff.Node, before, after daemonset.Plan) {
	t.Helper()
	was, _ := before.Node(n.Name)
	is, ok := after.Node(n.Name)
	require.True(t, ok)
	assert.Equal(t, is.Reason, n.Reason)
	assert.Equal(t, is.Until, n.Until)
	assert.Equal(t, was.Verdict.Decision, n.Before)
	assert.Equal(t, is.Verdict.Decision, n.After)
	acts := slices.ContainsFunc(after.Creates, func(c daemonset.Create) bool { return c.Node == n.Name }) ||
		slices.ContainsFunc(after.Deletes, func(d daemonset.Delete) bool { return d.Node == n.Name })
	assert.Equal(t, acts, n.Now)
	switch n.Effect {
	case diff.Gains, diff.Admits:
		assert.True(t, !n.Before.Wants() && n.After.Wants())
		assert.NotEmpty(t, n.Because)
	case diff.Closes:
		assert.True(t, n.Before.Wants() && !n.After.Wants())
		assert.NotEmpty(t, n.Because)
	case diff.Loses:
		assert.NotEqual(t, placement.Run, n.After)
		assert.NotEmpty(t, n.Pods)
		assert.NotEmpty(t, n.Because)
	case diff.Restarts, diff.Outdates:
		for _, name := range n.Pods {
			assert.True(t, slices.ContainsFunc(is.Pods, func(on daemonset.PodReport) bool { return on.Ref.Name == name && !on.Current }))
		}
	case diff.Delays:
		assert.False(t, n.Now)
	case diff.Hastens:
		assert.True(t, n.Now)
	case diff.Spares, diff.Differs:
	}
}

// TestAnotherSpellingRestartsNothing: what an API server fills in makes no difference.
func TestAnotherSpellingRestartsNothing(t *testing.T) {
	eachCase(t, func(c gen.Case) {
		after := changed(t, c, func(s *appsv1.DaemonSet) {
			spec := &s.Spec.Template.Spec
			spec.DNSPolicy, spec.RestartPolicy, spec.SchedulerName = "", "", ""
			spec.TerminationGracePeriodSeconds, spec.SecurityContext = nil, nil
			for i := range spec.Containers {
				spec.Containers[i].ImagePullPolicy = ""
				spec.Containers[i].TerminationMessagePath = ""
				spec.Containers[i].TerminationMessagePolicy = ""
			}
		})
		r, err := diff.Snapshots(c.Snapshot, after, c.Options)
		require.NoError(t, err)
		assert.True(t, r.Empty(), "%+v", r)
	})
}

// TestASetThatComesAndGoes has every node that takes a pod gain it, and every pod be lost.
func TestASetThatComesAndGoes(t *testing.T) {
	lost := 0
	eachCase(t, func(c gen.Case) {
		plan, err := daemonset.Compute(c.Snapshot, c.Options)
		require.NoError(t, err)
		none := daemonset.Snapshot{Now: c.Snapshot.Now}
		r, err := diff.Snapshots(none, c.Snapshot, c.Options)
		require.NoError(t, err)
		assert.Equal(t, plan.For, r.Set)
		r2, err := diff.Snapshots(c.Snapshot, none, c.Options)
		require.NoError(t, err)
		assert.Equal(t, plan.For, r2.Set)
		wants := 0
		for _, report := range plan.Nodes {
			staying := slices.ContainsFunc(report.Pods, func(on daemonset.PodReport) bool { return on.State != daemonset.Terminating })
			if report.Verdict.Decision.Wants() {
				wants++
			}
			i := slices.IndexFunc(r2.Nodes, func(n diff.Node) bool { return n.Name == report.Name })
			if staying {
				lost++
				require.GreaterOrEqual(t, i, 0)
				assert.Equal(t, diff.Loses, r2.Nodes[i].Effect)
			}
		}
		gained := 0
		for _, n := range r.Nodes {
			if n.Effect == diff.Gains {
				gained++
			}
		}
		assert.Equal(t, wants, gained)
	})
	assert.NotZero(t, lost)
}
