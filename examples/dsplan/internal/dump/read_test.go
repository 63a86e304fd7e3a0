package dump_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/examples/dsplan/internal/dump"
)

// The objects that most tests read, each as YAML and as JSON.
const (
	setYAML = `apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: agent
  namespace: demo
spec:
  selector: {matchLabels: {app: agent}}
`
	nodeYAML = `apiVersion: v1
kind: Node
metadata:
  name: node-a
`
	podYAML = `apiVersion: v1
kind: Pod
metadata:
  name: agent-aaaaa
  namespace: demo
`
	revisionYAML = `apiVersion: apps/v1
kind: ControllerRevision
metadata:
  name: agent-1
  namespace: demo
data:
  spec: {template: {$patch: replace}}
revision: 3
`
	setJSON      = `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"agent","namespace":"demo"},"spec":{"selector":{"matchLabels":{"app":"agent"}}}}`
	nodeJSON     = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-a"}}`
	podJSON      = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"agent-aaaaa","namespace":"demo"}}`
	revisionJSON = `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"agent-1","namespace":"demo"},"data":{"spec":{"template":{"$patch":"replace"}}},"revision":3}`
)

// all is the four objects as a stream of YAML documents.
var all = strings.Join([]string{setYAML, nodeYAML, podYAML, revisionYAML}, "---\n")

// whole is what a World of the four objects looks like.
const whole = "demo/agent: nodes [node-a] pods [agent-aaaaa] revisions [agent-1 {\"spec\":{\"template\":{\"$patch\":\"replace\"}}}]"

// summarize prints a set: what belongs to it, and what is wrong with it.
func summarize(sets []dump.Set) string {
	var lines []string
	for _, set := range sets {
		var nodes, pods, revisions []string
		for _, node := range set.Objects.Nodes {
			nodes = append(nodes, node.Name)
		}
		for _, pod := range set.Objects.Pods {
			pods = append(pods, pod.Name)
		}
		for _, r := range set.Objects.Revisions {
			revisions = append(revisions, r.Name+" "+string(r.Data.Raw))
		}
		line := fmt.Sprintf("%s/%s: nodes %v pods %v revisions %v", set.Namespace, set.Name, nodes, pods, revisions)
		if set.Err != nil {
			line = fmt.Sprintf("%s/%s: error %v", set.Namespace, set.Name, set.Err)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// item makes a document an item of a YAML list.
func item(document string) string {
	return "- " + strings.ReplaceAll(strings.TrimSuffix(document, "\n"), "\n", "\n  ") + "\n"
}

func items(documents ...string) string {
	var text strings.Builder
	for _, document := range documents {
		text.WriteString(item(document))
	}
	return text.String()
}

func asUTF16(text string, mark string) string {
	var encoded strings.Builder
	encoded.WriteString(mark)
	for _, unit := range utf16.Encode([]rune(text)) {
		if mark == "\xff\xfe" {
			encoded.Write([]byte{byte(unit), byte(unit >> 8)})
		} else {
			encoded.Write([]byte{byte(unit >> 8), byte(unit)})
		}
	}
	return encoded.String()
}

func TestReadTakesEveryForm(t *testing.T) {
	listYAML := "apiVersion: v1\nitems:\n" + items(setYAML, nodeYAML, podYAML, revisionYAML) + "kind: List\nmetadata:\n  resourceVersion: \"\"\n"
	allJSON := strings.Join([]string{setJSON, nodeJSON, podJSON, revisionJSON}, ",")
	listJSON := `{"apiVersion":"v1","items":[` + allJSON + `],"kind":"List"}`
	indented := func(text string) string {
		var value any
		require.NoError(t, json.Unmarshal([]byte(text), &value))
		out, err := json.MarshalIndent(value, "", "    ")
		require.NoError(t, err)
		return string(out) + "\n"
	}
	untyped := func(text string) string {
		lines := strings.Split(text, "\n")
		return strings.Join(lines[2:], "\n")
	}
	tests := []struct {
		name, why string
		give      []string // one text a file
	}{
		{"documents", "what kubectl apply reads", []string{all}},
		{"documents with a first marker", "the marker before the first document opens it, no other", []string{"---\n" + all}},
		{"files", "one kind a file is how people save dumps", []string{setYAML, nodeYAML, podYAML, revisionYAML}},
		{"files in another order", "pods may come before their set", []string{revisionYAML, podYAML, nodeYAML, setYAML}},
		{"list", "what kubectl get -o yaml prints", []string{listYAML}},
		{
			"list with the items last", "members may come in any order",
			[]string{"kind: List\napiVersion: v1\nitems:\n" + items(setYAML, nodeYAML, podYAML, revisionYAML)},
		},
		{
			"list with indented items", "other tools indent sequences",
			[]string{"kind: List\napiVersion: v1\nitems:\n  " + strings.ReplaceAll(items(setYAML, nodeYAML, podYAML, revisionYAML), "\n", "\n  ") + "\n"},
		},
		{
			"list in brackets", "flow style is YAML too",
			[]string{"{apiVersion: v1, kind: List, items: [" + allJSON + "]}\n"},
		},
		{
			"list with comments and blank lines between", "people edit dumps",
			[]string{strings.ReplaceAll(listYAML, "\n- ", "\n\n# next\n- ")},
		},
		{
			"list with an alias", "an item that leans on another is only understood as a whole",
			[]string{"apiVersion: v1\nkind: List\nitems:\n" + items(setYAML, nodeYAML) + "- apiVersion: v1\n  kind: Pod\n  metadata: &meta {name: agent-aaaaa, namespace: demo}\n" +
				"- apiVersion: v1\n  kind: Pod\n  metadata: *meta\n" + items(revisionYAML)},
		},
		{
			"strings that look like list items", "a block scalar may hold anything",
			[]string{
				setYAML, "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata:\n    name: node-a\n    annotations:\n" +
					"      note: |\n        items:\n        - kind: Pod\n        ---\n        *x &x\n", podYAML, revisionYAML,
			},
		},
		{"JSON list", "what kubectl get -o json prints", []string{listJSON}},
		{"JSON list, indented", "kubectl indents by four", []string{indented(listJSON)}},
		{"JSON objects one after the other", "what jq prints", []string{setJSON + nodeJSON + "\n" + podJSON + "\n\n" + revisionJSON}},
		{"JSON documents", "YAML markers may part JSON", []string{setJSON + "\n---\n" + nodeJSON + "\n---\n" + podJSON + "\n---\n" + revisionJSON}},
		{"JSON and YAML in one file", "files are concatenated", []string{setYAML + "---\n" + nodeJSON + "\n---\n" + podYAML + "---\n" + revisionJSON}},
		{
			"kyaml", "what kubectl get -o kyaml prints: braces, names without quotes, trailing commas",
			[]string{all, "---\n{\n  apiVersion: \"v1\",\n  kind: \"Pod\",\n  metadata: {\n    name: \"agent-aaaaa\",\n    namespace: \"demo\",\n  },\n}\n"},
		},
		{"indented documents", "a document may be indented as a whole", []string{"  " + strings.ReplaceAll(strings.ReplaceAll(all, "\n", "\n  "), "  ---", "---")}},
		{
			"typed lists", "kubectl get --raw names the kind once",
			[]string{
				setJSON, revisionJSON,
				"apiVersion: v1\nkind: NodeList\nitems:\n" + item(untyped(nodeYAML)),
				"apiVersion: v1\nkind: PodList\nmetadata: {}\nitems:\n" + item(untyped(podYAML)),
			},
		},
		{
			"typed lists of the apps group", "items without kind are in the group of their list",
			[]string{
				podYAML, nodeYAML,
				"apiVersion: apps/v1\nkind: DaemonSetList\nitems:\n" + item(untyped(setYAML)),
				"apiVersion: apps/v1\nkind: ControllerRevisionList\nitems:\n" + item(untyped(revisionYAML)),
			},
		},
		{
			"older version", "the objects look alike in every version of their group",
			[]string{strings.Replace(all, "apps/v1\nkind: DaemonSet", "apps/v1beta2\nkind: DaemonSet", 1)},
		},
		{
			"lists in lists", "kubectl prints a List of typed lists for some inputs",
			[]string{`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"List","items":[` + allJSON + `]}]}`},
		},
		{
			"other kinds", "they are not looked at, and need not make sense",
			[]string{
				all, "apiVersion: v1\nkind: Service\nmetadata: 7\n",
				"apiVersion: example.com/v1\nkind: Pod\nmetadata: {name: other, namespace: demo}\n",
				"apiVersion: example.com/v1\nkind: DaemonSet\nmetadata: {name: other}\n",
				"apiVersion: example.com/v1\nkind: PodList\nitems: [7]\n",
				"apiVersion: example.com/v1\nkind: List\nitems: 7\n",
				"apiVersion: v1\nkind: ServiceList\nitems: 7\n",
			},
		},
		{
			"unknown fields", "a newer server has more of them",
			[]string{strings.Replace(all, "spec:\n  selector", "future: {a: [1]}\nspec:\n  future: true\n  selector", 1)},
		},
		{
			"names in another case", "the API is case-sensitive, so these are unknown fields",
			[]string{all, `{"apiVersion":"v1","kind":"Service","Kind":"Node"}`, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-a"},"Spec":7}`},
		},
		{"nulls", "an item of null is nothing", []string{`{"apiVersion":"v1","kind":"List","items":[null,` + allJSON + `,null]}`, `{"apiVersion":"v1","kind":"PodList","items":null}`, "null\n"}},
		{"empty documents", "they hold nothing", []string{"\n\n---\n# nothing\n---\n\n---\n" + all + "---\n", "", "# only a comment\n", "---\n---\n...\n"}},
		{"document end markers", "what follows is another document", []string{strings.ReplaceAll(all, "---\n", "...\n")}},
		{"marker with a comment", "it is a marker all the same", []string{strings.ReplaceAll(all, "---\n", "--- # next\n")}},
		{"directive", "it says nothing about the objects", []string{"%YAML 1.1\n---\n" + all}},
		{"byte order mark", "Windows editors write one", []string{"\ufeff" + setJSON + nodeJSON + podJSON, "\ufeff" + revisionYAML}},
		{"carriage returns", "Windows editors write them", []string{strings.ReplaceAll(listYAML, "\n", "\r\n"), strings.ReplaceAll(all, "\n", "\r\n"), strings.ReplaceAll(indented(listJSON), "\n", "\r\n")}},
		{"old carriage returns", "they are line breaks in YAML", []string{strings.ReplaceAll(all, "\n", "\r")}},
		{"UTF-16", "the shell of Windows redirects output so", []string{asUTF16(all, "\xff\xfe"), asUTF16(listJSON, "\xfe\xff")}},
		{
			"quotes in strings", "they do not end the string, nor do the braces in it the object",
			[]string{strings.Replace(setJSON, `"spec":{`, `"\"}":"\\\"}{","spec":{`, 1) + nodeJSON + podJSON + revisionJSON},
		},
		{"escaped names", "JSON may escape any character", []string{all, strings.Replace(podJSON, `"kind"`, `"\u006bind"`, 1)}},
		{"the same again", "files overlap, and a typed list does not say of each item what it is", []string{all, listYAML, listJSON, "apiVersion: v1\nkind: PodList\nitems:\n" + item(untyped(podYAML))}},
		{
			"no namespace", "such an object would be created in the default one; a null is no namespace either",
			[]string{
				all, "apiVersion: v1\nkind: Pod\nmetadata: {name: other}\n", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"more","namespace":null}}`,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &dump.World{}
			for i, text := range tt.give {
				require.NoError(t, w.Read(fmt.Sprintf("file-%d", i), strings.NewReader(text)), tt.why)
			}
			require.NoError(t, w.Err(), tt.why)
			assert.Empty(t, cmp.Diff(whole, summarize(w.Sets())), tt.why)
		})
	}
}

func TestReadReportsDocumentsThatDoNotParse(t *testing.T) {
	tests := []struct {
		name, why, give, want string
	}{
		{"cut off between lines", "kubectl prints the kind of a list last, so it is what is missing", "apiVersion: v1\nitems:\n" + items(podYAML), "document 1: has no kind; it may be cut off"},
		{"cut off in a string", "", "apiVersion: v1\nitems:\n" + items(podYAML) + "- kind: \"Po", "document 1: line 8: found unexpected end of stream"},
		{"cut off JSON", "", `{"apiVersion":"v1","items":[{"kind":"P`, "document 1: line 1, column 38: unexpected end of JSON input"},
		{"JSON syntax", "", "{\"apiVersion\":\"v1\",\n\n \"items\":[{,}]}", "document 1: line 3, column 12: invalid character ',' looking for beginning of object key string"},
		{"second document", "documents and lines are counted from the start of the file", podYAML + "---\n# comment\na: b\n c: d\n", "document 2: line 9: mapping values are not allowed in this context"},
		{"empty documents count", "a marker opens a document even if it is empty", "---\n" + podYAML + "---\n---\n[", "document 3: line 9: did not find expected node content"},
		{"comments before the first marker", "they are no document", "# dump\n---\n[", "document 1: line 3: did not find expected node content"},
		{"third JSON object", "objects one after the other are documents", nodeJSON + "\n" + podJSON + "\n{\"a\":}", "document 3: line 3, column 6: invalid character '}' looking for beginning of value"},
		{"JSON after a marker", "lines are counted from the start of the file", podYAML + "---\n\n{\"a\":\n}", "document 2: line 9, column 1: invalid character '}' looking for beginning of value"},
		{"rest after JSON", "it would be lost without a word", nodeJSON + " xyz", "document 2: is not an object"},
		{"rest after braces", "the parser stops at the brace; what follows would be lost", "{apiVersion: v1, kind: Node, metadata: {name: a}}\nrest: 1\n", "document 1: line 1: did not find expected '-' indicator"},
		{"entry after braces", "so would this", "{apiVersion: v1, kind: Node, metadata: {name: a}}\n- {}\n", "document 1: is more than one value"},
		{"rest after an indented object", "the parser stops at the first line that is less indented", "\n  apiVersion: v1\n  kind: Node\nrest: 1\n", "document 1: line 3: did not find expected '-' indicator"},
		{"entry after an indented object", "so would this", "  apiVersion: v1\n  kind: Node\n- a\n", "document 1: is more than one value"},
		{"object on the marker's line", "YAML has no such thing", "--- apiVersion: v1\nkind: Node\n", "document 1: yaml: mapping values are not allowed in this context"},
		{"no object", "", "hello\n", "document 1: is not an object"},
		{"array", "", "- a\n", "document 1: is not an object"},
		{"no kind", "it might be any that is needed", "apiVersion: v1\nmetadata: {}\n", "document 1: has no kind; it may be cut off"},
		{"kind of another type", "", `{"apiVersion":"v1","kind":7}`, "document 1: has no kind; it may be cut off"},
		{"no apiVersion", "a kind means nothing without its group", "kind: Pod\n", "document 1: has no apiVersion"},
		{"items is no list", "", "apiVersion: v1\nkind: List\nitems: {a: b}\n", "document 1: items is not a list"},
		{"items in items is no list", "", `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"PodList","items":7}]}`, "document 1: items[0].items is not a list"},
		{"tab", "", "a:\n\t- b\n", "document 1: line 2: found character that cannot start any token"},
		{"binary", "", "\x7fELF\x02\x01\x01\x00\x00\n\x90", "document 1: yaml: control characters are not allowed"},
		{"gzip", "the message says what to do", "\x1f\x8b\x08\x00", "document 1: is compressed; unpack it first: gzip -dc FILE | dsplan plan -f -"},
		{"half a character of UTF-16", "", "\xff\xfea", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &dump.World{}
			err := w.Read("dump", strings.NewReader(tt.give))
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, "dump: "+tt.want, tt.why)
			var syntax *dump.SyntaxError
			require.ErrorAs(t, err, &syntax)
			assert.Equal(t, "dump", syntax.File)
		})
	}
}

func TestObjectsWithoutNamespaceAreInTheDefaultOne(t *testing.T) {
	bare := strings.NewReplacer(`,"namespace":"demo"`, "")
	w := &dump.World{}
	node := strings.Replace(nodeJSON, `"name"`, `"namespace":"demo","name"`, 1)
	require.NoError(t, w.Read("f", strings.NewReader(bare.Replace(setJSON+podJSON+revisionJSON)+node)))
	require.Len(t, w.Sets(), 1)
	got := w.Sets()[0]
	assert.Equal(t, "default", got.Namespace)
	assert.Equal(t, "default", got.Objects.DaemonSet.Namespace)
	assert.Equal(t, "default", got.Objects.Pods[0].Namespace)
	assert.Equal(t, "default", got.Objects.Revisions[0].Namespace)
	assert.Empty(t, got.Objects.Nodes[0].Namespace)
}

func TestReadReportsReaders(t *testing.T) {
	err := (&dump.World{}).Read("dump", brokenReader{})
	require.ErrorIs(t, err, errBroken)
	assert.EqualError(t, err, "dump: broken")
}
