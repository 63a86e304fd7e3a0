package dump_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/examples/dsplan/internal/dump"
)

// twoSets is a list of two DaemonSets in two namespaces, and more items.
func twoSets(more ...string) string {
	other := strings.ReplaceAll(setJSON, `"demo"`, `"other"`)
	return `{"apiVersion":"v1","kind":"List","items":[` + strings.Join(append([]string{setJSON, other}, more...), ",") + "]}"
}

func TestFaultsReachTheSetsThatWouldLookAtThem(t *testing.T) {
	const demo, other = "demo/agent: nodes [] pods [] revisions []", "other/agent: nodes [] pods [] revisions []"
	tests := []struct {
		name, why string
		give      []string
		want      []string
	}{
		{
			"set", "the other set does not look at it",
			[]string{twoSets(`{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"third","namespace":"demo"},"spec":{"minReadySeconds":"10"}}`)},
			[]string{demo, "demo/third: error f0: document 1: items[2]: DaemonSet demo/third: spec.minReadySeconds: string where int32 belongs", other},
		},
		{
			"set of an old server", "its defaults were others, so that a plan would be wrong; passed over it would be missed",
			[]string{twoSets(`{"apiVersion":"extensions/v1beta1","kind":"DaemonSetList","items":[{"metadata":{"name":"third","namespace":"demo"}}]}`)},
			[]string{demo, "demo/third: error f0: document 1: items[2].items[0]: DaemonSet demo/third: is of extensions/v1beta1, which Kubernetes stopped serving in v1.16; want apps/v1", other},
		},
		{
			"set without a name", "it is a set all the same",
			[]string{twoSets(`{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"namespace":"demo"}}`)},
			[]string{"demo/: error f0: document 1: items[2]: DaemonSet has no metadata.name", demo, other},
		},
		{
			"set whose metadata is no object", "it is a set all the same",
			[]string{twoSets(`{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":[]}`)},
			[]string{"default/: error f0: document 1: items[2]: DaemonSet has no metadata.name", demo, other},
		},
		{
			"pod", "only the sets of its namespace look at it",
			[]string{twoSets(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"demo"},"spec":{"containers":[{"name":"c","ports":[{"hostPort":"x"}]}]}}`)},
			[]string{"demo/agent: error f0: document 1: items[2]: Pod demo/p: spec.containers.ports.hostPort: string where int32 belongs", other},
		},
		{
			"pod with a bad quantity", "the decoder does not tell the field",
			[]string{twoSets(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"other"},"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"lots"}}}]}}`)},
			[]string{demo, "other/agent: error f0: document 1: items[2]: Pod other/p: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
		},
		{
			"pod whose namespace is no string", "it might be in any",
			[]string{twoSets(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":7}}`)},
			[]string{
				"demo/agent: error f0: document 1: items[2]: Pod p: metadata.namespace: number where string belongs",
				"other/agent: error f0: document 1: items[2]: Pod p: metadata.namespace: number where string belongs",
			},
		},
		{
			"revision", "only the sets of its namespace look at it",
			[]string{twoSets(`{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"r","namespace":"demo"},"revision":"one"}`)},
			[]string{"demo/agent: error f0: document 1: items[2]: ControllerRevision demo/r: revision: string where int64 belongs", other},
		},
		{
			"node", "every set looks at every node; it has no namespace, whatever it says",
			[]string{twoSets(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","namespace":"demo"},"spec":{"taints":{}}}`)},
			[]string{
				"demo/agent: error f0: document 1: items[2]: Node n: spec.taints: object where []v1.Taint belongs",
				"other/agent: error f0: document 1: items[2]: Node n: spec.taints: object where []v1.Taint belongs",
			},
		},
		{
			"items that do not say what they are", "they might be any that is needed",
			[]string{twoSets(`7`, `"x"`, `{"apiVersion":"v1"}`, `{"kind":"Pod"}`)},
			[]string{
				"demo/agent: error f0: document 1: items[2]: is not an object; f0: document 1: items[3]: is not an object; f0: document 1: items[4]: has no kind; it may be cut off; and 1 more",
				"other/agent: error f0: document 1: items[2]: is not an object; f0: document 1: items[3]: is not an object; f0: document 1: items[4]: has no kind; it may be cut off; and 1 more",
			},
		},
		{
			"item of a list in a list", "the path leads to it",
			[]string{twoSets(`{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a","namespace":"demo"}},{"metadata":{"namespace":"demo"}}]}`)},
			[]string{"demo/agent: error f0: document 1: items[2].items[1]: Pod has no metadata.name", other},
		},
		{
			"YAML document of its own", "it is no item",
			[]string{twoSets() + "\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: demo}\nspec: {nodeName: [a]}\n"},
			[]string{"demo/agent: error f0: document 2: Pod demo/p: spec.nodeName: array where string belongs", other},
		},
		{
			"pod twice, different", "two dumps that were not taken at the same time do not make one snapshot",
			[]string{
				twoSets(podJSON),
				strings.Replace(podJSON, `"name"`, `"uid":"2","name"`, 1),
			},
			[]string{"demo/agent: error f1: document 1: Pod demo/agent-aaaaa: differs from the one in f0: document 1: items[2]", other},
		},
		{
			"node twice, different", "every set looks at every node",
			[]string{twoSets(nodeJSON, strings.Replace(nodeJSON, `"name"`, `"uid":"2","name"`, 1))},
			[]string{
				"demo/agent: error f0: document 1: items[3]: Node node-a: differs from the one in f0: document 1: items[2]",
				"other/agent: error f0: document 1: items[3]: Node node-a: differs from the one in f0: document 1: items[2]",
			},
		},
		{
			"set twice, different", "only this set is in doubt",
			[]string{twoSets(strings.Replace(setJSON, `"name"`, `"uid":"2","name"`, 1))},
			[]string{"demo/agent: error f0: document 1: items[2]: DaemonSet demo/agent: differs from the one in f0: document 1: items[0]", other},
		},
		{
			"the same quantity in two ways", "it is the same value",
			[]string{twoSets(
				`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"capacity":{"cpu":"1"}}}`,
				`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"capacity":{"cpu":"1000m"}}}`,
			)},
			[]string{"demo/agent: nodes [n] pods [] revisions []", "other/agent: nodes [n] pods [] revisions []"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &dump.World{}
			for i, text := range tt.give {
				require.NoError(t, w.Read(fmt.Sprintf("f%d", i), strings.NewReader(text)))
			}
			assert.Empty(t, cmp.Diff(strings.Join(tt.want, "\n"), summarize(w.Sets())), tt.why)
			assert.Equal(t, strings.Contains(summarize(w.Sets()), "error"), w.Err() != nil)
		})
	}
}

func TestFaultsAreFoundByType(t *testing.T) {
	w := &dump.World{}
	require.NoError(t, w.Read("f", strings.NewReader(twoSets(`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"demo"}}`))))
	var fault *dump.ObjectError
	require.ErrorAs(t, w.Sets()[0].Err, &fault)
	assert.Equal(t, dump.Place{File: "f", Document: 1, Item: "items[2]"}, fault.Place)
	assert.Equal(t, "Pod", fault.Kind)
	assert.Equal(t, "demo", fault.Namespace)
}

func TestSetsAreOrderedByNamespaceAndName(t *testing.T) {
	w := &dump.World{}
	for i, id := range [][2]string{{"b", "a"}, {"a", "b"}, {"a-b", "a"}, {"a", "a"}} {
		text := strings.NewReplacer(`"demo"`, `"`+id[0]+`"`, `"name":"agent"`, `"name":"`+id[1]+`"`).Replace(setJSON)
		require.NoError(t, w.Read(fmt.Sprint(i), strings.NewReader(text)))
	}
	var got []string
	for _, set := range w.Sets() {
		got = append(got, set.Namespace+"/"+set.Name)
	}
	assert.Equal(t, []string{"a/a", "a/b", "a-b/a", "b/a"}, got)
}

func TestManagedFieldsAreDropped(t *testing.T) {
	w := &dump.World{}
	text := strings.Replace(setJSON, `"name"`, `"managedFields":[{"manager":"kubectl"}],"name"`, 1)
	require.NoError(t, w.Read("f", strings.NewReader(text)))
	assert.Empty(t, w.Sets()[0].Objects.DaemonSet.ManagedFields)
}

func TestRevisionDataKeepsItsValue(t *testing.T) {
	const want = `{"spec":{"a":1.5,"big":12345678901234567890,"html":"\u003ca\u003e","z":null}}`
	for _, data := range []string{
		`{"spec": {"z": null, "html": "<a>", "big": 12345678901234567890, "a": 1.5}}`,
		want,
	} {
		w := &dump.World{}
		revision := `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"r","namespace":"demo"},"data":` + data + "}"
		require.NoError(t, w.Read("f", strings.NewReader(setJSON+revision)))
		assert.Equal(t, want, string(w.Sets()[0].Objects.Revisions[0].Data.Raw))
	}
}
