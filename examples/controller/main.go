// Command controller is a DaemonSet controller: it takes the place of the one of
// kube-controller-manager. See README.md.
package main

import (
	"os"

	"github.com/daemonplan/daemonplan/examples/controller/command"
)

func main() {
	os.Exit(command.Main(os.Args[1:]))
}
