package command_test

import (
	"encoding/json"
	"net"
	"strings"
	"testing"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPlansOverHTTP(t *testing.T) {
	client := newClient(t, append(nodes(2), daemonSet("agent", ""), daemonSet("other", ""), daemonSet("foreign", "blue"))...)
	r := start(t, client, "--dry-run", "--dry-run-events=false", "--listen=127.0.0.1:0")
	eventually(t, "both sets", func() bool {
		list := fetch(t, r, "/plans", "")
		return strings.Contains(list, "agent") && strings.Contains(list, "other")
	})

	list := fetch(t, r, "/plans", "text/html")
	assert.Contains(t, list, "200 text/plain; charset=utf-8\n")
	lines := strings.Split(strings.TrimSpace(list), "\n")[1:]
	require.Len(t, lines, 3, list)
	assert.Equal(t, []string{"NAMESPACE", "NAME", "MADE", "CREATES", "DELETES", "EMPTY", "PROBLEM"}, strings.Fields(lines[0]))
	assert.Regexp(t, `^ops +agent +\S+Z +2 +0 +false *$`, lines[1])
	assert.Regexp(t, `^ops +other +\S+Z +2 +0 +false *$`, lines[2])

	text := fetch(t, r, "/plans/ops/agent", "")
	assert.Regexp(t, `(?s)^200 text/plain; charset=utf-8\nmade  \S+Z\npass  \S+Z\ndaemonset  ops/agent\n.*\ncreate  node-0  MissingPod\n`, text)

	var answer struct {
		Namespace, Name string
		Creates         int
		Empty           bool
		Plan            daemonset.Plan
	}
	for _, got := range []string{fetch(t, r, "/plans/ops/agent?format=json", ""), fetch(t, r, "/plans/ops/agent", "application/json")} {
		head, body, _ := strings.Cut(got, "\n")
		assert.Equal(t, "200 application/json", head)
		require.NoError(t, json.Unmarshal([]byte(body), &answer))
		assert.Equal(t, "agent", answer.Name)
		assert.Equal(t, 2, answer.Creates)
		assert.False(t, answer.Empty)
		require.Len(t, answer.Plan.Creates, 2)
		assert.Equal(t, daemonset.Create{Node: "node-0", Reason: "MissingPod"}, answer.Plan.Creates[0])
	}
	assert.Contains(t, fetch(t, r, "/plans?format=json", ""), `200 application/json`+"\n"+`{"items":[{"namespace":"ops","name":"agent"`)
	assert.Contains(t, fetch(t, r, "/plans?format=text", "application/json"), "NAMESPACE")
	assert.Contains(t, fetch(t, r, "/plans/ops/foreign", ""), "404 text/plain; charset=utf-8\nno pass was made here for ops/foreign: ")
	assert.Contains(t, fetch(t, r, "/plans/ops/foreign?format=json", ""), `404 application/json`+"\n"+`{"error":"no pass`)
	assert.Contains(t, fetch(t, r, "/healthz", ""), "200 ")
	assert.Contains(t, fetch(t, r, "/readyz", ""), "200 ")
	assert.Contains(t, fetch(t, r, "/metrics", ""), `daemonplan_passes_total{outcome="succeeded"}`)

	require.NoError(t, client.AppsV1().DaemonSets("ops").Delete(t.Context(), "other", metav1.DeleteOptions{}))
	eventually(t, "the deleted set is forgotten", func() bool { return !strings.Contains(fetch(t, r, "/plans", ""), "other") })
}

// A set that no plan can be made for says why, and so does a standby that has none.
func TestPlansThatAreNotThere(t *testing.T) {
	broken := daemonSet("broken", "")
	broken.Spec.Selector = nil
	client := newClient(t, append(nodes(1), broken)...)
	leader := start(t, client, "--listen=127.0.0.1:0")
	eventually(t, "the set", func() bool { return strings.Contains(fetch(t, leader, "/plans", ""), "broken") })
	text := fetch(t, leader, "/plans/ops/broken", "")
	assert.Regexp(t, `(?s)^200 .*\nmade  -\npass  \S+Z\nproblem  .*selector`, text)
	assert.NotContains(t, text, "daemonset  ", "there is no plan")
	assert.Contains(t, fetch(t, leader, "/plans/ops/broken?format=json", ""), `"problem":"`)
	assert.NotContains(t, fetch(t, leader, "/plans/ops/broken?format=json", ""), `"plan":`)

	standby := start(t, client, "--listen=127.0.0.1:0")
	eventually(t, "the standby is ready", func() bool { return strings.HasPrefix(fetch(t, standby, "/readyz", ""), "200 ") })
	assert.Contains(t, fetch(t, standby, "/plans", ""), "A replica that is not the leader makes none.")
	assert.Contains(t, fetch(t, standby, "/plans?format=json", ""), `{"items":[]}`)
	require.NoError(t, standby.end())
	require.NoError(t, leader.end())
}

func TestAddressInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	r := start(t, newClient(t), "--listen="+taken.Addr().String())
	require.ErrorContains(t, <-r.ended, "--listen: listen tcp "+taken.Addr().String())
}
