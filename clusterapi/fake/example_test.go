package fake_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
)

// A pod is scheduled, starts and turns ready while the cluster's clock runs.
func Example() {
	c := fake.New(1)
	_, err := fake.Create(c, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	if err != nil {
		fmt.Println(err)
	}
	pod, err := fake.Create(c, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "web-"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "example.com/web"}}},
	})
	if err != nil {
		fmt.Println(err)
	}
	key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	for range 3 {
		pod, err = fake.Get[*corev1.Pod](c, key)
		if err != nil {
			fmt.Println(err)
		}
		fmt.Printf("%s on %q: %s, %d conditions\n", pod.Name, pod.Spec.NodeName, pod.Status.Phase, len(pod.Status.Conditions))
		c.Run(2 * time.Second)
	}
	// Output:
	// web-xkb6n on "": Pending, 0 conditions
	// web-xkb6n on "a": Pending, 1 conditions
	// web-xkb6n on "a": Running, 4 conditions
}

// A controller is tested on a cluster that does to it what real ones do: its cache lags by
// two seconds, a write is lost on its way back, and one node's pods never turn ready. The
// test moves the clock, so it takes no time, and runs the same way each time.
func ExampleClient() {
	c := fake.New(1)
	for _, name := range []string{"a", "b", "c", "d"} {
		_, err := fake.Create(c, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
		panicOn(err)
	}
	agent := types.NamespacedName{Namespace: "ns", Name: "agent"}
	_, err := fake.Create(c, newSet(agent.Name))
	panicOn(err)
	c.SetFateOn("d", fake.Fate{Outcome: fake.NeverReady})

	client := c.NewClient()
	defer client.Close()
	client.SetLag(fake.Lag{Age: 2 * time.Second})
	client.Inject(fake.Fault{Call: fake.CreatePod, Node: "b", When: fake.After, Err: context.DeadlineExceeded})

	// The controller under test.
	driver, err := clusterapi.NewDriver(clusterapi.Config{API: client, Now: c.Now, Parallelism: 1})
	panicOn(err)
	runner, err := clusterapi.NewRunner(driver, clusterapi.RunnerOptions{Now: c.Now})
	panicOn(err)
	feed := driver.NewFeed(nil)
	informers := fake.Handlers{
		DaemonSet: func(prev, cur *appsv1.DaemonSet) { runner.Wake(feed.DaemonSet(prev, cur)) },
		Pod:       func(prev, cur *corev1.Pod) { runner.Wake(feed.Pod(prev, cur)) },
		Revision:  func(prev, cur *appsv1.ControllerRevision) { runner.Wake(feed.Revision(prev, cur)) },
		Node:      func(prev, cur *corev1.Node) { runner.Wake(feed.Node(prev, cur)) },
	}

	watch := client.Watch()
	for second := range 16 {
		for _, event := range watch.Drain() {
			informers.Handle(event)
		}
		_, err := runner.Drain(context.Background())
		panicOn(err)
		if second%5 == 0 {
			set, err := fake.Get[*appsv1.DaemonSet](c, agent)
			panicOn(err)
			fmt.Printf("after %d s: %d pods, %d ready\n", second, len(fake.List[*corev1.Pod](c, "ns")), set.Status.NumberReady)
		}
		c.Run(time.Second)
	}
	// Output:
	// after 0 s: 3 pods, 0 ready
	// after 5 s: 4 pods, 0 ready
	// after 10 s: 4 pods, 3 ready
	// after 15 s: 4 pods, 3 ready
}

func panicOn(err error) {
	if err != nil {
		panic(err)
	}
}

// The third write of a process is its last: it takes effect, and nobody hears of it.
func ExampleClient_Inject() {
	c := fake.New(1)
	client := c.NewClient()
	ctx := context.Background()
	client.Inject(fake.Fault{Call: fake.AnyWrite, Skip: 2, When: fake.After, Crash: true})
	for _, name := range []string{"a", "b", "c", "d"} {
		_, err := client.CreatePod(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "example.com/web"}}},
		})
		fmt.Println(name, errors.Is(err, fake.ErrCrashed))
	}
	fmt.Println(len(fake.List[*corev1.Pod](c, "default")), "pods are there")
	// Output:
	// a false
	// b false
	// c true
	// d true
	// 3 pods are there
}
