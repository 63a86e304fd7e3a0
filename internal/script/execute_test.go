package script_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/internal/script"
)

// echo prints what it is told, and nothing for "quiet".
type echo struct{}

func (echo) Run(command string) (string, error) {
	switch command {
	case "quiet":
		return "", nil
	case "fail":
		return "", errors.New("no such thing")
	case "hole":
		return "a\n\nb\n", nil
	}
	return command, nil
}

func TestExecute(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, why, give, want string
	}{
		{
			name: "replaces the output",
			why:  "what a script says and what is printed can then be compared",
			give: "say a\n----\nold\nlines\n",
			want: "say a\n----\nsay a\n",
		},
		{
			name: "keeps comments and empty lines",
			why:  "the comments are the specification",
			give: "# one\n\n# two\nsay a\n# three\nsay b\n----\n\n\n# four\n",
			want: "# one\n\n# two\nsay a\n# three\nsay b\n----\nsay a\nsay b\n\n\n# four\n",
		},
		{
			name: "says ok for nothing",
			why:  "a block without output would look as if nobody had run it",
			give: "quiet\n----\n",
			want: "quiet\n----\nok\n",
		},
		{
			name: "ends the output at an empty line",
			why:  "the next block must not be taken for output",
			give: "say a\n----\nold\n\nsay b\n----\nold\n",
			want: "say a\n----\nsay a\n\nsay b\n----\nsay b\n",
		},
		{
			name: "takes a comment in the output for output",
			why:  "a comment without an empty line before it would move into the next block",
			give: "say a\n----\n# old\n",
			want: "say a\n----\nsay a\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := script.Execute(tt.give, echo{})
			require.NoError(t, err, tt.why)
			assert.Equal(t, tt.want, got, tt.why)
			again, err := script.Execute(got, echo{})
			require.NoError(t, err)
			assert.Equal(t, got, again, "a script that was written anew does not change again")
		})
	}
}

func TestExecuteErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, why, give, want string
	}{
		{
			name: "command that fails",
			why:  "a misspelt command must not become part of a golden",
			give: "say a\n\nfail\n----\n",
			want: "line 3: fail: no such thing",
		},
		{
			name: "divider without commands",
			why:  "there is nothing that could have printed",
			give: "# only this\n----\nx\n",
			want: "line 2: ---- without commands",
		},
		{
			name: "commands without divider",
			why:  "their output would be checked nowhere",
			give: "say a\n",
			want: "the last commands have no ---- after them",
		},
		{
			name: "output with an empty line",
			why:  "it would be read back as the end of the output",
			give: "hole\n----\n",
			want: "line 1: hole: prints an empty line, which ends a block",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := script.Execute(tt.give, echo{})
			require.EqualError(t, err, tt.want, tt.why)
		})
	}
}
