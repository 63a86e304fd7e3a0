package fake_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
)

func TestSmoke(t *testing.T) {
	c := fake.New(1)
	for _, n := range []string{"a", "b"} {
		_, err := fake.Create(c, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n}})
		require.NoError(t, err)
	}
	set, err := fake.Create(c, &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "agent"},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "agent"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "agent"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "v1"}}},
			},
		},
	})
	require.NoError(t, err)
	cl := c.NewClient()
	o, err := cl.Observe(t.Context(), nn("agent"))
	require.NoError(t, err)
	plan, err := daemonset.Compute(daemonset.Snapshot{Objects: o.Objects, Now: c.Now()}, daemonset.Options{})
	require.NoError(t, err)
	for _, cr := range plan.Creates {
		p, err := cl.CreatePod(t.Context(), plan.Pod(cr))
		require.NoError(t, err)
		t.Log(p.Name, p.UID, p.ResourceVersion)
	}
	t.Log(c.Run(10 * time.Second))
	for _, p := range fake.List[*corev1.Pod](c, "") {
		t.Log(p.Name, p.Spec.NodeName, p.Status.Phase, p.Status.Conditions)
	}
	require.NoError(t, fake.Delete[*appsv1.DaemonSet](c, nn("agent"), fake.DeleteOptions{Propagation: fake.Foreground}))
	c.Run(time.Minute)
	require.Empty(t, fake.List[*corev1.Pod](c, ""))
	require.Empty(t, fake.List[*appsv1.DaemonSet](c, ""))
	_ = set
}
