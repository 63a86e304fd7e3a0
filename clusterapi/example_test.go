package clusterapi_test

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
)

var demo = types.NamespacedName{Namespace: "demo", Name: "agent"}

// demoCluster has three nodes and the DaemonSet demo/agent, and is simulated.
func demoCluster() (*fake.Cluster, error) {
	cluster := fake.New(1)
	for _, name := range []string{"a", "b", "c"} {
		if _, err := fake.Create(cluster, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			return nil, err
		}
	}
	labels := map[string]string{"app": "agent"}
	_, err := fake.Create(cluster, &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: demo.Namespace, Name: demo.Name},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Image: "registry.example/agent:v1"}}},
			},
		},
	})
	return cluster, err
}

// One pass: what was written, and what came of it. The first create goes alone, because one
// that fails is often the first of many.
func ExampleDriver_Sync() {
	cluster, err := demoCluster()
	if err != nil {
		panic(err)
	}
	client := cluster.NewClient()
	client.Inject(fake.Fault{Call: fake.CreatePod, Skip: 1, Err: context.DeadlineExceeded})
	driver, err := clusterapi.NewDriver(clusterapi.Config{API: client, Now: cluster.Now, Parallelism: 1})
	if err != nil {
		panic(err)
	}
	result, err := driver.Sync(context.Background(), demo)
	for _, w := range result.Writes {
		fmt.Println(w.Outcome, w.Verb)
	}
	fmt.Println(err)
	// Output:
	// done create revision
	// done create pod
	// unknown create pod
	// done create pod
	// done update status
	// clusterapi: create pod on node b: context deadline exceeded
}

// A controller: the events of informers go to a Feed, which says what they ask for; a Runner
// queues that and has the Driver make passes. Here the cluster is simulated and its clock is
// moved on by hand, so the passes are made by Drain; with a real one, Run makes them.
func Example() {
	cluster, err := demoCluster()
	if err != nil {
		panic(err)
	}
	client := cluster.NewClient() // a clusterapi.ClusterAPI
	driver, err := clusterapi.NewDriver(clusterapi.Config{API: client, Now: cluster.Now})
	if err != nil {
		panic(err)
	}
	runner, err := clusterapi.NewRunner(driver, clusterapi.RunnerOptions{Now: cluster.Now})
	if err != nil {
		panic(err)
	}
	feed := driver.NewFeed(nil)
	informers := fake.Handlers{
		DaemonSet: func(prev, cur *appsv1.DaemonSet) { runner.Wake(feed.DaemonSet(prev, cur)) },
		Pod:       func(prev, cur *corev1.Pod) { runner.Wake(feed.Pod(prev, cur)) },
		Revision:  func(prev, cur *appsv1.ControllerRevision) { runner.Wake(feed.Revision(prev, cur)) },
		Node:      func(prev, cur *corev1.Node) { runner.Wake(feed.Node(prev, cur)) },
	}

	watch := client.Watch()
	for range 10 {
		for _, event := range watch.Drain() {
			informers.Handle(event)
		}
		passes, err := runner.Drain(context.Background())
		if err != nil {
			panic(err)
		}
		set, err := fake.Get[*appsv1.DaemonSet](cluster, demo)
		if err != nil {
			panic(err)
		}
		if passes > 0 {
			fmt.Printf("%s  desired %d  available %d\n", cluster.Now().Format("15:04:05"), set.Status.DesiredNumberScheduled, set.Status.NumberAvailable)
		}
		cluster.Run(time.Second)
	}
	written := runner.Counters()
	fmt.Println(written.Write(clusterapi.CreatePod, clusterapi.Done), "pods created in", written.Passes.Total(), "passes")
	// Output:
	// 12:00:00  desired 3  available 0
	// 12:00:01  desired 3  available 0
	// 12:00:02  desired 3  available 0
	// 12:00:03  desired 3  available 0
	// 12:00:06  desired 3  available 2
	// 12:00:07  desired 3  available 3
	// 12:00:08  desired 3  available 3
	// 3 pods created in 7 passes
}
