package controllerruntime_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestREADME keeps the code in the README that of the examples, which are compiled.
func TestREADME(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, example := range []struct{ file, function string }{
		{"example_test.go", "func ExampleSetupWithManager() {"},
		{"example_fake_test.go", "func ExampleNew() {"},
	} {
		source, err := os.ReadFile(example.file)
		require.NoError(t, err)
		_, body, ok := strings.Cut(string(source), example.function)
		require.True(t, ok, example.function)
		_, body, _ = strings.Cut(body, "\n") // a remark for linters
		body, _, _ = strings.Cut(body, "\n}\n")
		body, _, _ = strings.Cut(body, "\n\t// Output:")
		require.Contains(t, string(readme), "```go\n"+example.function+"\n"+body+"\n}\n```\n")
	}
}
