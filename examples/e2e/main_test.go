package e2e_test

import (
	"os"
	"testing"

	"github.com/daemonplan/daemonplan/examples/e2e/components"
)

func TestMain(m *testing.M) {
	components.Dispatch()
	os.Exit(m.Run())
}
