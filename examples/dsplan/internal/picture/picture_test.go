package picture_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/simulate"
	"github.com/daemonplan/daemonplan/examples/dsplan/internal/picture"
)

// TestWrite: equal results give equal pages, and what a name holds ends no element.
func TestWrite(t *testing.T) {
	r := simulate.Result{
		For:   daemonset.Ref{Namespace: "</title>", Name: "</script>{{style}}"},
		Waits: []simulate.Wait{{Reason: daemonset.PodNotReady, Nodes: []string{"a", "b"}}},
		Zones: []simulate.Zone{{Name: "z", Nodes: 1}, {Name: "empty"}},
		Nodes: []simulate.Node{
			{Name: "</script>", Zone: "z", Eligible: true, Spans: []simulate.Stretch{{State: simulate.Missing}}},
			{Name: "idle", Zone: "empty", Spans: []simulate.Stretch{{State: simulate.Idle}}},
		},
	}
	var first, second bytes.Buffer
	require.NoError(t, picture.Write(&first, []simulate.Result{r}))
	require.NoError(t, picture.Write(&second, []simulate.Result{r}))
	assert.Equal(t, first.String(), second.String())
	assert.Equal(t, 2, strings.Count(first.String(), "</script>"))
	assert.Equal(t, 1, strings.Count(first.String(), "</title>"))
	assert.Contains(t, first.String(), `{{style}}`, "names are no places of the page")
	assert.Contains(t, first.String(), `"apart":1`)
	assert.Contains(t, first.String(), `"waits":["PodNotReady  a, b"]`)
	assert.NotContains(t, first.String(), `"name":"empty"`)
}
