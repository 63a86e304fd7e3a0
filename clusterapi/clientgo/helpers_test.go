package clientgo_test

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

var agent = types.NamespacedName{Namespace: "ops", Name: "agent"}

// newClient returns client-go's fake clientset, which stores objects as they are, taught to
// name new ones and to give them a UID and a resource version. It minds no preconditions:
// what needs them is tested against an API server.
func newClient(objects ...runtime.Object) *fake.Clientset {
	client := fake.NewClientset(objects...)
	var count atomic.Int64
	client.PrependReactor("create", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		create, ok := action.(clienttesting.CreateAction)
		if !ok {
			return false, nil, nil
		}
		object, ok := create.GetObject().(metav1.Object)
		if !ok {
			return false, nil, nil
		}
		n := count.Add(1)
		if object.GetName() == "" {
			object.SetName(object.GetGenerateName() + strconv.FormatInt(n, 10))
		}
		if object.GetUID() == "" {
			object.SetUID(types.UID("uid-" + strconv.FormatInt(n, 10)))
		}
		return false, nil, nil
	})
	return client
}

func agentSet() *appsv1.DaemonSet {
	labels := map[string]string{"app": "agent"}
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: agent.Namespace, Name: agent.Name, UID: "set-1", Generation: 1},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "registry.example/agent:v1"}}},
			},
		},
	}
}

func node(i int) *corev1.Node {
	name := fmt.Sprintf("node-%d", i)
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
}

func nodes(count int) []runtime.Object {
	var all []runtime.Object
	for i := range count {
		all = append(all, node(i))
	}
	return all
}

func podsOf(t *testing.T, client *fake.Clientset) []corev1.Pod {
	t.Helper()
	list, err := client.CoreV1().Pods(agent.Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

var daemonSetKind = appsv1.SchemeGroupVersion.WithKind("DaemonSet")
