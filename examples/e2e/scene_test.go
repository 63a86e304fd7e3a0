package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"

	"github.com/daemonplan/daemonplan/examples/e2e/controlplane"
	"github.com/daemonplan/daemonplan/examples/e2e/witness"
)

const (
	// patience is how long anything may take. What goes well takes seconds; the rest is for
	// machines that do something else.
	patience = 4 * time.Minute
	// pool is the label of nodes that says to which scene they belong.
	pool = "e2e.daemonplan.dev/pool"
	// setName is the name of a scene's set, where it has one.
	setName = "agent"
)

// scene is a namespace with nodes of its own, so that scenes can go on beside each other.
type scene struct {
	t       *testing.T
	ctx     context.Context //nolint:containedctx // a scene is as long as its test
	plane   *controlplane.Plane
	client  kubernetes.Interface
	ns      string
	subject *controlplane.Process // nil if it may end
	witness *witness.Recorder
	allowed []witness.Kind // violations that the scene provokes
	answers *strings.Builder
	ended   bool // the namespace is gone, on purpose
}

// newScene makes a namespace and its nodes. What was wrong in it is an error at the end of
// the test.
func newScene(t *testing.T, plane *controlplane.Plane, name string, nodes int) *scene {
	t.Helper()
	s := &scene{t: t, ctx: t.Context(), plane: plane, client: plane.Client, answers: &strings.Builder{}}
	ns, err := s.client.CoreV1().Namespaces().Create(s.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: name + "-"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	s.ns = ns.Name
	s.eventually("the namespace has a service account", func() (bool, string) {
		_, err := s.client.CoreV1().ServiceAccounts(s.ns).Get(s.ctx, "default", metav1.GetOptions{})
		return err == nil, fmt.Sprint(err)
	})
	// The context of a test is done before its cleanups run.
	s.witness, err = witness.Watch(context.Background(), plane.EtcdURL(), s.ns, labels.SelectorFromSet(labels.Set{pool: s.ns}))
	require.NoError(t, err)
	t.Cleanup(s.end)
	for i := range nodes {
		s.addNode(s.node(i))
	}
	return s
}

// end judges what was seen, and takes the scene down.
func (s *scene) end() {
	s.ctx = context.Background()
	s.witness.Stop()
	s.judge()
	if !s.ended {
		background := metav1.DeletePropagationBackground
		_ = s.client.AppsV1().DaemonSets(s.ns).DeleteCollection(s.ctx, metav1.DeleteOptions{PropagationPolicy: &background}, metav1.ListOptions{})
		_ = s.client.CoreV1().Namespaces().Delete(s.ctx, s.ns, metav1.DeleteOptions{})
	}
	_ = s.client.CoreV1().Nodes().DeleteCollection(s.ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: pool + "=" + s.ns})
}

func (s *scene) judge() {
	assert.Empty(s.t, s.witness.Gaps(), "the witness has missed something")
	history, wrong := s.witness.History(), false
	for _, violation := range witness.Check(history) {
		if !slices.Contains(s.allowed, violation.Kind) {
			wrong = true
			s.t.Errorf("the witness saw: %v", violation)
		}
	}
	if text := history.String(); wrong && len(text) < 20_000 {
		s.t.Logf("all that the witness saw:\n%s", text)
	}
}

// answer notes something that every controller must bring about alike. Names that differ
// from run to run are taken out of it.
func (s *scene) answer(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.t.Log(text)
	s.answers.WriteString(strings.ReplaceAll(text, s.ns, "NAMESPACE") + "\n")
}

func (s *scene) eventually(what string, f func() (ok bool, now string)) {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		ok, now := f()
		if ok {
			return
		}
		require.NoError(s.t, s.plane.Lost())
		if s.subject != nil && !s.subject.Running() {
			s.t.Fatalf("%s: the controller has ended with code %d: %s", what, s.subject.ExitCode(), s.subject.Tail(3000))
		}
		if time.Now().After(deadline) || s.ctx.Err() != nil {
			s.t.Fatalf("%s: not after %v: %s", what, patience, now)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// quiet returns when no pod of the scene has changed for a while, and so nothing is going
// to happen any more.
func (s *scene) quiet() {
	s.t.Helper()
	const still = 3 * time.Second
	count, since := s.witness.Pods(), time.Now()
	s.eventually("the scene is quiet", func() (bool, string) {
		if n := s.witness.Pods(); n != count {
			count, since = n, time.Now()
		}
		return time.Since(since) > still, fmt.Sprint(count, " changes")
	})
}

func (s *scene) node(i int) string { return fmt.Sprintf("%s-%d", s.ns, i) }

func (s *scene) addNode(name string) {
	s.t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{pool: s.ns}}}
	_, err := s.client.CoreV1().Nodes().Create(s.ctx, node, metav1.CreateOptions{})
	require.NoError(s.t, err)
}

func (s *scene) changeNode(name string, f func(*corev1.Node)) {
	s.t.Helper()
	require.NoError(s.t, retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		node, err := s.client.CoreV1().Nodes().Get(s.ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		f(node)
		_, err = s.client.CoreV1().Nodes().Update(s.ctx, node, metav1.UpdateOptions{})
		return err
	}))
}

// newSet is a set for the scene's nodes, of the image v1.
func (s *scene) newSet(name string, change ...func(*appsv1.DaemonSet)) *appsv1.DaemonSet {
	labels := map[string]string{"app": name}
	set := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: name},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					NodeSelector:                  map[string]string{pool: s.ns},
					TerminationGracePeriodSeconds: new(int64(1)),
					Containers:                    []corev1.Container{{Name: "main", Image: "registry.example/agent:v1"}},
				},
			},
		},
	}
	for _, f := range change {
		f(set)
	}
	return set
}

// create makes the scene's set.
func (s *scene) create(change ...func(*appsv1.DaemonSet)) *appsv1.DaemonSet {
	s.t.Helper()
	return s.createSet(s.newSet(setName, change...))
}

func (s *scene) createSet(set *appsv1.DaemonSet) *appsv1.DaemonSet {
	s.t.Helper()
	stored, err := s.client.AppsV1().DaemonSets(s.ns).Create(s.ctx, set, metav1.CreateOptions{})
	require.NoError(s.t, err)
	return stored
}

func (s *scene) get() *appsv1.DaemonSet {
	s.t.Helper()
	set, err := s.client.AppsV1().DaemonSets(s.ns).Get(s.ctx, setName, metav1.GetOptions{})
	require.NoError(s.t, err)
	return set
}

// change updates the scene's set.
func (s *scene) change(f func(*appsv1.DaemonSet)) *appsv1.DaemonSet {
	s.t.Helper()
	var stored *appsv1.DaemonSet
	require.NoError(s.t, retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		set, err := s.client.AppsV1().DaemonSets(s.ns).Get(s.ctx, setName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		f(set)
		stored, err = s.client.AppsV1().DaemonSets(s.ns).Update(s.ctx, set, metav1.UpdateOptions{})
		return err
	}))
	return stored
}

// image is a change of the template, to another version.
func image(version string) func(*appsv1.DaemonSet) {
	return func(set *appsv1.DaemonSet) {
		set.Spec.Template.Spec.Containers[0].Image = "registry.example/agent:" + version
	}
}

// rolling is a change of the strategy.
func rolling(unavailable, surge intstr.IntOrString) func(*appsv1.DaemonSet) {
	return func(set *appsv1.DaemonSet) {
		set.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{
			Type:          appsv1.RollingUpdateDaemonSetStrategyType,
			RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &unavailable, MaxSurge: &surge},
		}
	}
}
