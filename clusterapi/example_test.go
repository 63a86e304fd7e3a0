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

// A controller: the events of informers go to a Feed, which wakes a Runner, which has the
// Driver make passes. Here the cluster is simulated, and its clock is moved on by hand.
func Example() {
	cluster, err := demoCluster()
	if err != nil {
		panic(err)
	}
	client := cluster.NewClient()
	driver, err := clusterapi.NewDriver(clusterapi.Config{API: client, Now: cluster.Now})
	if err != nil {
		panic(err)
	}
	runner, err := clusterapi.NewRunner(driver, clusterapi.RunnerOptions{Now: cluster.Now})
	if err != nil {
		panic(err)
	}
	feed, err := clusterapi.NewFeed(clusterapi.FeedOptions{Wake: runner.Wake})
	if err != nil {
		panic(err)
	}
	informers := fake.Handlers{DaemonSet: feed.DaemonSet, Pod: feed.Pod, Revision: feed.Revision, Node: feed.Node}

	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- runner.Run(ctx) }()
	watch := client.Watch()
	for {
		for _, event := range watch.Drain() {
			informers.Handle(event)
		}
		set, err := fake.Get[*appsv1.DaemonSet](cluster, demo)
		if err != nil {
			panic(err)
		}
		if set.Status.NumberAvailable == 3 {
			break
		}
		cluster.Run(time.Second)
	}
	stop()
	fmt.Println(<-ended, len(fake.List[*corev1.Pod](cluster, demo.Namespace)), "pods")
	// Output: <nil> 3 pods
}
