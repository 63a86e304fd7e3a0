package dump_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/examples/dsplan/internal/dump"
)

func TestListsOfKubectlAreConvertedItemByItem(t *testing.T) {
	cases, err := filepath.Glob("../../testdata/cases/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, cases)
	for _, name := range append(cases, "../../testdata/fleet.yaml") {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		got, ok := dump.ListToJSON(text)
		require.True(t, ok, name)
		want, err := dump.WholeToJSON(text)
		require.NoError(t, err)
		assert.JSONEq(t, string(want), string(got), name)
	}
}

func TestListsAreTakenApartOnlyWhereItIsSafe(t *testing.T) {
	tests := []struct {
		name, why, give string
		want            bool
	}{
		{"only items", "no List is without a kind", "items:\n- a\n- b\n", false},
		{"other members around", "", "a: 1\nitems:\n- a\n- b\nc: 2\n", true},
		{"braces before", "as a whole it is no YAML", "{}\nitems:\n- a\n", false},
		{"indented members before", "items is no member of the same mapping", " a: 1\nitems:\n- b\n", false},
		{"indented member on the line of a marker", "as above", "--- a: 1\nitems:\n- b\n", false},
		{"indented", "", "a: 1\nitems:\n  - a\n  -\n    b: 1\n  - c\nb: 2\n", true},
		{"sequences in items", "only the outer dashes part items", "k: v\nitems:\n- a:\n  - 1\n  - 2\n- - 3\n  - 4\n", true},
		{"folded strings", "text in an item is part of it", "k: v\nitems:\n- a: >\n    x\n\n    - y\n- b\n", true},
		{"not a list", "", "a: 1\n", false},
		{"items on the same line", "", "items: [a, b]\n", false},
		{"no items", "", "items:\nkind: List\n", false},
		{"items twice", "the last one counts, which a part does not know", "k: v\nitems:\n- a\nitems:\n- b\n", false},
		{"in a string", "the quotes are closed after what looks like items", "a: \"x\nitems:\n- b\"\n", false},
		{"in a string that goes on", "what is before the items is no mapping by itself", "a: \"x\nitems:\n- b\n\"\n", false},
		{"in a string that goes on like a member", "what is before the items is no mapping by itself", "a: \"x\nitems:\n- b\nc: d\"\n", false},
		{"at the root of a block scalar", "the frame is no mapping", "|\nitems:\n- a\n", false},
		{"alias to another item", "an item does not convert by itself", "k: v\nitems:\n- &a x\n- *a\n", false},
		{"brackets across dashes", "an item does not convert by itself", "k: v\nitems:\n- [a,\n- b]\n", false},
		{"broken item", "the whole tells the right line", "k: v\nitems:\n- a: b: c\n", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := dump.ListToJSON([]byte(tt.give))
			require.Equal(t, tt.want, ok, tt.why)
			if ok {
				want, err := dump.WholeToJSON([]byte(tt.give))
				require.NoError(t, err)
				assert.JSONEq(t, string(want), string(got), tt.why)
			}
		})
	}
}

// FuzzListToJSON holds the conversion of lists item by item to that of the whole.
func FuzzListToJSON(f *testing.F) {
	for _, seed := range []string{
		"apiVersion: v1\nkind: List\nitems:\n" + items(setYAML, podYAML) + "metadata: {}\n",
		"items:\n- a\n- b\nitems:\n- c\n", "a: \"x\nitems:\n- b\"\n", "|\nitems:\n- a\n", "a: &x 1\nitems:\n- *x\n- {a: [\n- b]}\n",
		"items:\n  - a: 'x\n  - y'\n", "items:\n- a: |2\n    b\n -\n- # c\n", "items:\n- ? a\n- !!str 1\n#\n-\n", "items:\n- a: b\n  c\n- d\nz: 1\n- e\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 || strings.Contains(text, "\r") || strings.Contains(text, "\n---") || strings.Contains(text, "\n...") {
			t.Skip("not one document as the reader hands it on")
		}
		got, ok := dump.ListToJSON([]byte(text))
		if !ok {
			return
		}
		want, err := dump.WholeToJSON([]byte(text))
		require.NoError(t, err)
		var gotValue, wantValue any
		require.NoError(t, json.Unmarshal(got, &gotValue))
		require.NoError(t, json.Unmarshal(want, &wantValue))
		require.Equal(t, wantValue, gotValue)
	})
}
