package main_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A small cluster: a set, a node and its pod, all of them well.
const (
	healthySet = `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"agent","namespace":"demo","uid":"u"},` +
		`"spec":{"selector":{"matchLabels":{"app":"agent"}},"template":{"metadata":{"labels":{"app":"agent"}}}}}`
	healthyNode = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-a"}}`
	// The set that must be planned whatever happens to the first.
	bystander = `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"bystander","namespace":"other"},` +
		`"spec":{"selector":{"matchLabels":{"app":"b"}},"template":{"metadata":{"labels":{"app":"b"}}}}}`
)

func podNamed(name, rest string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"demo","labels":{"app":"agent"},`+
		`"ownerReferences":[{"apiVersion":"apps/v1","kind":"DaemonSet","name":"agent","uid":"u","controller":true}]}%s}`, name, rest)
}

func revisionWith(data string) string {
	return `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"agent-1","namespace":"demo","labels":{"app":"agent","controller-revision-hash":"1"},` +
		`"ownerReferences":[{"apiVersion":"apps/v1","kind":"DaemonSet","name":"agent","uid":"u","controller":true}]},"revision":1` + data + `}`
}

func setWith(spec string) string {
	return strings.Replace(healthySet, `"spec":{`, `"spec":{`+spec+",", 1)
}

// TestBadInput feeds one bad object at a time, beside a set of another namespace. The error
// names what is wrong, or the plan takes it as Kubernetes does; the other set is planned.
func TestBadInput(t *testing.T) {
	const anyway = "" // there is a plan all the same
	tests := []struct {
		name, why string
		give      []string
		want      string // part of the error
	}{
		{"null set", "it is no object at all", []string{"null", healthySet}, anyway},
		{"null entries", "", []string{healthySet, "null", healthyNode, "null", podNamed("a", ""), "null"}, anyway},
		{"no spec", "the API requires a selector", []string{`{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"agent","namespace":"demo"}}`}, "spec.selector"},
		{"nil selector", "", []string{strings.Replace(healthySet, `{"matchLabels":{"app":"agent"}}`, "null", 1)}, "spec.selector"},
		{"selector that does not parse", "", []string{strings.Replace(healthySet, `{"matchLabels":{"app":"agent"}}`, `{"matchExpressions":[{"key":"a","operator":"Near"}]}`, 1)}, "spec.selector"},
		{"selector of another type", "", []string{strings.Replace(healthySet, `{"matchLabels":{"app":"agent"}}`, `[]`, 1)}, "spec.selector"},
		{"nil rollingUpdate", "maxUnavailable is 1, maxSurge 0", []string{setWith(`"updateStrategy":{"type":"RollingUpdate"}`), healthyNode}, anyway},
		{"nil updateStrategy", "it is RollingUpdate", []string{setWith(`"updateStrategy":null`), healthyNode}, anyway},
		{"abc%", "", []string{setWith(`"updateStrategy":{"rollingUpdate":{"maxUnavailable":"abc%"}}`), healthyNode}, "spec.updateStrategy.rollingUpdate.maxUnavailable"},
		{"abc% surge", "", []string{setWith(`"updateStrategy":{"rollingUpdate":{"maxSurge":"abc%"}}`), healthyNode}, "spec.updateStrategy.rollingUpdate.maxSurge"},
		{"negative budget", "", []string{setWith(`"updateStrategy":{"rollingUpdate":{"maxUnavailable":-1}}`), healthyNode}, "spec.updateStrategy.rollingUpdate.maxUnavailable"},
		{"budget of another type", "", []string{setWith(`"updateStrategy":{"rollingUpdate":{"maxUnavailable":{}}}`), healthyNode}, "DaemonSet demo/agent"},
		{"negative history", "", []string{setWith(`"revisionHistoryLimit":-1`), healthyNode}, "spec.revisionHistoryLimit"},
		{"nodes of the same name", "it is not known which is right", []string{healthySet, healthyNode, strings.Replace(healthyNode, `"name"`, `"uid":"2","name"`, 1)}, "Node node-a: differs from the one in standard input: document 1: items[1]"},
		{"pods of the same name", "it is not known which is right", []string{healthySet, podNamed("a", ""), podNamed("a", `,"spec":{"nodeName":"node-a"}`)}, "Pod demo/a: differs from the one in standard input: document 1: items[1]"},
		{"the same pod twice", "it says the same twice", []string{healthySet, healthyNode, podNamed("a", ""), podNamed("a", "")}, anyway},
		{"pod without status", "it is not ready", []string{healthySet, healthyNode, podNamed("a", `,"spec":{"nodeName":"node-a"}`)}, anyway},
		{"pod with null everything", "", []string{healthySet, healthyNode, podNamed("a", `,"spec":null,"status":null`)}, anyway},
		{"node without labels", "", []string{healthySet, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-a","labels":null}}`}, anyway},
		{"revision without data", "it holds no template, so it is not the current one", []string{healthySet, healthyNode, revisionWith("")}, anyway},
		{"revision with null data", "", []string{healthySet, healthyNode, revisionWith(`,"data":null`)}, anyway},
		{"revision with broken data", "", []string{healthySet, healthyNode, revisionWith(`,"data":{"spec":{"template":7}}`)}, anyway},
		{"revision with a string for data", "", []string{healthySet, healthyNode, revisionWith(`,"data":"eyJ9"`)}, anyway},
		{"label of a megabyte", "", []string{strings.ReplaceAll(healthySet, `"app":"agent"`, `"app":"agent","long":"`+strings.Repeat("x", 1<<20)+`"`), healthyNode}, "spec.selector"},
		{"annotation of a megabyte", "", []string{strings.Replace(healthySet, `"uid"`, `"annotations":{"long":"`+strings.Repeat("x", 1<<20)+`"},"uid"`, 1), healthyNode}, anyway},
		{"label of a megabyte on a node", "", []string{healthySet, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-a","labels":{"long":"` + strings.Repeat("x", 1<<20) + `"}}}`}, anyway},
		{"generation that is no number", "", []string{strings.Replace(healthySet, `"uid"`, `"annotations":{"deprecated.daemonset.template.generation":"x"},"uid"`, 1), healthyNode}, anyway},
		{"affinity that does not parse", "its terms match no node", []string{
			strings.Replace(healthySet, `"template":{`, `"template":{"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Near"}]}]}}}},`, 1), healthyNode,
		}, anyway},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dump := `{"apiVersion":"v1","kind":"List","items":[` + strings.Join(append(tt.give, bystander), ",") + "]}"
			got := dsplan(dump, "plan", "-f", "-", "-o", "json")
			decoded := plans(t, got.out)
			require.Len(t, decoded, 2)
			first, other := decoded[0], decoded[1]
			isRead := !strings.HasPrefix(first.Error, "standard input: ")
			assert.Equal(t, isRead && !strings.Contains(dump, `"kind":"Node"`), got.err == "dsplan: standard input: has no Nodes, so that no pod is wanted anywhere\n", got.err)
			assert.Equal(t, !isRead || strings.Contains(dump, `"kind":"Node"`), got.err == "", got.err)
			assert.Equal(t, "demo/agent", first.DaemonSet)
			assert.Equal(t, "other/bystander", other.DaemonSet)
			if tt.want == anyway {
				assert.Equal(t, 0, got.status)
				assert.Empty(t, first.Error, tt.why)
				assert.Equal(t, "create", first.Revision.Action)
			} else {
				assert.Equal(t, 1, got.status)
				assert.Contains(t, first.Error, tt.want, tt.why)
				assert.Empty(t, first.Nodes)
				assert.Less(t, len(first.Error), 1000, "the message does not repeat the input")
			}
			if !strings.Contains(tt.want, "Node ") {
				assert.Empty(t, other.Error)
				assert.Equal(t, "create", other.Revision.Action)
			}
			text := dsplan(dump, "plan", "-f", "-")
			assert.Equal(t, got.status, text.status)
			assert.Equal(t, tt.want != anyway, strings.Contains(text.out, "\nerror: "))
		})
	}
}

