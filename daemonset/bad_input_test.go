package daemonset_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/internal/gen"
	"github.com/daemonplan/daemonplan/rollout"
)

// plainCase is one node with one current, available pod, and a set that is at rest but for
// its status.
func plainCase() gen.Case { return gen.Make(nil, gen.Options{}) }

// TestRefused: what no plan can be made from is named.
func TestRefused(t *testing.T) {
	tests := []struct {
		name      string
		why       string
		give      func(c *gen.Case)
		wantField string
		wantText  string
	}{
		{
			"no set", "there is nothing to plan for",
			func(c *gen.Case) { c.Snapshot.Objects.DaemonSet = nil }, "daemonSet", "is nil",
		},
		{
			"everything empty", "the zero snapshot is a caller's mistake",
			func(c *gen.Case) { *c = gen.Case{} }, "daemonSet", "is nil",
		},
		{
			"an empty set", "it has no name to refer to",
			func(c *gen.Case) { c.Snapshot.Objects.DaemonSet = &appsv1.DaemonSet{} }, "daemonSet.metadata.name", "is empty",
		},
		{
			"no selector", "reading it as nothing would release every pod",
			func(c *gen.Case) { c.Snapshot.Objects.DaemonSet.Spec.Selector = nil }, "daemonSet.spec.selector", "is missing",
		},
		{
			"a selector that does not parse", "it selects nothing that could be known",
			func(c *gen.Case) {
				c.Snapshot.Objects.DaemonSet.Spec.Selector.MatchLabels = map[string]string{"not a key!": "v"}
			}, "daemonSet.spec.selector", "not a key!",
		},
		{
			"a selector operator that is unknown", "it selects nothing that could be known",
			func(c *gen.Case) {
				c.Snapshot.Objects.DaemonSet.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Like"}}
			}, "daemonSet.spec.selector", "Like",
		},
		{
			"a template that the selector does not match", "its pods would be released at once, and made again without end",
			func(c *gen.Case) { c.Snapshot.Objects.DaemonSet.Spec.Template.Labels = nil },
			"daemonSet.spec.template.metadata.labels", "do not match",
		},
		{
			"maxUnavailable that is no percentage", "there is no number to work with",
			func(c *gen.Case) { budgets(c, intstr.FromString("abc%"), intstr.FromInt32(0)) },
			"daemonSet.spec.updateStrategy.rollingUpdate.maxUnavailable", "abc%",
		},
		{
			"maxSurge that is no percentage", "there is no number to work with",
			func(c *gen.Case) { budgets(c, intstr.FromInt32(0), intstr.FromString("abc%")) },
			"daemonSet.spec.updateStrategy.rollingUpdate.maxSurge", "abc%",
		},
		{
			"a negative maxUnavailable", "it is no budget",
			func(c *gen.Case) { budgets(c, intstr.FromInt32(-1), intstr.FromInt32(0)) },
			"daemonSet.spec.updateStrategy.rollingUpdate.maxUnavailable", "-1",
		},
		{
			"a negative maxSurge", "it is no budget",
			func(c *gen.Case) { budgets(c, intstr.FromInt32(1), intstr.FromString("-3%")) },
			"daemonSet.spec.updateStrategy.rollingUpdate.maxSurge", "-3%",
		},
		{
			"a limit that is neither number nor text", "such a union has no value",
			func(c *gen.Case) { budgets(c, intstr.IntOrString{Type: 7}, intstr.FromInt32(0)) },
			"daemonSet.spec.updateStrategy.rollingUpdate.maxUnavailable", "neither",
		},
		{
			"an unknown strategy", "taking it for RollingUpdate could restart pods",
			func(c *gen.Case) { c.Snapshot.Objects.DaemonSet.Spec.UpdateStrategy.Type = "Recreate" },
			"daemonSet.spec.updateStrategy.type", "Recreate",
		},
		{
			"negative minReadySeconds", "time does not go back",
			func(c *gen.Case) { c.Snapshot.Objects.DaemonSet.Spec.MinReadySeconds = -1 },
			"daemonSet.spec.minReadySeconds", "-1",
		},
		{
			"a negative history limit", "less than nothing cannot be kept",
			func(c *gen.Case) { c.Snapshot.Objects.DaemonSet.Spec.RevisionHistoryLimit = new(int32(-1)) },
			"daemonSet.spec.revisionHistoryLimit", "-1",
		},
		{
			"a nil node", "which node it was to be is not known",
			func(c *gen.Case) { c.Snapshot.Objects.Nodes = append(c.Snapshot.Objects.Nodes, nil) }, "nodes[1]", "is nil",
		},
		{
			"a nameless node", "no pod can be pinned to it",
			func(c *gen.Case) { c.Snapshot.Objects.Nodes = append(c.Snapshot.Objects.Nodes, &corev1.Node{}) }, "nodes[1]", "has no name",
		},
		{
			"a nil pod", "it may be one of ours",
			func(c *gen.Case) { c.Snapshot.Objects.Pods = append(c.Snapshot.Objects.Pods, nil) }, "pods[1]", "is nil",
		},
		{
			"a nil revision", "it may be the current one",
			func(c *gen.Case) {
				c.Snapshot.Objects.Revisions = append([]*appsv1.ControllerRevision{nil}, c.Snapshot.Objects.Revisions...)
			},
			"controllerRevisions[0]", "is nil",
		},
		{
			"two nodes of one name", "two lists were mixed; which one holds is not known",
			func(c *gen.Case) {
				c.Snapshot.Objects.Nodes = append(c.Snapshot.Objects.Nodes, c.Snapshot.Objects.Nodes[0])
			},
			"nodes", "node-00",
		},
		{
			"two pods of one name", "one of them would be deleted as too many",
			func(c *gen.Case) {
				c.Snapshot.Objects.Pods = append(c.Snapshot.Objects.Pods, c.Snapshot.Objects.Pods[0])
			},
			"pods", "agent-017",
		},
		{
			"two revisions of one name", "one of them would be deleted as a duplicate",
			func(c *gen.Case) {
				c.Snapshot.Objects.Revisions = append(c.Snapshot.Objects.Revisions, c.Snapshot.Objects.Revisions[0])
			},
			"controllerRevisions", "agent-",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := plainCase()
			tt.give(&c)
			plan, err := daemonset.Compute(c.Snapshot, c.Options)
			var invalid *daemonset.InvalidError
			require.ErrorAs(t, err, &invalid, tt.why)
			assert.Equal(t, tt.wantField, invalid.Field)
			assert.ErrorContains(t, err, tt.wantText)
			assert.ErrorContains(t, err, tt.wantField)
			assert.Equal(t, daemonset.Plan{}, plan)
		})
	}
}

