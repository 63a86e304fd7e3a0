package command_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/daemonset/simulate"
	"github.com/daemonplan/daemonplan/examples/dsplan/internal/command"
)

// terminal is a writer that says it is a character device.
type terminal struct{ strings.Builder }

func (*terminal) Stat() (fs.FileInfo, error) { return device{}, nil }

type device struct{ fs.FileInfo }

func (device) Mode() fs.FileMode { return fs.ModeDevice | fs.ModeCharDevice }

func TestScreen(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer func() { require.NoError(t, read.Close()); require.NoError(t, write.Close()) }()
	t.Setenv("COLUMNS", "120")
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	for _, w := range []interface{ Write([]byte) (int, error) }{file, write, &strings.Builder{}} {
		colour, width := command.Looks(w)
		assert.False(t, colour)
		assert.Equal(t, 80, width, "COLUMNS is of the terminal, not of the file")
	}
	colour, width := command.Looks(&terminal{})
	assert.True(t, colour)
	assert.Equal(t, 120, width)
	t.Setenv("COLUMNS", "")
	_, width = command.Looks(&terminal{})
	assert.Equal(t, 80, width, "one that does not say")
	t.Setenv("NO_COLOR", "1")
	colour, _ = command.Looks(&terminal{})
	assert.False(t, colour)
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "dumb")
	colour, _ = command.Looks(&terminal{})
	assert.False(t, colour)
}

func TestProgress(t *testing.T) {
	steps := []simulate.Progress{
		{Desired: 300, Settled: 0},
		{Desired: 300, Settled: 1, At: time.Second}, // looks the same
		{Desired: 300, Settled: 300, At: time.Minute},
		{},
	}
	silent := &strings.Builder{}
	command.ShowProgress(silent, steps...)
	assert.Empty(t, silent.String())
	w := &terminal{}
	command.ShowProgress(w, steps...)
	empty, full := strings.Repeat(".", 30), strings.Repeat("#", 30)
	assert.Equal(t, "\rdemo/agent ["+empty+"] 0 of 300 nodes, 0s\x1b[K"+
		"\rdemo/agent ["+full+"] 300 of 300 nodes, 1m0s\x1b[K\r\x1b[K", w.String())
}

// TestStrips: half of the time one state, half another, each in its colour.
func TestStrips(t *testing.T) {
	r := simulate.Result{Duration: 10 * time.Second, Nodes: []simulate.Node{
		{Name: "a", Spans: []simulate.Stretch{{State: simulate.Outdated}, {From: 5 * time.Second, State: simulate.Updated}}},
		{Name: "idle", Spans: []simulate.Stretch{{State: simulate.Idle}}},
	}}
	assert.Equal(t, "a |\x1b[38;5;245m.....\x1b[38;5;33m#####\x1b[0m|\n   0s     10s\n# updated   .\n    outdated\n1 other node has and gets no pod of the set\n", command.Strips(r, 14))
}

// TestStripsOfMany: neighbours share lines, and the state of most of them is shown.
func TestStripsOfMany(t *testing.T) {
	r := simulate.Result{Duration: time.Second}
	for i := range 100 {
		state := simulate.Updated
		if i%3 == 0 {
			state = simulate.Broken
		}
		r.Nodes = append(r.Nodes, simulate.Node{Name: "n" + string(rune('a'+i%26)), Zone: string(rune('y' + i%2)), Spans: []simulate.Stretch{{State: state}}})
	}
	text := command.Strips(r, 40)
	assert.Equal(t, 34+2+1+1, strings.Count(text, "\n"), "three nodes a line, 17 lines a zone, the zones, the times, and what the marks are")
	assert.Equal(t, "y\n", text[:2])
	assert.Contains(t, text, "|\nz\n")
	assert.Contains(t, text, " +2 |")
}
