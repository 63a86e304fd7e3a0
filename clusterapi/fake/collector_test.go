package fake_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/clusterapi/fake"
)

// owning is a cluster with a set that owns a running pod and a revision, beside an orphan.
func owning(t *testing.T) *fake.Cluster {
	t.Helper()
	c := steady()
	mustCreate(t, c, newNode("a"))
	set := mustCreate(t, c, newSet("set"))
	mustCreate(t, c, newOwned("owned", "a", set))
	mustCreate(t, c, newPodOn("orphan", "a"))
	revision := newRevision("owned")
	revision.OwnerReferences = []metav1.OwnerReference{controllerRef(set)}
	mustCreate(t, c, revision)
	mustCreate(t, c, newRevision("orphan"))
	c.Run(10 * time.Second)
	return c
}

func left(c *fake.Cluster) map[string][]string {
	return map[string][]string{
		"sets":      names(fake.List[*appsv1.DaemonSet](c, "ns")),
		"pods":      names(fake.List[*corev1.Pod](c, "ns")),
		"revisions": names(fake.List[*appsv1.ControllerRevision](c, "ns")),
	}
}

func TestPropagation(t *testing.T) {
	type state = map[string][]string
	both, orphan, set, none := []string{"orphan", "owned"}, []string{"orphan"}, []string{"set"}, []string{}
	tests := []struct {
		name, why     string
		give          fake.Propagation
		at0, at1, at9 state
	}{
		{
			"background", "the owner goes first", fake.Background,
			state{"sets": none, "pods": both, "revisions": both},
			state{"sets": none, "pods": both, "revisions": orphan},
			state{"sets": none, "pods": orphan, "revisions": orphan},
		},
		{
			"foreground", "the owner goes last", fake.Foreground,
			state{"sets": set, "pods": both, "revisions": both},
			state{"sets": set, "pods": both, "revisions": orphan},
			state{"sets": none, "pods": orphan, "revisions": orphan},
		},
		{
			"orphan", "only the owner goes", fake.Orphan,
			state{"sets": set, "pods": both, "revisions": both},
			state{"sets": none, "pods": both, "revisions": both},
			state{"sets": none, "pods": both, "revisions": both},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := owning(t)
			require.NoError(t, fake.Delete[*appsv1.DaemonSet](c, key("set"), fake.DeleteOptions{Propagation: tt.give}))
			c.Run(0)
			assert.Equal(t, tt.at0, left(c), tt.why)
			c.Run(time.Second)
			assert.Equal(t, tt.at1, left(c), "pods stop gracefully")
			c.Run(8 * time.Second)
			assert.Equal(t, tt.at9, left(c))
			for _, pod := range fake.List[*corev1.Pod](c, "ns") {
				assert.Empty(t, pod.OwnerReferences)
			}
		})
	}
}

func TestForegroundWaitsForWhatHangs(t *testing.T) {
	c := owning(t)
	c.SetFateOn("a", fake.Fate{Hangs: true})
	require.NoError(t, fake.Delete[*appsv1.DaemonSet](c, key("set"), fake.DeleteOptions{Propagation: fake.Foreground}))
	c.Run(time.Hour)
	assert.NotNil(t, mustGet[*appsv1.DaemonSet](t, c, key("set")).DeletionTimestamp)
	c.SetFateOn("a", fake.Fate{})
	c.Run(time.Minute)
	assert.Empty(t, left(c)["sets"])
}

func TestWhatIsMadeForAnOwnerThatIsGoneIsCollected(t *testing.T) {
	c := owning(t)
	old := mustGet[*appsv1.DaemonSet](t, c, key("set"))
	require.NoError(t, fake.Delete[*appsv1.DaemonSet](c, key("set"), fake.DeleteOptions{}))
	successor := mustCreate(t, c, newSet("set"))
	mustCreate(t, c, newOwned("late", "a", old))
	mustCreate(t, c, newOwned("right", "a", successor))
	foreign := newPodOn("foreign", "a")
	foreign.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "set", UID: "unknown"}}
	mustCreate(t, c, foreign)
	shared := newOwned("shared", "a", old)
	shared.OwnerReferences = append(shared.OwnerReferences, metav1.OwnerReference{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "set", UID: successor.UID})
	mustCreate(t, c, shared)
	c.Run(time.Minute)
	assert.Equal(t, []string{"foreign", "orphan", "right", "shared"}, left(c)["pods"],
		"a successor of the same name is another owner; other kinds count as there; one owner is enough")
	assert.Equal(t, shared.OwnerReferences[1:], mustGet[*corev1.Pod](t, c, key("shared")).OwnerReferences, "the one that is gone is taken out")
}

// shared adds an owner that stays to what the set of owning owns.
func shared(t *testing.T, c *fake.Cluster) metav1.OwnerReference {
	t.Helper()
	other := mustCreate(t, c, newSet("other"))
	stays := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "other", UID: other.UID}
	_, err := fake.Edit(c, key("owned"), func(pod *corev1.Pod) { pod.OwnerReferences = append(pod.OwnerReferences, stays) })
	require.NoError(t, err)
	_, err = fake.Edit(c, key("owned"), func(revision *appsv1.ControllerRevision) {
		revision.OwnerReferences = append(revision.OwnerReferences, stays)
	})
	require.NoError(t, err)
	return stays
}