func budgets(c *gen.Case, unavailable, surge intstr.IntOrString) {
	c.Snapshot.Objects.DaemonSet.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{
		MaxUnavailable: &unavailable, MaxSurge: &surge,
	}
}

// outdate gives the plain case's pod another hash.
func outdate(c *gen.Case) {
	c.Snapshot.Objects.Pods[0].Labels[appsv1.ControllerRevisionHashLabelKey] = "old"
}

// TestPlannedAllTheSame: odd input that has a meaning.
func TestPlannedAllTheSame(t *testing.T) {
	tests := []struct {
		name string
		why  string
		give func(c *gen.Case)
		want string // a line of the description must start with it
	}{
		{
			"no rollingUpdate", "the API default is maxUnavailable 1",
			func(c *gen.Case) { outdate(c); c.Snapshot.Objects.DaemonSet.Spec.UpdateStrategy.RollingUpdate = nil },
			"delete  node-00  agent-017  Outdated\n",
		},
		{
			"no strategy at all", "the API default is RollingUpdate",
			func(c *gen.Case) {
				outdate(c)
				c.Snapshot.Objects.DaemonSet.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{}
			}, "delete  node-00  agent-017  Outdated\n",
		},
		{
			"both limits zero", "an update could not move otherwise",
			func(c *gen.Case) { outdate(c); budgets(c, intstr.FromInt32(0), intstr.FromInt32(0)) },
			"delete  node-00  agent-017  Outdated\n",
		},
		{
			"the largest limits", "they are more than there are nodes",
			func(c *gen.Case) { outdate(c); budgets(c, intstr.FromInt32(math.MaxInt32), intstr.FromInt32(0)) },
			"delete  node-00  agent-017  Outdated\n",
		},
		{
			"the largest surge", "it is more than there are nodes",
			func(c *gen.Case) { outdate(c); budgets(c, intstr.FromInt32(0), intstr.FromInt32(math.MaxInt32)) },
			"create  node-00  SurgeStarted\n",
		},
		{
			"an absurd percentage", "scaled like any other, it is more than there are nodes",
			func(c *gen.Case) {
				outdate(c)
				budgets(c, intstr.FromString("9223372036854775807%"), intstr.FromInt32(0))
			},
			"delete  node-00  agent-017  Outdated\n",
		},
		{
			"no history limit", "the API default is 10, and three old revisions are fewer",
			func(c *gen.Case) { c.Snapshot.Objects.DaemonSet.Spec.RevisionHistoryLimit = nil },
			"node  node-00  Run  [agent-017 current Live Available]\n",
		},
		{
			"the largest history limit", "nothing is beyond it",
			func(c *gen.Case) { c.Snapshot.Objects.DaemonSet.Spec.RevisionHistoryLimit = new(int32(math.MaxInt32)) },
			"node  node-00  Run  [agent-017 current Live Available]\n",
		},
		{
			"the longest minReadySeconds", "a pod that is ready for minutes waits for decades",
			func(c *gen.Case) { c.Snapshot.Objects.DaemonSet.Spec.MinReadySeconds = math.MaxInt32 },
			"node  node-00  Run  MinReadySeconds until 2094-",
		},
		{
			"an empty selector", "it would take every pod, so nothing is done",
			func(c *gen.Case) { c.Snapshot.Objects.DaemonSet.Spec.Selector = &metav1.LabelSelector{} },
			"reason  SelectsEverything\n",
		},
		{
			"a pod without status", "it is not ready",
			func(c *gen.Case) { c.Snapshot.Objects.Pods[0].Status = corev1.PodStatus{} },
			"node  node-00  Run  PodNotReady  [agent-017 current Live Unhealthy]\n",
		},
		{
			"a pod without anything", "it is nobody's, and the selector does not match",
			func(c *gen.Case) { c.Snapshot.Objects.Pods[0] = &corev1.Pod{} },
			"create  node-00  MissingPod\n",
		},
		{
			"a pod without labels", "the selector does not match any more",
			func(c *gen.Case) { c.Snapshot.Objects.Pods[0].Labels = nil },
			"release  Pod agent-017  SelectorMismatch\n",
		},
		{
			"a pod without UID", "it is deleted by name, and no other can be meant",
			func(c *gen.Case) { outdate(c); c.Snapshot.Objects.Pods[0].UID = "" },
			"delete  node-00  agent-017  Outdated\n",
		},
		{
			"a node without labels", "nothing is required of it",
			func(c *gen.Case) { c.Snapshot.Objects.Nodes[0].Labels = nil },
			"node  node-00  Run  [agent-017",
		},
		{
			"a node that selects by missing labels", "a missing label does not match",
			func(c *gen.Case) {
				c.Snapshot.Objects.Nodes[0].Labels = nil
				c.Snapshot.Objects.DaemonSet.Spec.Template.Spec.NodeSelector = map[string]string{"zone": ""}
			}, "delete  node-00  agent-017  NodeUnsuitable\n",
		},
		{
			"no nodes", "the pod is on one that does not exist",
			func(c *gen.Case) { c.Snapshot.Objects.Nodes = nil },
			"finding  Pod agent-017  PodOnMissingNode  node-00\n",
		},
		{
			"nothing but a set", "there is a revision to write",
			func(c *gen.Case) { c.Snapshot.Objects = daemonset.Objects{DaemonSet: c.Snapshot.Objects.DaemonSet} },
			"history  create  agent-",
		},
		{
			"a revision without data", "it matches no template",
			func(c *gen.Case) { c.Snapshot.Objects.Revisions[0].Data.Raw = nil },
			"finding  ControllerRevision agent-",
		},
		{
			"a revision with empty data", "it matches no template",
			func(c *gen.Case) { c.Snapshot.Objects.Revisions[0].Data.Raw = []byte{} },
			"finding  ControllerRevision agent-",
		},
		{
			"a revision with half a document", "it matches no template",
			func(c *gen.Case) { c.Snapshot.Objects.Revisions[0].Data.Raw = []byte(`{"spec":{"templ`) },
			"finding  ControllerRevision agent-",
		},
		{
			"a revision that is nested without end", "reading it must not exhaust the stack",
			func(c *gen.Case) {
				c.Snapshot.Objects.Revisions[0].Data.Raw = []byte(strings.Repeat(`{"spec":`, 1<<17))
			},
			"finding  ControllerRevision agent-",
		},
		{
			"a revision with the largest number", "there is no higher one to give to the current revision",
			func(c *gen.Case) { c.Snapshot.Objects.Revisions[0].Revision = math.MaxInt64 },
			"revision  agent-",
		},
		{
			"a zero time", "nothing is available yet when minReadySeconds is set",
			func(c *gen.Case) {
				c.Snapshot.Now = time.Time{}
				c.Snapshot.Objects.DaemonSet.Spec.MinReadySeconds = 10
			},
			"node  node-00  Run  MinReadySeconds until 2026-",
		},
		{
			"a time in the year 9999", "everything is available",
			func(c *gen.Case) {
				c.Snapshot.Now = time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)
				c.Snapshot.Objects.DaemonSet.Spec.MinReadySeconds = 10
			}, "node  node-00  Run  [agent-017 current Live Available]\n",
		},
		{
			"the largest collision count", "it salts the hash like any other",
			func(c *gen.Case) {
				c.Snapshot.Objects.Revisions = nil
				c.Snapshot.Objects.DaemonSet.Status.CollisionCount = new(int32(math.MaxInt32))
			}, "history  create  agent-",
		},
		{
			"counts that are nonsense", "the status is counted, not adjusted",
			func(c *gen.Case) {
				c.Snapshot.Objects.DaemonSet.Status.NumberReady = math.MaxInt32
				c.Snapshot.Objects.DaemonSet.Status.NumberUnavailable = math.MinInt32
			}, "status  desired=1 current=1 ready=1 updated=1 available=1 unavailable=0 ",
		},
		{
			"a label of a megabyte", "length has no meaning",
			func(c *gen.Case) {
				c.Snapshot.Objects.Nodes[0].Labels = map[string]string{"big": strings.Repeat("x", 1<<20)}
			},
			"node  node-00  Run  [agent-017",
		},
		{
			"an annotation of a megabyte", "it goes into the revision's, as the others do",
			func(c *gen.Case) {
				c.Snapshot.Objects.DaemonSet.Annotations = map[string]string{"big": strings.Repeat("x", 1<<20)}
				c.Snapshot.Objects.Revisions = nil
			}, "history  create  agent-",
		},
		{
			"a burst below zero", "it means the default",
			func(c *gen.Case) { outdate(c); c.Options.Burst = -1 },
			"delete  node-00  agent-017  Outdated\n",
		},
		{
			"a preference that contradicts itself", "the order is then undefined, the number is not",
			func(c *gen.Case) { outdate(c); c.Options.Prefer = func(rollout.Node, rollout.Node) int { return -1 } },
			"delete  node-00  agent-017  Outdated\n",
		},
		{
			"more writes pending than there are pods", "it waits for all of them",
			func(c *gen.Case) {
				c.Snapshot.Pending.Creates = math.MaxInt
				c.Snapshot.Pending.Deadline = c.Snapshot.Now.Add(time.Minute)
			}, "reason  WritesPending\n",
		},
		{
			"fewer writes pending than none", "there is nothing to wait for",
			func(c *gen.Case) { outdate(c); c.Snapshot.Pending.Creates = -1 },
			"delete  node-00  agent-017  Outdated\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := plainCase()
			tt.give(&c)
			plan, err := daemonset.Compute(c.Snapshot, c.Options)
			require.NoError(t, err, tt.why)
			_, err = textOf(plan)
			require.NoError(t, err)
			text := daemonset.Describe(plan)
			assert.True(t, strings.Contains("\n"+text, "\n"+tt.want), "%s\nwant a line that starts with\n%s\nin\n%.4000s", tt.why, tt.want, text)
		})
	}
}