// TestBadSetsAreNotOverlooked checks what a snapshot without a readable set amounts to.
func TestBadSetsAreNotOverlooked(t *testing.T) {
	got := dsplan(`{"apiVersion":"v1","kind":"List","items":[{"metadata":{"name":"agent"}}]}`, "plan", "-f", "-")
	assert.Equal(t, outcome{status: 1, err: "dsplan: standard input: document 1: items[0]: has no kind; it may be cut off\n"}, got)

	got = dsplan(`{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"namespace":"demo"}}`, "plan", "-f", "-", "-ds", "demo/agent")
	assert.Equal(t, outcome{
		status: 1,
		err: "dsplan: standard input: has no DaemonSet demo/agent\n" +
			"dsplan: standard input: document 1: DaemonSet has no metadata.name\n",
	}, got)
}

// TestDefaultsDecide checks what the API server would have filled in, where it decides.
func TestDefaultsDecide(t *testing.T) {
	var items []string
	for i := range 12 {
		revision := strings.NewReplacer(`"agent-1"`, fmt.Sprintf(`"agent-%02d"`, i), `hash":"1"`, fmt.Sprintf(`hash":"%02d"`, i), `"revision":1`, fmt.Sprintf(`"revision":%d`, i+1)).
			Replace(revisionWith(fmt.Sprintf(`,"data":{"spec":{"template":{"$patch":"replace","spec":{"nodeName":"n%d"}}}}`, i)))
		items = append(items, revision)
	}
	for i := range 4 {
		node := fmt.Sprintf("node-%d", i)
		items = append(items, strings.ReplaceAll(healthyNode, "node-a", node), strings.Replace(
			podNamed("agent-"+node, fmt.Sprintf(`,"spec":{"nodeName":%q},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}`, node)),
			`"app":"agent"`, `"app":"agent","controller-revision-hash":"11"`, 1))
	}
	explicit := setWith(`"revisionHistoryLimit":10,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":1,"maxSurge":0}}`)
	plan := func(set string) string {
		got := dsplan(`{"apiVersion":"v1","kind":"List","items":[`+strings.Join(append(items, set), ",")+"]}", "plan", "-f", "-", "-o", "json")
		require.Equal(t, 0, got.status, got.out)
		return got.out
	}
	decoded := plans(t, plan(explicit))
	assert.Len(t, decoded[0].Deletes, 1, "maxUnavailable is 1")
	assert.Equal(t, []string{"agent-00", "agent-01"}, decoded[0].Revision.Deletes, "ten old revisions are kept")
	for _, set := range []string{
		healthySet, setWith(`"updateStrategy":{}`), setWith(`"updateStrategy":{"type":"RollingUpdate"}`), setWith(`"updateStrategy":{"rollingUpdate":{}}`),
		setWith(`"updateStrategy":{"rollingUpdate":{"maxSurge":0}}`), setWith(`"updateStrategy":{"rollingUpdate":null},"revisionHistoryLimit":null`),
	} {
		assert.Equal(t, plan(explicit), plan(set), set)
	}
}
