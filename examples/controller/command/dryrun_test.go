package command_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/daemonplan/daemonplan/examples/controller/command"
)

func planEvents(t *testing.T, client *fake.Clientset) []corev1.Event {
	t.Helper()
	list, err := client.CoreV1().Events("ops").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	slices.SortFunc(list.Items, func(a, b corev1.Event) int { return strings.Compare(a.Name, b.Name) })
	return list.Items
}

func TestDryRunReports(t *testing.T) {
	client := newClient(t, append(nodes(2), daemonSet("agent", ""))...)
	r := start(t, client, "--dry-run", "--listen=")
	eventually(t, "an event", func() bool { return len(planEvents(t, client)) == 1 })
	event := planEvents(t, client)[0]
	assert.Equal(t, "DryRunPlan", event.Reason)
	assert.Equal(t, corev1.EventTypeNormal, event.Type)
	assert.Equal(t, "daemonplan-controller", event.Source.Component)
	assert.Equal(t, corev1.ObjectReference{APIVersion: "apps/v1", Kind: "DaemonSet", Namespace: "ops", Name: "agent", UID: "set-agent"}, event.InvolvedObject)
	for _, words := range []string{"would create revision agent-", "create a pod on node node-0 (MissingPod), create a pod on node node-1 (MissingPod)", "write the status"} {
		assert.Contains(t, event.Message, words)
	}
	assert.Len(t, r.log.lines("msg=plan", "daemonset=ops/agent", "creates=2"), 1)

	// A pass that comes to the same plan is not reported, one that does not is. The first
	// change is of no consequence, the second one gives the first its turn.
	set := daemonSet("agent", "")
	set.Labels = map[string]string{"of-no": "consequence"}
	_, err := client.AppsV1().DaemonSets("ops").Update(t.Context(), set, metav1.UpdateOptions{})
	require.NoError(t, err)
	_, err = client.CoreV1().Nodes().Create(t.Context(), node(2), metav1.CreateOptions{})
	require.NoError(t, err)
	eventually(t, "an event of the changed plan", func() bool { return len(planEvents(t, client)) == 2 })
	require.NoError(t, r.end())
	assert.Len(t, planEvents(t, client), 2)
	assert.Len(t, r.log.lines("msg=plan"), 2)
	for _, w := range writes(client) {
		if w != "create events" && w != "create nodes" && w != "update daemonsets" { // the last two are the test's
			assert.Fail(t, "a dry run has written", w)
		}
	}
	assert.Empty(t, podsOf(t, client, "agent"))
}

func TestDryRunWithoutEventsWritesNothing(t *testing.T) {
	client := newClient(t, append(nodes(2), daemonSet("agent", ""))...)
	r := start(t, client, "--dry-run", "--dry-run-events=false", "--listen=")
	eventually(t, "a report", func() bool { return len(r.log.lines("msg=plan", "creates=2")) == 1 })
	require.NoError(t, r.end())
	assert.Empty(t, writes(client))
	for _, a := range client.Actions() {
		assert.NotEqual(t, "create", a.GetVerb(), "not even a review")
	}
}

// What there is nothing to do for is not reported at first, but is after there was.
func TestDryRunSaysWhenNothingIsLeft(t *testing.T) {
	client := newClient(t, append(nodes(1), daemonSet("agent", ""))...)
	acting := start(t, client, "--listen=", "--leader-elect=false")
	eventually(t, "a status", func() bool {
		set, err := client.AppsV1().DaemonSets("ops").Get(t.Context(), "agent", metav1.GetOptions{})
		return err == nil && set.Status.CurrentNumberScheduled == 1
	})
	require.NoError(t, acting.end())
	dry := start(t, client, "--dry-run", "--listen=127.0.0.1:0")
	eventually(t, "a plan", func() bool { return strings.Contains(fetch(t, dry, "/plans", ""), "agent") })
	assert.Contains(t, fetch(t, dry, "/plans/ops/agent?format=json", ""), `"empty":true`)
	assert.Empty(t, dry.log.lines("msg=plan"), "%s", dry.log)

	_, err := client.CoreV1().Nodes().Create(t.Context(), node(1), metav1.CreateOptions{})
	require.NoError(t, err)
	eventually(t, "something to do", func() bool { return len(dry.log.lines("msg=plan", "node-1")) == 1 })
	require.NoError(t, client.CoreV1().Nodes().Delete(t.Context(), "node-1", metav1.DeleteOptions{}))
	set, err := client.AppsV1().DaemonSets("ops").Get(t.Context(), "agent", metav1.GetOptions{})
	require.NoError(t, err)
	set.Labels = map[string]string{"touched": "yes"} // that a node is gone wakes nobody, as in Kubernetes
	_, err = client.AppsV1().DaemonSets("ops").Update(t.Context(), set, metav1.UpdateOptions{})
	require.NoError(t, err)
	eventually(t, "nothing to do", func() bool { return len(dry.log.lines("msg=plan", "would=nothing")) == 1 })
}

// The second lock: whatever asks for a write in a dry run, the client does not send it.
func TestDryRunSendsNoWrites(t *testing.T) {
	s := newStub(t, nil)
	for _, events := range []string{"true", "false"} {
		client := commandClient(t, "--kubeconfig="+kubeconfig(t, s.URL), "--dry-run", "--dry-run-events="+events)
		pods, set := client.CoreV1().Pods("ops"), daemonSet("agent", "")
		_, err := pods.Create(t.Context(), &corev1.Pod{}, metav1.CreateOptions{})
		require.ErrorContains(t, err, "a dry run sends no POST /api/v1/namespaces/ops/pods")
		require.ErrorContains(t, pods.Delete(t.Context(), "p", metav1.DeleteOptions{}), "a dry run sends no DELETE")
		require.ErrorContains(t, pods.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}), "a dry run sends no DELETE")
		_, err = pods.Patch(t.Context(), "events", "application/merge-patch+json", []byte("{}"), metav1.PatchOptions{})
		require.ErrorContains(t, err, "a dry run sends no PATCH")
		_, err = client.AppsV1().DaemonSets("events").UpdateStatus(t.Context(), set, metav1.UpdateOptions{})
		require.ErrorContains(t, err, "a dry run sends no PUT")
		assert.Empty(t, s.written())
		_, err = client.CoreV1().Events("ops").Create(t.Context(), &corev1.Event{}, metav1.CreateOptions{})
		if events == "true" {
			require.ErrorContains(t, err, "is not there", "this one was sent, and the stub has no events")
			assert.Equal(t, []string{"POST /api/v1/namespaces/ops/events"}, s.written())
			s.mu.Lock()
			s.writes = nil
			s.mu.Unlock()
		} else {
			require.ErrorContains(t, err, "a dry run sends no POST")
		}
		_, err = pods.List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
	}
}

func commandClient(t *testing.T, args ...string) kubernetes.Interface {
	t.Helper()
	client, err := command.NewClient(args)
	require.NoError(t, err)
	return client
}

// fetch asks the program over HTTP, and returns the answer or why there is none.
func fetch(t *testing.T, r *running, path, accept string) string {
	t.Helper()
	eventually(t, "listening", func() bool { return r.log.address() != "" })
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+r.log.address()+path, nil)
	require.NoError(t, err)
	request.Header.Set("Accept", accept)
	client := http.Client{Timeout: 30 * time.Second}
	answer, err := client.Do(request)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return fmt.Sprintf("%d %s\n%s", answer.StatusCode, answer.Header.Get("Content-Type"), body)
}
