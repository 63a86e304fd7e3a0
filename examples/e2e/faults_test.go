package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemonplan/daemonplan/examples/e2e/controlplane"
)

// fault is something that goes wrong in the middle of an update. Whatever it is, each node's
// pod is replaced exactly once, and the witness has nothing to say.
type fault struct {
	name string
	why  string
	// run brings the fault about. It is called when the update has begun, and may return
	// before it has ended.
	run func(f *faulty)
}

// faulty is an update that something goes wrong with.
type faulty struct {
	*scene
	process *controlplane.Process // the controller
	proxy   *controlplane.Proxy   // between it and the API server
	second  *controlplane.Process // another replica, which waits for the lease
}

const (
	faultyNodes = 20
	// leaderKilled is the fault with an election. Without one, a controller need not end when
	// it cannot reach the API server for a while.
	leaderKilled = "leader-killed"
)

func faults() []fault {
	return []fault{
		{"api-server-killed", "the API server is killed and comes back", func(f *faulty) {
			require.NoError(f.t, f.plane.APIServer.Kill())
			time.Sleep(2 * time.Second)
			require.NoError(f.t, f.plane.APIServer.Start())
			require.NoError(f.t, f.plane.WaitReady(f.ctx))
		}},
		{"etcd-slow", "every answer of etcd is late", func(f *faulty) {
			f.plane.EtcdProxy.SetDelay(150 * time.Millisecond)
			f.t.Cleanup(func() { f.plane.EtcdProxy.SetDelay(0) })
			time.Sleep(10 * time.Second)
			f.plane.EtcdProxy.SetDelay(0)
		}},
		{"etcd-killed", "etcd is killed and comes back with what it has stored", func(f *faulty) {
			require.NoError(f.t, f.plane.Etcd.Kill())
			time.Sleep(time.Second)
			require.NoError(f.t, f.plane.Etcd.Start())
			require.NoError(f.t, f.plane.WaitReady(f.ctx))
		}},
		{"connections-cut", "the controller's connections, its watches among them, are cut again and again", func(f *faulty) {
			cut := 0
			for range 20 {
				cut += f.proxy.Cut()
				time.Sleep(300 * time.Millisecond)
			}
			assert.Positive(f.t, cut)
		}},
		{leaderKilled, "of two replicas, the one that leads is killed", func(f *faulty) {
			require.NoError(f.t, f.process.Kill())
			f.subject = f.second
		}},
		{"controller-killed", "the controller is killed at random moments", func(f *faulty) {
			seed := uint64(time.Now().UnixNano())
			f.t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // chance, not secrecy
			f.subject = nil
			for range 8 {
				time.Sleep(time.Duration(random.Int64N(int64(2500 * time.Millisecond))))
				require.NoError(f.t, f.process.Kill())
				require.NoError(f.t, f.process.Start())
			}
			f.subject = f.process
		}},
	}
}

func TestFaults(t *testing.T) {
	plane := thePlane(t)
	for _, subject := range ownUnlessChosen(t) {
		for _, fault := range faults() {
			t.Run(subject.name+"/"+fault.name, func(t *testing.T) {
				f := newFaulty(t, plane, subject, fault.name)
				f.create(rolling(intstr.FromInt(2), intstr.FromInt(0)), slowly)
				f.reaches(settled(faultyNodes))
				set := f.change(image("v2"))
				if fault.name == leaderKilled {
					f.second = f.replica(subject, "-second")
				}
				f.begins()
				fault.run(f)
				f.reaches(settled(faultyNodes))
				assert.Len(t, f.witness.History().Lives(set), 2*faultyNodes, "every node's pod is replaced once")
				assert.Equal(t, "1 2", f.revisions())
			})
		}
	}
}

// ownUnlessChosen is this repository's controller, or the one that is chosen.
func ownUnlessChosen(t *testing.T) []subject {
	t.Helper()
	if os.Getenv(only) == "" {
		return subjects()[:1]
	}
	return chosen(t)
}

// newFaulty starts a controller behind a proxy, and a scene.
func newFaulty(t *testing.T, plane *controlplane.Plane, subject subject, name string) *faulty {
	t.Helper()
	proxy, err := plane.Proxy()
	require.NoError(t, err)
	f := &faulty{proxy: proxy}
	f.process = subject.run(t, plane, launch{server: "https://" + proxy.Address(), elect: name == leaderKilled, follow: true, replica: "-" + name})
	f.scene = newScene(t, plane, name+"-"+subject.name, faultyNodes)
	f.subject = f.process
	return f
}

func (f *faulty) replica(subject subject, name string) *controlplane.Process {
	f.t.Helper()
	return subject.run(f.t, f.plane, launch{elect: true, follow: true, replica: name})
}

// begins returns when some pods are of the new revision, but not all.
func (s *scene) begins() {
	s.t.Helper()
	s.eventually("the update has begun", func() (bool, string) {
		set := s.get()
		if set.Status.ObservedGeneration != set.Generation {
			return false, "the change is not seen yet"
		}
		updated, desired := set.Status.UpdatedNumberScheduled, set.Status.DesiredNumberScheduled
		require.Less(s.t, updated, desired, "the update was over before it was seen")
		return updated > 1, fmt.Sprintf("%d of %d", updated, desired)
	})
}

// slowly makes an update take so long that something can happen meanwhile.
func slowly(set *appsv1.DaemonSet) { set.Spec.MinReadySeconds = 1 }
