package e2e_test

import (
	"context"
	"testing"

	"github.com/daemonplan/daemonplan/examples/controller/command"
	"github.com/daemonplan/daemonplan/examples/controller/manifests"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/daemonplan/daemonplan/examples/e2e/controlplane"
)

// withCredentials is the user as whom a kube-controller-manager with
// --use-service-account-credentials has its DaemonSet controller act.
func withCredentials() controlplane.User {
	return controlplane.ServiceAccount(metav1.NamespaceSystem, "daemon-set-controller")
}

// TestBesideStock runs both controllers at a time, kept apart by the manifest for that: each
// takes its own namespace from nothing through an update, and none writes in the other's.
func TestBesideStock(t *testing.T) {
	const class = "blue"
	plane := thePlane(t)
	own, stock := subjects()[0], subjects()[1]
	stock.user = withCredentials()
	ofClass := own.args
	own.args = func(l launch) []string { return append(ofClass(l), "--class="+class) }

	_, err := plane.KubectlWith(t.Context(), string(manifests.BesideStock), "apply", "-f", "-")
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := plane.KubectlWith(context.Background(), string(manifests.BesideStock), "delete", "--ignore-not-found", "-f", "-")
		assert.NoError(t, err)
	})
	ours, theirs := newScene(t, plane, "beside-ours", 3), newScene(t, plane, "beside-theirs", 3)
	classed := func(set *appsv1.DaemonSet) { set.Annotations = map[string]string{command.ClassAnnotation: class} }
	ours.closeToStock(class)

	offset := sizeOf(t, plane.AuditLog())
	stock.run(t, plane, launch{replica: "-beside"})
	ours.subject = own.run(t, plane, launch{replica: "-beside"})
	for _, s := range []*scene{ours, theirs} {
		if s == ours {
			s.create(classed)
		} else {
			s.create()
		}
		s.reaches(settled(3))
		s.change(image("v2"))
		s.reaches(settled(3))
		s.quiet()
	}
	writers := writersIn(t, plane.AuditLog(), offset)
	assert.Equal(t, map[string]bool{own.user.Name: true}, writers[ours.ns])
	assert.Equal(t, map[string]bool{stock.user.Name: true}, writers[theirs.ns])
}

// closeToStock gives the scene's namespace a class, and returns when the policies are in
// force: the stock controller's writes are refused there, and so are sets of another class.
func (s *scene) closeToStock(class string) {
	s.t.Helper()
	_, err := s.plane.KubectlWith(s.ctx, "", "label", "namespace", s.ns, command.ClassAnnotation+"="+class)
	require.NoError(s.t, err)
	dryRun := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	s.eventually("sets of another class are refused", func() (bool, string) {
		_, err := s.client.AppsV1().DaemonSets(s.ns).Create(s.ctx, s.newSet("probe"), dryRun)
		return apierrors.IsInvalid(err), errText(err)
	})
	asStock := s.as(withCredentials())
	probe := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "probe"}, Spec: s.newSet("probe").Spec.Template.Spec}
	s.eventually("the stock controller is refused", func() (bool, string) {
		_, err := asStock.CoreV1().Pods(s.ns).Create(s.ctx, probe, dryRun)
		return apierrors.IsForbidden(err), errText(err)
	})
}

// as is a client of another user.
func (s *scene) as(user controlplane.User) kubernetes.Interface {
	s.t.Helper()
	path, err := s.plane.Kubeconfig(user, s.plane.Server())
	require.NoError(s.t, err)
	config, err := clientcmd.BuildConfigFromFlags("", path)
	require.NoError(s.t, err)
	client, err := kubernetes.NewForConfig(config)
	require.NoError(s.t, err)
	return client
}

func errText(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}

// writersIn lists by namespace whose writes were accepted since an offset of the audit log,
// but for events and dry runs. To delete a pod that somebody else deletes is no write: an API
// server says that it is done before it asks any policy.
func writersIn(t *testing.T, log string, offset int64) map[string]map[string]bool {
	t.Helper()
	deleted := map[string]map[string]bool{} // by pod, by whom
	writes := acceptedWrites(t, log, offset)
	for _, w := range writes {
		if w.Verb == "delete" {
			mark(deleted, w.ObjectRef.Namespace+"/"+w.ObjectRef.Name, w.User.Username)
		}
	}
	writers := map[string]map[string]bool{}
	for _, w := range writes {
		if w.Verb != "delete" || len(deleted[w.ObjectRef.Namespace+"/"+w.ObjectRef.Name]) == 1 {
			mark(writers, w.ObjectRef.Namespace, w.User.Username)
		}
	}
	return writers
}

func mark(all map[string]map[string]bool, key, value string) {
	if all[key] == nil {
		all[key] = map[string]bool{}
	}
	all[key][value] = true
}

func acceptedWrites(t *testing.T, log string, offset int64) (writes []auditv1.Event) {
	t.Helper()
	for _, event := range audited(t, log, offset) {
		ref := event.ObjectRef
		switch {
		case ref == nil || ref.Namespace == "" || ref.Resource == "events" || event.ResponseStatus == nil || event.ResponseStatus.Code >= 300:
		case event.Verb == "create" || event.Verb == "update" || event.Verb == "patch" || event.Verb == "delete":
			writes = append(writes, event)
		}
	}
	return writes
}
