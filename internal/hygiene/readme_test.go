package hygiene_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestREADME keeps the code in the READMEs that of the package examples, which are compiled
// and run, and in the first one what it says they print.
func TestREADME(t *testing.T) {
	tests := []struct{ readme, file, function string }{
		{"README.md", "daemonset/example_test.go", "func ExampleCompute() {"},
		{"README.md", "clusterapi/example_test.go", "func Example() {"},
		{"clusterapi/clientgo/README.md", "clusterapi/clientgo/example_test.go", "func ExampleController() {"},
		{"clusterapi/clientgo/README.md", "clusterapi/clientgo/example_fake_test.go", "func ExampleNew_fakeClientset() {"},
		{"clusterapi/controllerruntime/README.md", "clusterapi/controllerruntime/example_test.go", "func ExampleSetupWithManager() {"},
		{"clusterapi/controllerruntime/README.md", "clusterapi/controllerruntime/example_fake_test.go", "func ExampleNew() {"},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			readme, err := os.ReadFile(filepath.Join(root, tt.readme))
			require.NoError(t, err)
			source, err := os.ReadFile(filepath.Join(root, tt.file))
			require.NoError(t, err)
			_, body, ok := strings.Cut(string(source), tt.function)
			require.True(t, ok, tt.function)
			_, body, _ = strings.Cut(body, "\n") // a remark for linters
			body, _, ok = strings.Cut(body, "\n}\n")
			require.True(t, ok, tt.function)
			code, output, prints := strings.Cut(body, "\n\t// Output:")
			require.Contains(t, string(readme), "```go\n"+tt.function+"\n"+code+"\n}\n```\n")
			if tt.readme == "README.md" {
				require.True(t, prints, tt.function)
				output = strings.TrimSpace(strings.ReplaceAll("\n"+output, "\n\t// ", "\n"))
				require.Contains(t, string(readme), "```\n"+output+"\n```\n")
			}
		})
	}
}
