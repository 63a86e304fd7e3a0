package hygiene_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/internal/hygiene"
)

const (
	root   = "../.." // of the module
	module = "github.com/daemonplan/daemonplan"
)

// sample writes a module named example.com/m, which needs no other module.
func sample(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if files["go.mod"] == "" {
		write(t, filepath.Join(dir, "go.mod"), "module example.com/m\n\ngo 1.26\n")
	}
	for name, content := range files {
		write(t, filepath.Join(dir, name), content)
	}
	return dir
}

func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

// packages lists every package of this module. The go command reads the source where the
// test's cache does not see it, so each file is looked at here as well: without that, a
// cached result would outlive a change in a package that this one does not import.
func packages(t *testing.T) []hygiene.Package {
	t.Helper()
	list, err := hygiene.List(root)
	require.NoError(t, err)
	require.NotEmpty(t, list)
	noticeChanges(t)
	return list
}

// sources loads the packages of this module that plan.
func sources(t *testing.T) []hygiene.Source {
	t.Helper()
	list, err := hygiene.Load(root, "./placement", "./rollout", "./daemonset")
	require.NoError(t, err)
	require.Len(t, list, 3)
	noticeChanges(t)
	return list
}

// tellers loads the packages of this module that explain plans.
func tellers(t *testing.T) []hygiene.Source {
	t.Helper()
	list, err := hygiene.Load(root, "./daemonset/...")
	require.NoError(t, err)
	list = slices.DeleteFunc(list, func(s hygiene.Source) bool { return s.Package.ImportPath == module+"/daemonset" })
	require.NotEmpty(t, list)
	noticeChanges(t)
	return list
}

func noticeChanges(t *testing.T) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == ".git" {
			return filepath.SkipDir
		}
		return err
	}))
}

// loadSample loads every package of a sample.
func loadSample(t *testing.T, files map[string]string) []hygiene.Source {
	t.Helper()
	list, err := hygiene.Load(sample(t, files), "./...")
	require.NoError(t, err)
	return list
}

// report fails the test once for each problem.
func report(t *testing.T, problems []string) {
	t.Helper()
	for _, problem := range problems {
		t.Error(problem)
	}
}

// requireProblems demands exactly the problems that contain the wanted texts, in order.
func requireProblems(t *testing.T, problems, want []string) {
	t.Helper()
	require.Len(t, problems, len(want), "%q", problems)
	for i, text := range want {
		require.Contains(t, problems[i], text)
	}
}
