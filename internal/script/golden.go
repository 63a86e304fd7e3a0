package script

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// updateVariable makes Run write the output it sees into the scripts.
const updateVariable = "UPDATE_GOLDEN"

// Run runs every script that matches pattern, each with a runner of its own, and fails
// where a script prints anything else than it says. With UPDATE_GOLDEN=1 in the
// environment it writes the output into the scripts instead. It fails when there is no
// script at all.
func Run(t *testing.T, pattern string, start func() Runner) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, paths, "no script matches %s", pattern)
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), func(t *testing.T) {
			runFile(t, path, start())
		})
	}
}

func runFile(t *testing.T, path string, r Runner) {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	want := string(content)
	got, err := Execute(want, r)
	require.NoError(t, err, "%s", path)
	if got == want {
		return
	}
	if os.Getenv(updateVariable) == "" {
		t.Errorf("%s prints something else (-script +now); %s=1 writes it:\n%s", path, updateVariable, cmp.Diff(want, got))
		return
	}
	require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
}
