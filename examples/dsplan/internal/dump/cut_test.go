package dump_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/examples/dsplan/internal/dump"
)

// TestCutOff: what was cut off in a place where it still reads well is an error all the same,
// because a plan without the rest would create pods again.
func TestCutOff(t *testing.T) {
	tests := []struct {
		name string
		give string
		want string
	}{
		{"in the kind", "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata: {name: a}\nkind: Lis\n", `has items, but "Lis" is no list`},
		{"a kind in small letters", `{"apiVersion":"v1","kind":"list","items":[]}`, `has items, but "list" is no list`},
		{"a list of another group", `{"apiVersion":"v1","kind":"DaemonSetList","items":[{}]}`, `has items, but "DaemonSetList" is no list`},
		{"before the items", `{"apiVersion":"v1","kind":"NodeList"}`, "is a list without items"},
		{"a document after a next line", "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n\u0085---\nkind: Node\n", "U+0085"},
		{"a document after a line separator", "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n\u2028---\nkind: Node\n", "U+2028"},
		{"an alias after a next line", "a: &a " + strings.Repeat("x", 1000) + "\nb: [" + strings.Repeat("\u0085*a,", 1000) + "]\n", "U+0085"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := (&dump.World{}).Read("file", strings.NewReader(tt.give))
			require.ErrorContains(t, err, tt.want)
			require.ErrorContains(t, err, "file: document 1: ")
		})
	}
	require.NoError(t, (&dump.World{}).Read("file", strings.NewReader(`{"apiVersion":"v1","kind":"ServiceList","items":[{}]}`)))
	require.NoError(t, (&dump.World{}).Read("file", strings.NewReader("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"a\",\"annotations\":{\"k\":\"\u2028\"}}}")))
}
