package placement_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/placement"
)

// probe asks for more than there is of everything, so that its findings tell all that is
// held.
func probe(o *placement.Occupancy, own ...*corev1.Pod) placement.Verdict {
	spec := asking("cpu", "1", "memory", "1", "example.com/gpu", "1")
	spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 1}, {HostPort: 2}, {HostPort: 3}}
	spec.Volumes = using("", disk("x"), disk("y")).Spec.Volumes
	return placement.NewFitter(&spec, placement.FitOptions{}).Fit(node("n", nil), o, own...)
}

func disk(name string) corev1.Volume {
	return volume(corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: name}})
}

func someone(random *rand.Rand) *corev1.Pod {
	p := container(fmt.Sprint("p", random.IntN(8)), "cpu", fmt.Sprint(random.IntN(4)), "memory", fmt.Sprint(random.IntN(4), "Ei"))
	if random.IntN(2) == 0 {
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: int32(1 + random.IntN(3))}}
	}
	if random.IntN(2) == 0 {
		p.Spec.Volumes = []corev1.Volume{disk([]string{"x", "y"}[random.IntN(2)])}
	}
	if random.IntN(10) == 0 {
		p.Name = "" // told apart by UID
	}
	if random.IntN(6) == 0 {
		p.Status.Phase = []corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed}[random.IntN(2)]
	}
	return p
}

// TestOccupancyFollows: however pods came and went, what is held is what those hold that are
// there, in whatever order they are added; and leaving pods out is the same as not having
// them.
func TestOccupancyFollows(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 11))
		followed := &placement.Occupancy{}
		there := map[string]*corev1.Pod{}
		for range 40 {
			p := someone(random)
			key := p.Name + string(p.UID)
			if random.IntN(3) == 0 {
				_, counted := there[key]
				require.Equal(t, counted, followed.Remove(p))
				delete(there, key)
				continue
			}
			left := slices.Collect(maps.Values(there))
			clone := followed.Clone()
			want := probe(followed, left[:len(left)/2]...)
			followed.Add(p)
			delete(there, key)
			if p.Status.Phase == "" {
				there[key] = p
			}
			require.Equal(t, want, probe(clone, left[:len(left)/2]...), "a clone is apart")
		}
		var all, left, own []*corev1.Pod
		for _, p := range there { // in any order
			all = append(all, p)
			if random.IntN(3) == 0 {
				own = append(own, p, p)
			} else {
				left = append(left, p)
			}
		}
		require.Equal(t, len(all), followed.Len())
		require.Equal(t, probe(placement.NewOccupancy(all...)), probe(followed))
		require.Equal(t, probe(placement.NewOccupancy(left...)), probe(followed, own...))
	}
}

func TestOccupancyIdentity(t *testing.T) {
	o := placement.NewOccupancy(nil, container("a", "cpu", "1"), nil)
	require.Equal(t, 1, o.Len())

	successor := container("a", "cpu", "2")
	successor.UID = "later"
	o.Add(successor)
	require.Equal(t, 1, o.Len(), "there is one pod of a name")
	assert.False(t, o.Remove(container("a")), "the predecessor is gone already")
	assert.False(t, o.Remove(nil))
	assert.False(t, o.Remove(container("b")))
	assert.True(t, o.Remove(successor))
	assert.Zero(t, o.Len())

	o.Add(&corev1.Pod{})
	o.Add(&corev1.Pod{})
	assert.Equal(t, 2, o.Len(), "pods without name and UID are told apart by nothing")
	assert.False(t, o.Remove(&corev1.Pod{}))

	var none *placement.Occupancy
	assert.Zero(t, none.Len())
	assert.Zero(t, none.Clone().Len())
	assert.False(t, none.Remove(successor))
}

func TestOccupancyNegative(t *testing.T) {
	o := placement.NewOccupancy(container("a", "cpu", "-5"), container("b", "cpu", "3"))
	spec := asking("cpu", "2")
	got := placement.NewFitter(&spec, placement.FitOptions{}).Fit(roomy("n"), o)
	require.Equal(t, placement.Run, got.Decision)
	spec = asking("cpu", "6")
	got = placement.NewFitter(&spec, placement.FitOptions{}).Fit(roomy("n"), o)
	require.Equal(t, placement.Suspend, got.Decision, "less than nothing makes no room")
}
