package command_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/version"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/daemonplan/daemonplan/examples/controller/command"
)

// newClient returns client-go's fake clientset, taught what the checks at the start ask and
// to name new objects.
func newClient(t *testing.T, objects ...runtime.Object) *fake.Clientset {
	t.Helper()
	client := fake.NewClientset(objects...)
	client.Resources = []*metav1.APIResourceList{{
		GroupVersion: "apps/v1",
		APIResources: []metav1.APIResource{{Name: "daemonsets"}, {Name: "daemonsets/status"}, {Name: "controllerrevisions"}},
	}}
	discovery, ok := client.Discovery().(*fakediscovery.FakeDiscovery)
	require.True(t, ok)
	discovery.FakedServerVersion = &version.Info{GitVersion: "v1.37.2"}
	var count atomic.Int64
	client.PrependReactor("create", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		create, ok := action.(clienttesting.CreateAction)
		if !ok {
			return false, nil, nil
		}
		if review, ok := create.GetObject().(*authorizationv1.SelfSubjectAccessReview); ok {
			review = review.DeepCopy()
			review.Status.Allowed = true
			return true, review, nil
		}
		if object, ok := create.GetObject().(metav1.Object); ok {
			n := strconv.FormatInt(count.Add(1), 10)
			if object.GetName() == "" {
				object.SetName(object.GetGenerateName() + n)
			}
			if object.GetUID() == "" {
				object.SetUID(types.UID("uid-" + n))
			}
		}
		return false, nil, nil
	})
	return client
}

func daemonSet(name, class string) *appsv1.DaemonSet {
	labels := map[string]string{"app": name}
	set := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: name, UID: types.UID("set-" + name), Generation: 1},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "registry.example/" + name + ":v1"}}},
			},
		},
	}
	if class != "" {
		set.Annotations = map[string]string{command.ClassAnnotation: class}
	}
	return set
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

// running is the program under way.
type running struct {
	log   *output
	stop  context.CancelFunc
	ended chan error
}

// start runs the program on client. It is ended with the test.
func start(t *testing.T, client *fake.Clientset, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{log: &output{}, stop: cancel, ended: make(chan error, 1)}
	go func() {
		defer close(r.ended)
		r.ended <- command.Serve(ctx, args, client, r.log)
	}()
	t.Cleanup(func() {
		cancel()
		<-r.ended //nolint:errcheck // the tests that care have asked before
		if t.Failed() {
			t.Logf("log of %v:\n%s", args, r.log)
		}
	})
	return r
}

// end asks the program to end, and returns how it did.
func (r *running) end() error {
	r.stop()
	return <-r.ended
}

// eventually waits for what is going to happen.
func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	require.Eventually(t, happened, patience, 10*time.Millisecond, what)
}

// podsOf returns the nodes on which a set has pods, sorted.
func podsOf(t *testing.T, client *fake.Clientset, set string) []string {
	t.Helper()
	list, err := client.CoreV1().Pods("ops").List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + set})
	require.NoError(t, err)
	var on []string
	for i := range list.Items {
		terms := list.Items[i].Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		on = append(on, terms[0].MatchFields[0].Values[0])
	}
	slices.Sort(on)
	return on
}

// writes lists the actions that could change something, reviews apart.
func writes(client *fake.Clientset) []string {
	var list []string
	for _, a := range client.Actions() {
		if slices.Contains([]string{"get", "list", "watch"}, a.GetVerb()) || a.GetResource().Group == authorizationv1.GroupName {
			continue
		}
		list = append(list, strings.TrimSuffix(a.GetVerb()+" "+a.GetResource().Resource+"/"+a.GetSubresource(), "/"))
	}
	return list
}
