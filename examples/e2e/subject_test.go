package e2e_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/examples/e2e/components"
	"github.com/daemonplan/daemonplan/examples/e2e/controlplane"
)

// only is the environment variable that names the one controller to test. Without it, all
// are tested, and what they answer is compared.
const only = "DAEMONPLAN_E2E_CONTROLLER"

// subject is a controller that the tests are run with.
type subject struct {
	name      string
	component string
	user      controlplane.User
	args      func(launch) []string
}

// launch says how to start a controller.
type launch struct {
	server  string // empty is the API server itself
	elect   bool   // take part in an election of short leases
	qps     int    // zero is enough for everything
	replica string // tells replicas apart in the names of logs
	follow  bool   // plan from what has changed; the stock controller knows nothing of the kind
}

func (l launch) limit() int {
	if l.qps == 0 {
		return 500
	}
	return l.qps
}

func subjects() []subject {
	return []subject{
		{
			name: "daemonplan", component: components.Controller, args: daemonplanArgs,
			user: controlplane.ServiceAccount("daemonplan-system", "daemonplan-controller"),
		},
		{name: "stock", component: components.ControllerManager, user: controlplane.StockController(), args: stockArgs},
	}
}

func daemonplanArgs(l launch) []string {
	args := []string{
		"--listen=", fmt.Sprintf("--kube-api-qps=%d", l.limit()), fmt.Sprintf("--kube-api-burst=%d", 2*l.limit()),
		fmt.Sprintf("--follow=%t", l.follow), "--leader-elect-resource-namespace=daemonplan-system", fmt.Sprintf("--leader-elect=%t", l.elect),
	}
	return append(args, l.election()...)
}

// election are the flags of an election that both controllers have under the same names.
func (l launch) election() []string {
	if !l.elect {
		return nil
	}
	return []string{"--leader-elect-lease-duration=6s", "--leader-elect-renew-deadline=4s", "--leader-elect-retry-period=1s"}
}

// stockArgs are those of a kube-controller-manager that is a DaemonSet controller only.
func stockArgs(l launch) []string {
	args := []string{
		"--controllers=daemonset-controller", "--secure-port=0", "--use-service-account-credentials=false",
		fmt.Sprintf("--kube-api-qps=%d", l.limit()), fmt.Sprintf("--kube-api-burst=%d", 2*l.limit()),
		fmt.Sprintf("--leader-elect=%t", l.elect),
	}
	return append(args, l.election()...)
}

// process makes the controller's process and does not start it.
func (s subject) process(t *testing.T, plane *controlplane.Plane, l launch) *controlplane.Process {
	t.Helper()
	server := l.server
	if server == "" {
		server = plane.Server()
	}
	kubeconfig, err := plane.Kubeconfig(s.user, server)
	require.NoError(t, err)
	args := append([]string{"--kubeconfig=" + kubeconfig}, s.args(l)...)
	return plane.Component(s.component, s.name+l.replica, args...)
}

// run starts the controller for the rest of the test.
func (s subject) run(t *testing.T, plane *controlplane.Plane, l launch) *controlplane.Process {
	t.Helper()
	process := s.process(t, plane, l)
	start(t, process)
	return process
}

// start starts a process for the rest of the test, and shows its log if the test fails.
func start(t *testing.T, process *controlplane.Process) {
	t.Helper()
	require.NoError(t, process.Start())
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of %s:\n%s", process.Name, process.Tail(6000))
		}
		require.NoError(t, process.Kill())
	})
}

// eachSubject runs a test with each controller that is to be tested.
func eachSubject(t *testing.T, test func(t *testing.T, s subject)) {
	t.Helper()
	for _, s := range chosen(t) {
		t.Run(s.name, func(t *testing.T) { test(t, s) })
	}
}

func chosen(t *testing.T) []subject {
	t.Helper()
	all := subjects()
	wanted, ok := os.LookupEnv(only)
	if !ok || wanted == "" {
		return all
	}
	i := slices.IndexFunc(all, func(s subject) bool { return s.name == wanted })
	require.GreaterOrEqual(t, i, 0, "%s=%s names no controller", only, wanted)
	return all[i : i+1]
}
