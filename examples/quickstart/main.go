// Command quickstart rolls a DaemonSet out over a simulated fleet: it is created, updated
// within maxUnavailable, updated with surge, hit by a failing node, and rolled back. It
// needs no cluster, and its clock is the simulation's.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
)

const nodes = 20

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

// chapter is one thing that happens to the set, and what the fleet should come to.
type chapter struct {
	title string
	begin func(*story) error
}

func run(ctx context.Context, out io.Writer) error {
	s, err := newStory(out)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "a letter a node: o outdated  N new  2 both  . none  x failed node; +created -deleted in this pass")
	for _, c := range []chapter{
		{"create the set", (*story).create},
		{"update to v2, at most 3 unavailable", update("v2", intstr.FromInt32(3), intstr.FromInt32(0))},
		{"update to v3, up to 25% surge", update("v3", intstr.FromInt32(0), intstr.FromString("25%"))},
		{"a node fails", (*story).failNode},
		{"it comes back, and the set is rolled back to v2", (*story).rollBack},
	} {
		fmt.Fprintf(out, "\n%s\n", c.title)
		if err := c.begin(s); err != nil {
			return err
		}
		if err := s.settle(ctx); err != nil {
			return err
		}
	}
	return nil
}

// story is a simulated cluster, the driver that works on it, and where to tell of it.
type story struct {
	out     io.Writer
	cluster *fake.Cluster
	client  *fake.Client
	watch   *fake.Watch
	driver  *clusterapi.Driver
	ears    fake.Handlers
	failed  string // the node that is not ready, if there is one
	set     types.NamespacedName
}

func newStory(out io.Writer) (*story, error) {
	cluster := fake.New(1)
	for i := range nodes {
		if _, err := fake.Create(cluster, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName(i)}}); err != nil {
			return nil, err
		}
	}
	client := cluster.NewClient()
	driver, err := clusterapi.NewDriver(clusterapi.Config{API: client, Now: cluster.Now})
	if err != nil {
		return nil, err
	}
	// This story makes its passes by itself, so events only settle what the driver waits for.
	feed := driver.NewFeed(nil)
	return &story{
		out: out, cluster: cluster, client: client, watch: client.Watch(), driver: driver,
		ears: fake.Handlers{
			DaemonSet: func(prev, cur *appsv1.DaemonSet) { driver.Settle(feed.DaemonSet(prev, cur)) },
			Pod:       func(prev, cur *corev1.Pod) { driver.Settle(feed.Pod(prev, cur)) },
		},
		set: types.NamespacedName{Namespace: "demo", Name: "agent"},
	}, nil
}

func nodeName(i int) string { return fmt.Sprintf("node-%02d", i) }

func (s *story) create() error {
	labels := map[string]string{"app": "agent"}
	_, err := fake.Create(s.cluster, &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.set.Namespace, Name: s.set.Name},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Image: "registry.example/agent:v1"}}},
			},
		},
	})
	return err
}

func update(version string, unavailable, surge intstr.IntOrString) func(*story) error {
	return func(s *story) error {
		_, err := fake.Edit(s.cluster, s.set, func(set *appsv1.DaemonSet) {
			set.Spec.Template.Spec.Containers[0].Image = "registry.example/agent:" + version
			set.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &unavailable, MaxSurge: &surge}
		})
		return err
	}
}

func (s *story) failNode() error {
	s.failed = nodeName(7)
	s.cluster.SetNodeHealth(s.failed, fake.NotReady)
	return nil
}

func (s *story) rollBack() error {
	s.cluster.SetNodeHealth(s.failed, fake.Healthy)
	s.failed = ""
	return update("v2", intstr.FromInt32(5), intstr.FromInt32(0))(s)
}

// settle makes passes until nothing is left to do, a line for each that did something.
func (s *story) settle(ctx context.Context) error {
	for quiet := 0; quiet < 15; {
		for _, event := range s.watch.Drain() {
			s.ears.Handle(event)
		}
		result, err := s.driver.Sync(ctx, s.set)
		if err != nil {
			return err
		}
		if s.tell(result); len(result.Writes) > 0 {
			quiet = 0
		} else {
			quiet++
		}
		s.cluster.Run(time.Second)
	}
	return nil
}

// tell draws the fleet: one letter a node, by what its pods are.
func (s *story) tell(result clusterapi.Result) {
	if len(result.Writes) == 0 {
		return
	}
	set, err := fake.Get[*appsv1.DaemonSet](s.cluster, s.set)
	if err != nil {
		return
	}
	line := make([]byte, 0, nodes)
	for _, n := range result.Plan.Nodes {
		letter := byte('.')
		switch {
		case n.Name == s.failed:
			letter = 'x'
		case len(n.Pods) > 1:
			letter = '2'
		case len(n.Pods) == 1 && n.Pods[0].Current:
			letter = 'N'
		case len(n.Pods) == 1:
			letter = 'o'
		}
		line = append(line, letter)
	}
	fmt.Fprintf(s.out, "  %s  %s  +%d -%d  ready %d/%d  updated %d\n",
		s.cluster.Now().Format("15:04:05"), line,
		result.Count(clusterapi.CreatePod, clusterapi.Done), result.Count(clusterapi.DeletePod, clusterapi.Done),
		set.Status.NumberReady, set.Status.DesiredNumberScheduled, set.Status.UpdatedNumberScheduled)
}
