package controllerruntime_test

import (
	"context"
	"fmt"

	"github.com/daemonplan/daemonplan/clusterapi"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/daemonplan/daemonplan/clusterapi/controllerruntime"
)

// A test on controller-runtime's fake client, which gives new objects no UID.
func ExampleNew() {
	labels := map[string]string{"app": "agent"}
	set := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "agent", UID: "set-1"},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}},
		},
	}
	c := fake.NewClientBuilder().
		WithObjects(set, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}).
		WithStatusSubresource(set).
		WithInterceptorFuncs(interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
				object.SetUID(uuid.NewUUID())
				return c.Create(ctx, object, options...)
			},
		}).Build()
	driver, err := clusterapi.NewDriver(clusterapi.Config{API: controllerruntime.New(c, c, nil)})
	if err != nil {
		panic(err)
	}
	result, err := driver.Sync(context.Background(), client.ObjectKeyFromObject(set))
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Count(clusterapi.CreatePod, clusterapi.Done), "pod created")
	// Output: 1 pod created
}
