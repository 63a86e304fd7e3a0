package clientgo_test

import (
	"context"
	"fmt"

	"github.com/daemonplan/daemonplan/clusterapi"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/daemonplan/daemonplan/clusterapi/clientgo"
)

// A test on client-go's fake clientset, which gives new objects neither UID nor name.
func ExampleNew_fakeClientset() {
	client := fake.NewClientset(agentSet(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	client.PrependReactor("create", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if object, ok := action.(clienttesting.CreateAction).GetObject().(metav1.Object); ok {
			object.SetUID(uuid.NewUUID())
			if object.GetName() == "" {
				object.SetName(object.GetGenerateName() + string(object.GetUID()))
			}
		}
		return false, nil, nil // the clientset goes on
	})
	ctx, stop := context.WithCancel(context.Background())
	controller, err := clientgo.New(clientgo.Config{
		Client: client,
		OnPass: func(clusterapi.Pass) { stop() }, // one is enough here
	})
	if err != nil {
		panic(err)
	}
	if err := controller.Run(ctx); err != nil {
		panic(err)
	}
	pods, err := client.CoreV1().Pods("ops").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		panic(err)
	}
	for _, pod := range pods.Items {
		fmt.Println(pod.GenerateName, pod.Labels["app"])
	}
	// Output: agent- agent
}
