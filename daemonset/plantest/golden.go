package plantest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/daemonplan/daemonplan/daemonset"
)

// T is what the helpers use of *testing.T.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Golden compares a plan, as [daemonset.Describe] renders it, with a file, and fails the test
// with the lines that differ. With UPDATE_GOLDEN set to anything it writes the file instead,
// and the folder it is in. Read the difference before it is committed: a golden that changes
// is behaviour that changes.
func Golden(t T, file string, plan daemonset.Plan) {
	t.Helper()
	GoldenText(t, file, daemonset.Describe(plan))
}

// GoldenText is Golden for any text, such as that of a simulation.
func GoldenText(t T, file, got string) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := write(file, got); err != nil {
			t.Fatalf("plantest: %v", err)
		}
		return
	}
	want, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.Fatalf("plantest: there is no %s yet; UPDATE_GOLDEN=1 writes it", file)
		return
	case err != nil:
		t.Fatalf("plantest: %v", err)
		return
	}
	// A checkout may have other line ends.
	lines := strings.Split(strings.ReplaceAll(string(want), "\r\n", "\n"), "\n")
	if diff := cmp.Diff(lines, strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs (-file +now; UPDATE_GOLDEN=1 writes it anew):\n%s", file, diff)
	}
}

func write(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o600)
}

// Compute is [daemonset.Compute] with the defaults; an error ends the test.
func Compute(t T, s daemonset.Snapshot) daemonset.Plan {
	t.Helper()
	plan, err := daemonset.Compute(s, daemonset.Options{})
	if err != nil {
		t.Fatalf("plantest: %v", err)
	}
	return plan
}
