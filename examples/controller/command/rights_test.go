package command_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/daemonplan/daemonplan/clusterapi/clientgo"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/daemonplan/daemonplan/examples/controller/command"
	"github.com/daemonplan/daemonplan/examples/controller/manifests"
)

// without is a right with no place, which is what the actions of a fake say nothing of.
func without(rights []command.Right) []string {
	var list []string
	for _, r := range rights {
		list = append(list, command.Right{Verb: r.Verb, Group: r.Group, Resource: r.Resource}.String())
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// used lists what a client was asked for, in the same form.
func used(client *fake.Clientset) []string {
	var rights []command.Right
	for _, a := range client.Actions() {
		if a.GetResource().Group == authorizationv1.GroupName || a.GetResource().Resource == "" ||
			a.GetResource().Resource == "version" || a.GetResource().Resource == "resource" { // everybody may ask
			continue
		}
		resource := a.GetResource().Resource
		if a.GetSubresource() != "" {
			resource += "/" + a.GetSubresource()
		}
		rights = append(rights, command.Right{Verb: a.GetVerb(), Group: a.GetResource().Group, Resource: resource})
	}
	return without(rights)
}

// The rights are those that the adapter, its informers, the election and the events use:
// none is missing and none is more than that.
func TestRightsAreWhatIsUsed(t *testing.T) {
	client := newClient(t, append(nodes(1), daemonSet("agent", ""))...)
	acting := start(t, client, "--listen=")
	eventually(t, "a pod", func() bool { return len(podsOf(t, client, "agent")) == 1 })
	require.NoError(t, acting.end())
	dry := start(t, client, "--dry-run", "--listen=")
	_, err := client.CoreV1().Nodes().Create(t.Context(), node(1), metav1.CreateOptions{})
	require.NoError(t, err)
	eventually(t, "events", func() bool { return len(planEvents(t, client)) > 0 })
	require.NoError(t, dry.end())

	// Everything of the adapter, on a client of its own: the one above was used by the test.
	adapter := newClient(t, daemonSet("agent", ""))
	callEverything(t, adapter)
	seen := used(adapter)
	for _, right := range used(client) { // the rest: informers, lease and events
		if verb, _, _ := strings.Cut(right, " "); verb == "list" || verb == "watch" || strings.Contains(right, "leases") || strings.Contains(right, "create events") {
			seen = append(seen, right)
		}
	}
	seen = slices.DeleteFunc(seen, func(right string) bool { return right == "list events" }) // by this test
	// Two that are not to be seen here: events that repeat are patched, and an admission
	// plugin asks for the finalizers.
	seen = append(seen, "patch events", "update daemonsets.apps/finalizers")
	slices.Sort(seen)

	stated := without(slices.Concat(command.ReadRights(), command.WriteRights(), command.LeaseRights("ns", "name")))
	assert.Equal(t, slices.Compact(seen), stated)
}

// callEverything makes every call of the adapter that goes to the server. How they end is
// of no interest.
func callEverything(t *testing.T, client *fake.Clientset) {
	t.Helper()
	caches, err := clientgo.NewInformers(informers.NewSharedInformerFactory(client, 0))
	require.NoError(t, err)
	api, err := clientgo.NewAPI(client, caches, nil)
	require.NoError(t, err)
	ctx, ref := t.Context(), daemonset.Ref{Namespace: "ops", Name: "agent", UID: "set-agent"}
	key := types.NamespacedName{Namespace: "ops", Name: "agent"}
	patch := []byte(`{"metadata":{"labels":{"a":"b"}}}`)
	revision := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "agent-1", ResourceVersion: "1"}}
	_, _ = api.Live(ctx, key)
	_, _ = api.Revision(ctx, key)
	_, _ = api.CreatePod(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ops"}})
	_, _ = api.PatchPod(ctx, ref, patch)
	_ = api.DeletePod(ctx, ref)
	_, _ = api.CreateRevision(ctx, revision)
	_, _ = api.UpdateRevision(ctx, revision)
	_, _ = api.PatchRevision(ctx, ref, patch)
	_ = api.DeleteRevision(ctx, ref)
	_, _ = api.UpdateStatus(ctx, daemonSet("agent", ""))
}

// The manifest grants the rights and nothing else.
func TestManifestGrantsTheRights(t *testing.T) {
	const name, namespace = "daemonplan-controller", "daemonplan-system"
	var granted []command.Right
	for _, object := range objects(t, manifests.RBAC) {
		switch o := object.(type) {
		case *rbacv1.ClusterRole:
			granted = append(granted, grants(t, o.Rules, "")...)
		case *rbacv1.Role:
			require.Equal(t, namespace, o.Namespace)
			granted = append(granted, grants(t, o.Rules, o.Namespace)...)
		}
	}
	wanted := slices.Concat(command.ReadRights(), command.WriteRights(), command.LeaseRights(namespace, name))
	assert.ElementsMatch(t, wanted, granted)
}

// grants takes rules apart.
func grants(t *testing.T, rules []rbacv1.PolicyRule, namespace string) []command.Right {
	t.Helper()
	var list []command.Right
	for _, rule := range rules {
		require.Empty(t, rule.NonResourceURLs)
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					for _, name := range names {
						list = append(list, command.Right{Verb: verb, Group: group, Resource: resource, Namespace: namespace, Name: name})
					}
				}
			}
		}
	}
	return list
}
