package e2e_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/daemonplan/daemonplan/examples/controller/manifests"

	"github.com/daemonplan/daemonplan/examples/e2e/components"
	"github.com/daemonplan/daemonplan/examples/e2e/controlplane"
)

// atOnce is how many scenarios run at the same time. They mostly wait.
const atOnce = "12"

func TestMain(m *testing.M) {
	components.Dispatch()
	flag.Parse()
	_ = flag.Set("test.parallel", atOnce)
	code := m.Run()
	if err := shared.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "control plane:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// shared is the control plane of all tests. It is started for the first one that asks.
var shared planeOnce

type planeOnce struct {
	once  sync.Once
	plane *controlplane.Plane
	err   error
}

// stop ends the control plane if there is one.
func (o *planeOnce) stop() error {
	o.once.Do(func() { o.err = errors.New("the tests are over") })
	if o.plane == nil {
		return nil
	}
	return o.plane.Stop()
}

// thePlane returns the shared control plane, and prints its logs at the end of a test that
// failed.
func thePlane(t *testing.T) *controlplane.Plane {
	t.Helper()
	shared.once.Do(func() {
		users := []controlplane.User{withCredentials()}
		for _, s := range subjects() {
			users = append(users, s.user)
		}
		// It outlives the test that happens to be the first.
		shared.plane, shared.err = controlplane.Start(context.Background(), controlplane.Options{Users: users, Counted: users})
		if shared.err == nil {
			shared.err = grant(shared.plane)
		}
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.plane
}

// grant gives the controller the rights of its manifest, so that one that is missing shows.
func grant(plane *controlplane.Plane) error {
	_, err := plane.KubectlWith(context.Background(), string(manifests.RBAC), "apply", "-f", "-")
	return err
}
