package hygiene_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestREADME keeps the code in the README that of the package examples, which are compiled
// and run, and what it says they print.
func TestREADME(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	for _, example := range []struct{ file, function string }{
		{"daemonset/example_test.go", "func ExampleCompute() {\n"},
		{"clusterapi/example_test.go", "func Example() {\n"},
	} {
		source, err := os.ReadFile(filepath.Join(root, example.file))
		require.NoError(t, err)
		_, body, ok := strings.Cut(string(source), example.function)
		require.True(t, ok, example.file)
		body, _, ok = strings.Cut(body, "\n}\n")
		require.True(t, ok, example.file)
		code, output, ok := strings.Cut(body, "\t// Output:")
		require.True(t, ok, example.file)
		require.Contains(t, string(readme), "```go\n"+example.function+code+"}\n```\n")
		output = strings.TrimSpace(strings.ReplaceAll("\n"+output, "\n\t// ", "\n"))
		require.Contains(t, string(readme), "```\n"+output+"\n```\n")
	}
}
