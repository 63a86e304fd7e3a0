package daemonset_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestREADME keeps the code and the output in the README those of ExampleCompute.
func TestREADME(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	source, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	_, example, ok := strings.Cut(string(source), "func ExampleCompute() {\n")
	require.True(t, ok)
	code, output, ok := strings.Cut(example, "\t// Output:\n")
	require.True(t, ok)
	require.Contains(t, string(readme), "```go\nfunc ExampleCompute() {\n"+code+"}\n```\n")
	output = strings.ReplaceAll(strings.TrimSuffix(output, "}\n"), "\t// ", "")
	require.Contains(t, string(readme), "```\n"+output+"```\n")
}
