package command_test

import (
	"flag"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/examples/controller/command"
)

// The table of flags in the README has every flag, no other, and the defaults.
func TestReadmeHasTheFlags(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	stated := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `--?([a-z-]+)` \\| (.*?) ?\\|").FindAllStringSubmatch(string(text), -1) {
		stated[row[1]] = row[2]
	}
	actual := map[string]string{}
	command.Flags().VisitAll(func(f *flag.Flag) {
		switch {
		case f.Name == "leader-elect-resource-name": // it depends on the class
			actual[f.Name] = "`daemonplan-controller`, then `-CLASS`"
		case f.DefValue == "":
			actual[f.Name] = ""
		default:
			actual[f.Name] = "`" + f.DefValue + "`"
		}
	})
	assert.Equal(t, actual, stated)
}
