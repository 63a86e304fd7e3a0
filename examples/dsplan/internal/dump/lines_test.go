package dump_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/examples/dsplan/internal/dump"
)

var errBroken = errors.New("broken")

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errBroken }

// readLines prints what each line of a file holds, or why it could not be read.
func readLines(r io.Reader) []string {
	var got []string
	for snapshot, err := range dump.Lines("many.jsonl", r) {
		if err != nil {
			got = append(got, "error "+err.Error())
			continue
		}
		got = append(got, summarize(snapshot.World.Sets()))
	}
	return got
}

func TestLinesAreWorldsOfTheirOwn(t *testing.T) {
	tests := []struct {
		name, why string
		give      string
		want      []string
	}{
		{"none", "an empty file has no snapshots", "", nil},
		{
			"two", "nothing passes from one to the next", setJSON + "\n" + `{"apiVersion":"v1","kind":"List","items":[` + setJSON + "," + nodeJSON + "]}\n",
			[]string{"demo/agent: nodes [] pods [] revisions []", "demo/agent: nodes [node-a] pods [] revisions []"},
		},
		{
			"no line feed at the end, blank lines, carriage returns and a byte order mark", "none of them is a snapshot",
			"\ufeff\r\n" + setJSON + "\r\n\r\n  \n" + setJSON,
			[]string{"demo/agent: nodes [] pods [] revisions []", "demo/agent: nodes [] pods [] revisions []"},
		},
		{
			"broken line", "the lines around it are whole", setJSON + "\n\n{\"a\":,}\n" + setJSON + "\n", []string{
				"demo/agent: nodes [] pods [] revisions []",
				"error many.jsonl: document 2: line 3, column 6: invalid character ',' looking for beginning of value",
				"demo/agent: nodes [] pods [] revisions []",
			},
		},
		{
			"not JSON", "YAML and other values are no snapshots; null is not one either", "a: b\n7\nnull\n{} {}\n{}\n", []string{
				"error many.jsonl: document 1: is not an object",
				"error many.jsonl: document 2: is not an object",
				"error many.jsonl: document 3: is not an object",
				"error many.jsonl: document 4: line 4, column 4: invalid character '{' after top-level value",
				"error many.jsonl: document 5: has no kind; it may be cut off",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, readLines(strings.NewReader(tt.give)), tt.why)
		})
	}
}

func TestLinesMayBeLong(t *testing.T) {
	long := strings.Replace(setJSON, `"name":"agent"`, `"annotations":{"a":"`+strings.Repeat("x", 8<<20)+`"},"name":"agent"`, 1)
	assert.Equal(t, []string{"demo/agent: nodes [] pods [] revisions []"}, readLines(strings.NewReader(long+"\n")))
}

func TestLinesEndWithTheReadersError(t *testing.T) {
	got := readLines(io.MultiReader(strings.NewReader(setJSON+"\n"), brokenReader{}))
	assert.Equal(t, []string{"demo/agent: nodes [] pods [] revisions []", "error many.jsonl: broken"}, got)
}

func TestLinesStopWhenAsked(t *testing.T) {
	count := 0
	for _, err := range dump.Lines("many.jsonl", strings.NewReader(strings.Repeat(setJSON+"\n", 3))) {
		require.NoError(t, err)
		count++
		break
	}
	assert.Equal(t, 1, count)
}
