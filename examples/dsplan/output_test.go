package main_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// planOne plans the one set in a list of items and returns its JSON output.
func planOne(t *testing.T, items ...string) (plan, string) {
	t.Helper()
	got := dsplan(`{"apiVersion":"v1","kind":"List","items":[`+strings.Join(items, ",")+"]}", "plan", "-f", "-", "-o", "json")
	require.Equal(t, 0, got.status, got.err+got.out)
	decoded := plans(t, got.out)
	require.Len(t, decoded, 1)
	return decoded[0], got.out
}

// current is a revision that holds the template of healthySet.
func current(name, hash string, number int) string {
	return strings.NewReplacer(`"agent-1"`, fmt.Sprintf("%q", name), `hash":"1"`, fmt.Sprintf(`hash":%q`, hash), `"revision":1`, fmt.Sprintf(`"revision":%d`, number)).
		Replace(revisionWith(`,"data":{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"app":"agent"}},"spec":{"containers":null}}}}`))
}

func orphan(object string) string {
	start := strings.Index(object, `,"ownerReferences":[`)
	end := strings.Index(object[start:], "]") + start + 1
	return object[:start] + object[end:]
}

func TestJSONTellsOwnership(t *testing.T) {
	released := strings.Replace(podNamed("b-released", ""), `"app":"agent"`, `"app":"other"`, 1)
	p, _ := planOne(t, healthySet, healthyNode, orphan(podNamed("z-adopted", "")), released, orphan(current("a-history", "1", 1)))
	assert.Equal(t, []string{"z-adopted", "a-history"}, p.Adopts, "pods come before revisions")
	assert.Equal(t, []string{"b-released"}, p.Releases)
}

func TestJSONTellsHistory(t *testing.T) {
	p, _ := planOne(t, healthySet, current("agent-1", "1", 1), current("agent-2", "2", 2), podNamed("a", ""))
	assert.Equal(t, "agent-2", p.Revision.Name)
	assert.Equal(t, "2", p.Revision.Hash)
	assert.Equal(t, int64(2), p.Revision.Number)
	assert.Equal(t, "none", p.Revision.Action)
	assert.Equal(t, []string{"agent-1"}, p.Revision.Deletes, "both hold the template")
	assert.Equal(t, []string{"a"}, p.Relabels)

	older := strings.Replace(current("agent-2", "2", 2), `"app":"agent"}}`, `"app":"agent","v":"2"}}`, 1)
	p, _ = planOne(t, healthySet, current("agent-1", "1", 1), older)
	assert.Equal(t, "update", p.Revision.Action, "a rollback raises the number")
	assert.Equal(t, int64(3), p.Revision.Number)

	unlabelled := strings.Replace(older, `,"controller-revision-hash":"2"`, "", 1)
	p, _ = planOne(t, healthySet, current("agent-3", "3", 3), unlabelled)
	assert.Equal(t, "none", p.Revision.Action, "it is another revision that is updated")
}

func TestJSONTellsWhenToPlanAgain(t *testing.T) {
	pod := strings.Replace(
		podNamed("a", `,"spec":{"nodeName":"node-a"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-03-10T11:59:55Z"}]}`),
		`"app":"agent"`, `"app":"agent","controller-revision-hash":"1"`, 1)
	p, _ := planOne(t, setWith(`"minReadySeconds":90`), healthyNode, pod, current("agent-1", "1", 1))
	assert.Equal(t, "1m30s", p.RequeueAfter, "Kubernetes v1.37.2 waits minReadySeconds from now on")
	p, _ = planOne(t, healthySet, healthyNode, pod, current("agent-1", "1", 1))
	assert.Empty(t, p.RequeueAfter)
}

func TestJSONAlwaysHasTheStatus(t *testing.T) {
	const status = `"status":{"currentNumberScheduled":0,"numberMisscheduled":0,"desiredNumberScheduled":1,"numberReady":0,"observedGeneration":7,"numberUnavailable":1}`
	stored := strings.TrimSuffix(healthySet, "}") + "," + status + "}"
	p, out := planOne(t, stored, healthyNode, current("agent-1", "1", 1))
	assert.False(t, p.StatusChanged)
	assert.Contains(t, out, status)
	p, out = planOne(t, healthySet, healthyNode, current("agent-1", "1", 1))
	assert.True(t, p.StatusChanged)
	assert.Contains(t, out, `"desiredNumberScheduled":1`)
}

func TestJSONIsNotEscapedForHTML(t *testing.T) {
	_, out := planOne(t, setWith(`"x":0`), `{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-a"},"spec":{"taints":[{"key":"a","value":"<&>","effect":"NoExecute"}]}}`)
	assert.Contains(t, out, "<&>")
}
