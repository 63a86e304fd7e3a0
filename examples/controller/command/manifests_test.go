package command_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/daemonplan/daemonplan/examples/controller/command"
	"github.com/daemonplan/daemonplan/examples/controller/manifests"
)

// objects reads a manifest, and takes no field that its kind does not have.
func objects(t *testing.T, manifest []byte) []runtime.Object {
	t.Helper()
	strict := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, json.SerializerOptions{Yaml: true, Strict: true})
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(manifest)))
	var list []runtime.Object
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return list
		}
		require.NoError(t, err)
		object, _, err := strict.Decode(document, nil, nil)
		require.NoError(t, err, "%s", document)
		list = append(list, object)
	}
}

func only[T runtime.Object](t *testing.T, manifest []byte) T {
	t.Helper()
	var found []T
	for _, object := range objects(t, manifest) {
		if o, ok := object.(T); ok {
			found = append(found, o)
		}
	}
	require.Len(t, found, 1)
	return found[0]
}

// The names in the manifests lead to one another.
func TestManifestsFit(t *testing.T) {
	account := only[*corev1.ServiceAccount](t, manifests.RBAC)
	subject := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: account.Name}}
	cluster := only[*rbacv1.ClusterRoleBinding](t, manifests.RBAC)
	assert.Equal(t, subject, cluster.Subjects)
	assert.Equal(t, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: only[*rbacv1.ClusterRole](t, manifests.RBAC).Name}, cluster.RoleRef)
	local := only[*rbacv1.RoleBinding](t, manifests.RBAC)
	role := only[*rbacv1.Role](t, manifests.RBAC)
	assert.Equal(t, subject, local.Subjects)
	assert.Equal(t, role.Namespace, local.Namespace)
	assert.Equal(t, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name}, local.RoleRef)

	deployment := only[*appsv1.Deployment](t, manifests.Deployment)
	namespace := only[*corev1.Namespace](t, manifests.RBAC)
	assert.Equal(t, namespace.Name, account.Namespace)
	assert.Equal(t, namespace.Name, role.Namespace)
	assert.Equal(t, namespace.Name, deployment.Namespace)
	assert.Equal(t, account.Name, deployment.Spec.Template.Spec.ServiceAccountName)
	selector, err := metav1.LabelSelectorAsSelector(deployment.Spec.Selector)
	require.NoError(t, err)
	assert.True(t, selector.Matches(labels.Set(deployment.Spec.Template.Labels)))
}

func TestDeployment(t *testing.T) {
	deployment := only[*appsv1.Deployment](t, manifests.Deployment)
	assert.EqualValues(t, 2, *deployment.Spec.Replicas)
	pod := deployment.Spec.Template.Spec
	require.Len(t, pod.Containers, 1)
	container := pod.Containers[0]
	require.NoError(t, command.ParseOptions(container.Args))
	assert.Contains(t, container.Args, "--leader-elect-resource-namespace="+deployment.Namespace)

	var listen string
	for _, arg := range container.Args {
		if value, ok := strings.CutPrefix(arg, "--listen=:"); ok {
			listen = value
		}
	}
	require.Len(t, container.Ports, 1)
	assert.Equal(t, listen, strconv.Itoa(int(container.Ports[0].ContainerPort)))
	r := start(t, newClient(t), "--leader-elect=false", "--listen=127.0.0.1:0")
	for _, probe := range []*corev1.Probe{container.LivenessProbe, container.ReadinessProbe} {
		require.NotNil(t, probe)
		assert.Equal(t, container.Ports[0].Name, probe.HTTPGet.Port.StrVal)
		eventually(t, probe.HTTPGet.Path, func() bool { return strings.HasPrefix(fetch(t, r, probe.HTTPGet.Path, ""), "200 ") })
	}
	assert.NotEqual(t, container.LivenessProbe.HTTPGet.Path, container.ReadinessProbe.HTTPGet.Path)
	assert.Contains(t, container.Resources.Requests, corev1.ResourceCPU)
	assert.Contains(t, container.Resources.Requests, corev1.ResourceMemory)
	assert.Contains(t, container.Resources.Limits, corev1.ResourceMemory)
}

// The Pod Security Standard "restricted", by the rules of it that concern such a pod.
func TestDeploymentIsRestricted(t *testing.T) {
	namespace := only[*corev1.Namespace](t, manifests.RBAC)
	assert.Equal(t, "restricted", namespace.Labels["pod-security.kubernetes.io/enforce"])
	pod := only[*appsv1.Deployment](t, manifests.Deployment).Spec.Template.Spec
	assert.False(t, pod.HostNetwork || pod.HostPID || pod.HostIPC)
	assert.Empty(t, pod.Volumes)
	assert.True(t, *pod.SecurityContext.RunAsNonRoot)
	assert.Positive(t, *pod.SecurityContext.RunAsUser)
	assert.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, pod.SecurityContext.SeccompProfile.Type)
	container := pod.Containers[0].SecurityContext
	assert.False(t, *container.AllowPrivilegeEscalation)
	assert.True(t, *container.ReadOnlyRootFilesystem)
	assert.Equal(t, &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}, container.Capabilities)
}

// The policies are bound, deny, and speak of the annotation that the program goes by.
func TestPoliciesAreBound(t *testing.T) {
	bound := map[string][]admissionregistrationv1.ValidationAction{}
	var names []string
	for _, object := range objects(t, manifests.BesideStock) {
		switch o := object.(type) {
		case *admissionregistrationv1.ValidatingAdmissionPolicy:
			names = append(names, o.Name)
			assert.Equal(t, admissionregistrationv1.Fail, *o.Spec.FailurePolicy)
		case *admissionregistrationv1.ValidatingAdmissionPolicyBinding:
			bound[o.Spec.PolicyName] = o.Spec.ValidationActions
		default:
			assert.Fail(t, "not expected", "%T", o)
		}
	}
	require.Len(t, names, 2)
	for _, name := range names {
		assert.Equal(t, []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}, bound[name], name)
	}
	assert.Contains(t, string(manifests.BesideStock), "- key: "+command.ClassAnnotation)
	assert.Contains(t, string(manifests.BesideStock), `annotations["`+command.ClassAnnotation+`"]`)
}