func TestWhatHasAnotherOwnerStays(t *testing.T) {
	for _, propagation := range []fake.Propagation{fake.Background, fake.Foreground, fake.Orphan} {
		t.Run(string(propagation), func(t *testing.T) {
			c := owning(t)
			stays := shared(t, c)
			require.NoError(t, fake.Delete[*appsv1.DaemonSet](c, key("set"), fake.DeleteOptions{Propagation: propagation}))
			c.Run(time.Minute)
			assert.Equal(t, map[string][]string{
				"sets": {"other"}, "pods": {"orphan", "owned"}, "revisions": {"orphan", "owned"},
			}, left(c))
			assert.Equal(t, []metav1.OwnerReference{stays}, mustGet[*corev1.Pod](t, c, key("owned")).OwnerReferences)
			assert.Equal(t, []metav1.OwnerReference{stays}, mustGet[*appsv1.ControllerRevision](t, c, key("owned")).OwnerReferences)
			assert.Nil(t, mustGet[*corev1.Pod](t, c, key("owned")).DeletionTimestamp)
		})
	}
}

func TestForegroundWaitsOnlyForWhatBlocks(t *testing.T) {
	c := owning(t)
	_, err := fake.Edit(c, key("owned"), func(pod *corev1.Pod) { pod.OwnerReferences[0].BlockOwnerDeletion = nil })
	require.NoError(t, err)
	c.SetFateOn("a", fake.Fate{Hangs: true})
	require.NoError(t, fake.Delete[*appsv1.DaemonSet](c, key("set"), fake.DeleteOptions{Propagation: fake.Foreground}))
	c.Run(time.Minute)
	assert.Equal(t, map[string][]string{"sets": {}, "pods": {"orphan", "owned"}, "revisions": {"orphan"}}, left(c))
	assert.NotNil(t, mustGet[*corev1.Pod](t, c, key("owned")).DeletionTimestamp, "it is collected all the same")
}

func TestWhatIsMadeForAnOwnerThatWaitsIsCollected(t *testing.T) {
	c := owning(t)
	set := mustGet[*appsv1.DaemonSet](t, c, key("set"))
	c.SetFateOn("a", fake.Fate{Hangs: true})
	require.NoError(t, fake.Delete[*appsv1.DaemonSet](c, key("set"), fake.DeleteOptions{Propagation: fake.Foreground}))
	c.Run(time.Minute)
	mustCreate(t, c, newOwned("late", "a", set))
	c.Run(time.Minute)
	assert.NotNil(t, mustGet[*corev1.Pod](t, c, key("late")).DeletionTimestamp)
}

func TestPodThatIsReleasedInTimeIsKept(t *testing.T) {
	c := owning(t)
	require.NoError(t, fake.Delete[*appsv1.DaemonSet](c, key("set"), fake.DeleteOptions{}))
	_, err := fake.Edit(c, key("owned"), func(pod *corev1.Pod) { pod.OwnerReferences = nil })
	require.NoError(t, err)
	c.Run(time.Hour)
	assert.Equal(t, "Running ready", stateOf(c, "owned"))
}

func TestForegroundWaitsForRevisionsToo(t *testing.T) {
	c := owning(t)
	_, err := fake.Edit(c, key("owned"), func(revision *appsv1.ControllerRevision) { revision.Finalizers = []string{"example.com/hold"} })
	require.NoError(t, err)
	require.NoError(t, fake.Delete[*appsv1.DaemonSet](c, key("set"), fake.DeleteOptions{Propagation: fake.Foreground}))
	c.Run(time.Hour)
	assert.Equal(t, []string{"orphan"}, left(c)["pods"])
	assert.Equal(t, []string{"set"}, left(c)["sets"])
	_, err = fake.Edit(c, key("owned"), func(revision *appsv1.ControllerRevision) { revision.Finalizers = nil })
	require.NoError(t, err)
	c.Run(time.Minute)
	assert.Empty(t, left(c)["sets"])
}

func TestGarbageThatChangesIsCollectedAllTheSame(t *testing.T) {
	c := owning(t)
	require.NoError(t, fake.Delete[*appsv1.DaemonSet](c, key("set"), fake.DeleteOptions{}))
	for _, value := range []string{"1", "2"} {
		c.Run(600 * time.Millisecond)
		_, err := fake.Edit(c, key("owned"), func(pod *corev1.Pod) { pod.Labels["changed"] = value })
		require.NoError(t, err)
	}
	assert.Equal(t, "Running ready deleted", stateOf(c, "owned"))
}

func TestOwnerThatIsReplacedIsGone(t *testing.T) {
	c := owning(t)
	successor := newSet("set")
	successor.UID = "another"
	_, err := fake.Put(c, successor)
	require.NoError(t, err)
	c.Run(time.Minute)
	assert.Equal(t, []string{"orphan"}, left(c)["pods"])
	assert.Equal(t, []string{"orphan"}, left(c)["revisions"])
}