// TestBeyondYear9999: a time of a plan that JSON cannot write. It is open whether to cut such
// a time off or to leave it out; until then the plan itself stands, and only its JSON form
// fails.
func TestBeyondYear9999(t *testing.T) {
	c := plainCase()
	c.Snapshot.Now = time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)
	c.Snapshot.Objects.DaemonSet.Spec.MinReadySeconds = math.MaxInt32
	for i := range c.Snapshot.Objects.Pods[0].Status.Conditions {
		c.Snapshot.Objects.Pods[0].Status.Conditions[i].LastTransitionTime = metav1.NewTime(c.Snapshot.Now)
	}
	plan, err := daemonset.Compute(c.Snapshot, c.Options)
	require.NoError(t, err)
	assert.Zero(t, plan.Next, "an instant that JSON cannot write is never")
	_, err = textOf(plan)
	assert.NoError(t, err)
}

// TestUnwritableRevision: a plan that deletes a revision whose data is no JSON can be written
// as JSON itself.
func TestUnwritableRevision(t *testing.T) {
	for _, data := range [][]byte{{}, []byte("{")} {
		c := plainCase()
		c.Snapshot.Objects.DaemonSet.Spec.RevisionHistoryLimit = new(int32(0))
		c.Snapshot.Objects.Revisions[0].Data.Raw = data
		plan, err := daemonset.Compute(c.Snapshot, c.Options)
		require.NoError(t, err)
		require.NotEmpty(t, plan.Revisions)
		_, err = textOf(plan)
		assert.NoError(t, err)
	}
}

