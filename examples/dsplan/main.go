// Dsplan shows what a DaemonSet controller would do next, from a dump of a cluster.
//
//	kubectl get daemonsets,nodes,pods,controllerrevisions -A -o yaml > dump.yaml
//	dsplan plan -f dump.yaml
//
// It changes nothing and talks to no cluster. "dsplan plan -h" prints the flags.
package main

import (
	"os"
	"time"

	"github.com/daemonplan/daemonplan/examples/dsplan/internal/command"
)

func main() {
	streams := command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	os.Exit(command.Run(os.Args[1:], streams, time.Now))
}
