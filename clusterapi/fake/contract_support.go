package fake

import (
	"encoding/json"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/daemonset"
)

func (c *contract) key(name string) types.NamespacedName { return keyIn(c.Namespace(), name) }

// hold keeps Observe in the past. A part that cannot do without ends here if the harness is
// no Holder.
func (c *contract) hold(t *testing.T) {
	t.Helper()
	holder, ok := c.Harness.(Holder)
	if !ok {
		t.Skip("the harness is no Holder: it cannot keep Observe in the past")
	}
	c.Sync(t)
	holder.Hold(t)
}

func (c *contract) observation(t *testing.T) clusterapi.Observation {
	t.Helper()
	observation, err := c.api.Observe(t.Context(), c.key("agent"))
	must(t, "Observe", err)
	return observation
}

// observe returns what Observe shows, without the pods and revisions of other namespaces,
// which may be among it.
func (c *contract) observe(t *testing.T) daemonset.Objects {
	t.Helper()
	seen := c.observation(t).Objects
	seen.Pods = within(seen.Pods, c.Namespace())
	seen.Revisions = within(seen.Revisions, c.Namespace())
	return seen
}

func within[T Object](objects []T, namespaceName string) []T {
	return slices.DeleteFunc(slices.Clone(objects), func(obj T) bool { return obj.GetNamespace() != namespaceName })
}

// node stores a node until the end of the part. Nodes have no namespace, so this one takes
// its name from it.
func (c *contract) node(t *testing.T, name string, spec corev1.NodeSpec) *corev1.Node {
	t.Helper()
	name = c.Namespace() + "-" + name
	node := create(t, c, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"example.com/contract": "yes", corev1.LabelHostname: name}},
		Spec:       spec,
	})
	c.nodes[node.Name] = node
	return node
}

// Remove removes an object, and remembers that it need not be cleaned up.
func (c *contract) Remove(t *testing.T, obj runtime.Object) {
	t.Helper()
	if node, ok := obj.(*corev1.Node); ok {
		delete(c.nodes, node.Name)
	}
	c.Harness.Remove(t, obj)
}

// clean removes what is in no namespace.
func (c *contract) clean(t *testing.T) {
	t.Helper()
	for _, node := range c.nodes {
		c.Harness.Remove(t, node)
	}
}

// set stores the set that the suite is about.
func (c *contract) set(t *testing.T) *appsv1.DaemonSet {
	t.Helper()
	labels := map[string]string{"app": "agent"}
	return create(t, c, &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.Namespace(), Name: "agent",
			Labels: map[string]string{"example.com/contract": "label"}, Annotations: map[string]string{"example.com/contract": "annotation"},
		},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/agent:1"}}},
			},
		},
	})
}

// pod is one that the set's selector matches. A nil owner makes it an orphan.
func (c *contract) pod(name string, owner *appsv1.DaemonSet) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace(), Name: name, Labels: map[string]string{"app": "agent"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/agent:1"}}},
	}
	if owner != nil {
		pod.OwnerReferences = []metav1.OwnerReference{controller(owner)}
	}
	return pod
}

func (c *contract) revision(name string, owner *appsv1.DaemonSet) *appsv1.ControllerRevision {
	revision := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace(), Name: name},
		Data:       runtime.RawExtension{Raw: []byte(`{"spec":{}}`)},
		Revision:   1,
	}
	if owner != nil {
		revision.OwnerReferences = []metav1.OwnerReference{controller(owner)}
	}
	return revision
}

func controller(set *appsv1.DaemonSet) metav1.OwnerReference {
	return *metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind(string(DaemonSetKind)))
}

func refOf(obj metav1.Object) daemonset.Ref {
	return daemonset.Ref{Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID()}
}

// replaceable is an object with the means to put a successor in its place.
type replaceable struct {
	ref     daemonset.Ref
	replace func()
	remove  func()
	touched func() bool // whether the successor is not as it was made
}

// checkRef checks that a write by Ref fails as promised, and without effect, when the
// object of that name is another one or gone.
func (c *contract) checkRef(t *testing.T, r replaceable, write func(daemonset.Ref) error) {
	t.Helper()
	r.replace()
	wantConflict(t, "the write to a successor", write(r.ref))
	if r.touched() {
		t.Error("the write had an effect on a successor of the same name")
	}
	r.remove()
	wantNotFound(t, "the write to what is gone", write(r.ref))
}

func create[T Object](t *testing.T, c *contract, obj T) T {
	t.Helper()
	stored, ok := c.Create(t, obj).(T)
	if !ok {
		t.Fatalf("the harness returned another type than %T from Create", obj)
	}
	return stored
}

func must(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func wantNotFound(t *testing.T, what string, err error) {
	t.Helper()
	wantError(t, what, err, metav1.StatusReasonNotFound)
}

func wantConflict(t *testing.T, what string, err error) {
	t.Helper()
	wantError(t, what, err, metav1.StatusReasonConflict)
}

func wantAlreadyExists(t *testing.T, what string, err error) {
	t.Helper()
	wantError(t, what, err, metav1.StatusReasonAlreadyExists)
}

// wantError checks the kind of an error in the way in which the Driver does.
func wantError(t *testing.T, what string, err error, kind metav1.StatusReason) {
	t.Helper()
	is := map[metav1.StatusReason]func(error) bool{
		metav1.StatusReasonNotFound:      apierrors.IsNotFound,
		metav1.StatusReasonConflict:      apierrors.IsConflict,
		metav1.StatusReasonAlreadyExists: apierrors.IsAlreadyExists,
	}[kind]
	switch reason := apierrors.ReasonForError(err); {
	case is(err):
	case err == nil:
		t.Errorf("%s: got no error, want %s", what, kind)
	case reason == "":
		t.Errorf("%s: got an error of no kind (%v), want %s", what, err, kind)
	default:
		t.Errorf("%s: got %s (%v), want %s", what, reason, err, kind)
	}
}

func wantSame(t *testing.T, what string, got, want any) {
	t.Helper()
	if !same(got, want) {
		t.Errorf("%s: got %s, want %s", what, asJSON(got), asJSON(want))
	}
}

func asJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// wantNames checks that objects of these names are there. Others may be.
func wantNames[T Object](t *testing.T, what string, objects []T, names ...string) {
	t.Helper()
	var got []string
	for _, obj := range objects {
		got = append(got, obj.GetName())
	}
	for _, name := range names {
		if !slices.Contains(got, name) {
			t.Errorf("%s: got %q, want %q among them", what, got, name)
		}
	}
}

// wantCovered checks that a cache that shows a write does not say it is older. An empty
// version says nothing.
func wantCovered(t *testing.T, what, asOf, written string) {
	t.Helper()
	if asOf != "" && !covers(asOf, written) {
		t.Errorf("%s: AsOf says %q after a write that got %q was shown", what, asOf, written)
	}
}

func covers(asOf, version string) bool {
	order, err := resourceversion.CompareResourceVersion(asOf, version)
	return err == nil && order >= 0
}
