package command_test

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/examples/dsplan/internal/command"
)

func TestDress(t *testing.T) {
	for _, tt := range []struct {
		name, give string
		width      int
		colour     bool
		want       string
	}{
		{"short", "node a  Run\n", 20, true, "node a  Run\n"},
		{"title", "# demo/agent\n", 20, true, "\x1b[1m# demo/agent\x1b[0m\n"},
		{"first word", "  waits: MissingPod\n", 40, true, "  \x1b[38;5;220mwaits:\x1b[0m MissingPod\n"},
		{"only word", "unchanged:\n", 40, true, "\x1b[38;5;245munchanged:\x1b[0m\n"},
		{"no colour", "# a\n  waits: MissingPod\n", 40, false, "# a\n  waits: MissingPod\n"},
		{"broken between words", "  now one two three\n", 12, false, "  now one\n      two\n      three\n"},
		{"exactly as wide", "  now one two\n", 13, false, "  now one two\n"},
		{"a word that does not fit", "because abcdefghijklmnop of it\n", 10, false, "because\n    abcdefghijklmnop\n    of it\n"},
		{"colours take no room", "  now one two\n", 13, true, "  \x1b[38;5;33mnow\x1b[0m one two\n"},
		{"only the first row is coloured", "  now now now\n", 8, true, "  \x1b[38;5;33mnow\x1b[0m\n      now\n      now\n"},
		{"characters are counted, not bytes", "äöü äöü\n", 7, false, "äöü äöü\n"},
		{"a terminal of no width to speak of", "  a b c\n", 1, false, "  a\n      b\n      c\n"},
		{"empty line", "a\n\nb\n", 5, true, "a\n\nb\n"},
		{"nothing", "", 5, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, command.Dress(tt.give, tt.width, tt.colour))
		})
	}
}

// TestTerminalSaysTheSame: what a terminal shows is what a pipe gets, in narrow rows and with
// colours, which carry nothing that the words do not.
func TestTerminalSaysTheSame(t *testing.T) {
	colours := regexp.MustCompile("\x1b\\[[0-9;]*m")
	const fleet = "../../testdata/fleet.yaml"
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	t.Setenv("COLUMNS", "72")
	for _, args := range [][]string{
		{"plan", "-f", fleet},
		{"explain", "-f", fleet},
		{"explain", "-f", fleet, "worker-6"},
		{"status", "-f", fleet},
		{"diff", "-f", fleet, "-with", "../../testdata/changes/tolerations.yaml"},
	} {
		run := func(streams command.Streams) { command.Run(args, streams, noon) }
		piped, shown, bare := &strings.Builder{}, &terminal{}, &terminal{}
		run(command.Streams{Out: piped, Err: &strings.Builder{}})
		run(command.Streams{Out: shown, Err: &strings.Builder{}})
		require.NotContains(t, piped.String(), "\x1b", args)
		assert.Regexp(t, colours, shown.String(), args)
		plain := colours.ReplaceAllString(shown.String(), "")
		assert.Equal(t, strings.Fields(piped.String()), strings.Fields(plain), args)
		for row := range strings.Lines(plain) {
			words := strings.Fields(row)
			assert.True(t, utf8.RuneCountInString(strings.TrimSuffix(row, "\n")) <= 72 || len(words) == 1, "%s: %q", args, row)
		}
		t.Setenv("NO_COLOR", "1")
		run(command.Streams{Out: bare, Err: &strings.Builder{}})
		t.Setenv("NO_COLOR", "")
		assert.Equal(t, plain, bare.String(), args)
	}
}

func noon() time.Time { return time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC) }
