package fake_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

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
