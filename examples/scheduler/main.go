// Command scheduler shows a controller that places its pods itself, without kube-scheduler:
// DaemonSets share the room on a few nodes, and one that finds none waits until some is left.
// The cluster is simulated; on a real one only the ClusterAPI is another (examples/controller
// with --place-pods).
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "scheduler:", err)
		os.Exit(1)
	}
}

const namespace = "ops"

func run(ctx context.Context, out io.Writer) error {
	s, err := newStory(out)
	if err != nil {
		return err
	}
	for _, chapter := range []struct {
		title string
		begin func() error
	}{
		{"logs and metrics have room on both nodes, scans only on the larger one", s.createSets},
		{"a web server leaves the small node", func() error { return s.remove("web") }},
	} {
		fmt.Fprintf(out, "\n%s\n", chapter.title)
		if err := chapter.begin(); err != nil {
			return err
		}
		if err := s.settle(ctx); err != nil {
			return err
		}
		s.show()
	}
	return nil
}

// story is a simulated cluster and the controller that works on it.
type story struct {
	out     io.Writer
	cluster *fake.Cluster
	watch   *fake.Watch
	runner  *clusterapi.Runner
	ears    fake.Handlers
}

func newStory(out io.Writer) (*story, error) {
	s := &story{out: out, cluster: fake.New(1)}
	for _, node := range []struct{ name, cpu string }{{"large", "2"}, {"small", "1"}} {
		_, err := fake.Create(s.cluster, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: node.name},
			Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse(node.cpu), corev1.ResourcePods: resource.MustParse("10"),
			}},
		})
		if err != nil {
			return nil, err
		}
	}
	web := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}, Spec: podSpec("400m")}
	web.Spec.NodeName = "small"
	if _, err := fake.Create(s.cluster, web); err != nil {
		return nil, err
	}
	client := s.cluster.NewClient()
	client.ObserveOthers()
	driver, err := clusterapi.NewDriver(clusterapi.Config{
		API:     client,
		Now:     s.cluster.Now,
		Options: daemonset.Options{Fit: &placement.FitOptions{}},
	})
	if err != nil {
		return nil, err
	}
	s.runner, err = clusterapi.NewRunner(driver, clusterapi.RunnerOptions{Now: s.cluster.Now})
	if err != nil {
		return nil, err
	}
	feed := driver.NewFeed(nil)
	s.watch = client.Watch()
	s.ears = fake.Handlers{
		DaemonSet: func(prev, cur *appsv1.DaemonSet) { s.runner.Wake(feed.DaemonSet(prev, cur)) },
		Pod:       func(prev, cur *corev1.Pod) { s.runner.Wake(feed.Pod(prev, cur)) },
		Revision:  func(prev, cur *appsv1.ControllerRevision) { s.runner.Wake(feed.Revision(prev, cur)) },
		Node:      func(prev, cur *corev1.Node) { s.runner.Wake(feed.Node(prev, cur)) },
	}
	return s, nil
}

func podSpec(cpu string) corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{
		Name: "main", Image: "registry.example/main:v1",
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}},
	}}}
}

func (s *story) createSets() error {
	for _, set := range []struct{ name, cpu string }{{"logs", "200m"}, {"metrics", "300m"}, {"scans", "400m"}} {
		labels := map[string]string{"app": set.name}
		_, err := fake.Create(s.cluster, &appsv1.DaemonSet{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: set.name},
			Spec: appsv1.DaemonSetSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: podSpec(set.cpu)},
			},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *story) remove(pod string) error {
	return fake.Delete[*corev1.Pod](s.cluster, types.NamespacedName{Namespace: namespace, Name: pod}, fake.DeleteOptions{})
}

// settle makes the passes that events ask for, until a minute has gone by without one.
func (s *story) settle(ctx context.Context) error {
	for quiet := 0; quiet < 60; quiet++ {
		for _, event := range s.watch.Drain() {
			s.ears.Handle(event)
		}
		passes, err := s.runner.Drain(ctx)
		if err != nil {
			return err
		}
		if passes > 0 {
			quiet = 0
		}
		s.cluster.Run(time.Second)
	}
	return nil
}

// show prints what runs where, and what the sets' users were told.
func (s *story) show() {
	for _, node := range fake.List[*corev1.Node](s.cluster, "") {
		used, names := resource.Quantity{}, []string{}
		for _, pod := range fake.List[*corev1.Pod](s.cluster, namespace) {
			if pod.Spec.NodeName == node.Name {
				used.Add(*pod.Spec.Containers[0].Resources.Requests.Cpu())
				names = append(names, strings.Split(pod.Name, "-")[0])
			}
		}
		slices.Sort(names)
		fmt.Fprintf(s.out, "  %-5s  %s of %s cpu  %s\n", node.Name, used.String(), node.Status.Allocatable.Cpu(), strings.Join(names, " "))
	}
	for _, told := range s.cluster.Recorded() {
		if told.Event.Reason != daemonset.EventFailedPlacement {
			continue
		}
		fmt.Fprintf(s.out, "  event  %s: %s\n", told.About.Name, told.Event.Note)
	}
}