// TestLongNames: the longest names that an API server takes, and longer ones.
func TestLongNames(t *testing.T) {
	for _, length := range []int{63, 252, 253, 254, 4096} {
		c := plainCase()
		name := strings.Repeat("n", length)
		c.Snapshot.Objects.Nodes[0].Name = name
		c.Snapshot.Objects.DaemonSet.Name = name
		c.Snapshot.Objects.Pods, c.Snapshot.Objects.Revisions = nil, nil
		plan, err := daemonset.Compute(c.Snapshot, c.Options)
		require.NoError(t, err)
		require.Len(t, plan.Creates, 1)
		pod := plan.Pod(plan.Creates[0])
		assert.LessOrEqual(t, len(pod.GenerateName), max(253, length), "a longer prefix than the API takes was made up")
		assert.True(t, strings.HasPrefix(pod.GenerateName, name))
		assert.Equal(t, name, slowNodeOf(pod))
	}
}

// TestPreferIsAsked: an odd preference among many candidates neither loses nor doubles one.
func TestPreferIsAsked(t *testing.T) {
	tests := []struct {
		name string
		why  string
		give func(a, b rollout.Node) int
		want []string
	}{
		{"none", "the order is by name", nil, []string{"node-00", "node-01", "node-02"}},
		{"always equal", "ties go by name", func(a, b rollout.Node) int { return 0 }, []string{"node-00", "node-01", "node-02"}},
		{
			"last first", "the preference comes before the name",
			func(a, b rollout.Node) int { return strings.Compare(b.Name, a.Name) },
			[]string{"node-05", "node-06", "node-07"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := fleetCase(8, rolling(intstr.FromInt32(3), intstr.FromInt32(0)), oldPods)
			c.Options.Prefer = tt.give
			plan, err := daemonset.Compute(c.Snapshot, c.Options)
			require.NoError(t, err)
			var nodes []string
			for _, d := range plan.Deletes {
				nodes = append(nodes, d.Node)
			}
			assert.Equal(t, tt.want, nodes, tt.why)
		})
	}
}
