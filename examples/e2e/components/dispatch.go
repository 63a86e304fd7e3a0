package components

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Variable is the environment variable that names the program to become. Its value is one
// of Names.
const Variable = "DAEMONPLAN_E2E_COMPONENT"

// The programs that a process can become.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	Scheduler         = "kube-scheduler"
	ControllerManager = "kube-controller-manager"
	Kwok              = "kwok"
	Kubectl           = "kubectl"
	Controller        = "daemonplan-controller" // this repository's own
)

// Names returns all programs, sorted.
func Names() []string {
	var names []string
	for name := range programs() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Dispatch becomes the program that Variable names, with the arguments of the process, and
// exits with its code. It returns only if Variable is not set. It belongs at the start of
// main or TestMain, before flags are parsed.
func Dispatch() {
	name, ok := os.LookupEnv(Variable)
	if !ok {
		return
	}
	run, ok := programs()[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "%s: no program %q, only %s\n", Variable, name, strings.Join(Names(), ", "))
		os.Exit(2)
	}
	// What the program starts itself must not become the same program.
	_ = os.Unsetenv(Variable)
	if name != Kubectl { // which ends by itself, and may read a manifest from its input
		dieWithParent()
	}
	if err := stamp(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Args[0] = name
	os.Exit(run())
}

func programs() map[string]func() int {
	return map[string]func() int{
		Etcd:              runEtcd,
		APIServer:         runAPIServer,
		Scheduler:         runScheduler,
		ControllerManager: runControllerManager,
		Kwok:              runKwok,
		Kubectl:           runKubectl,
		Controller:        runController,
	}
}
