package controllerruntime_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestREADME keeps the code in the README that of the example, which is compiled.
func TestREADME(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	source, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	const start = "func ExampleSetupWithManager() {\n"
	const compiledOnly = " //nolint:testableexamples // it needs a cluster"
	_, body, ok := strings.Cut(strings.Replace(string(source), compiledOnly, "", 1), start)
	require.True(t, ok)
	require.Contains(t, string(readme), "```go\n"+start+body+"```\n")
}
