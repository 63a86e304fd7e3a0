// Package command is the dsplan command line: its subcommands, their flags and what they
// print.
package command

import (
	"fmt"
	"io"
	"time"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/explain"
	"github.com/daemonplan/daemonplan/placement"
)

// The exit statuses.
const (
	exitOK     = 0
	exitFailed = 1 // something could not be read or planned; the rest was
	exitUsage  = 2
)

// Streams are what a command reads and writes.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

const usage = `dsplan shows what a DaemonSet controller would do next, from a dump of a cluster.

Usage:

	dsplan plan -f FILE [-f FILE...] [flags]   plan every DaemonSet in the dump
	dsplan explain -f FILE [flags] [NODE...]   why there is a pod on a node, or none, and what comes next
	dsplan status -f FILE [flags]              is each DaemonSet complete, and if not, what it waits for
	dsplan simulate -f FILE [flags]            how long it takes to the end, and how bad it gets on the way
	dsplan diff -f FILE -with FILE [flags]     what a changed DaemonSet, or another dump, would change
	dsplan help [COMMAND]                      print this text, or the flags of a command
	dsplan help WORD                           what a reason or finding means, such as BudgetExhausted

A dump is what this prints, in YAML or JSON, in one file or several:

	kubectl get daemonsets,nodes,pods,controllerrevisions -A -o yaml

All four kinds have to be in it. Of nothing else is anything asked: no cluster, no network.
`

// Run carries out one command line, without the name of the program, and returns the exit
// status: 0 if all was done, 1 if something could not be read or planned, 2 for bad usage.
// The clock is asked only if the command line does not tell the time.
func Run(args []string, s Streams, now func() time.Time) int {
	if len(args) == 0 {
		say(s.Err, usage)
		return exitUsage
	}
	switch args[0] {
	case "plan":
		return runPlan(args[1:], s, now)
	case "explain":
		return runExplain(args[1:], s, now)
	case "status":
		return runStatus(args[1:], s, now)
	case "simulate":
		return runSimulate(args[1:], s, now)
	case "diff":
		return runDiff(args[1:], s, now)
	case "help", "-h", "-help", "--help":
		return runHelp(args[1:], s)
	}
	return misused(s, fmt.Errorf("unknown command %q", args[0]), "dsplan help")
}

// runHelp prints the usage, that of a command, or what a word of plans means.
func runHelp(args []string, s Streams) int {
	if len(args) == 0 {
		return help(s, usage)
	}
	for _, command := range []struct{ name, usage string }{
		{"plan", planUsage}, {"explain", explainUsage}, {"status", statusUsage}, {"simulate", simulateUsage}, {"diff", diffUsage},
	} {
		if command.name == args[0] {
			return help(s, command.usage)
		}
	}
	meaning, ok := explain.OfReason(daemonset.Reason(args[0]))
	if !ok {
		meaning, ok = explain.OfCode(placement.Code(args[0]))
	}
	if !ok {
		return misused(s, fmt.Errorf("%q is no command, reason or finding", args[0]), "dsplan help")
	}
	return help(s, fmt.Sprintf("%s: %s %s\n", args[0], meaning.Means, meaning.Next))
}

// help prints a text that was asked for.
func help(s Streams, text string) int {
	if _, err := io.WriteString(s.Out, text); err != nil {
		return failed(s, err)
	}
	return exitOK
}

// misused reports a command line that makes no sense, and where to read about it.
func misused(s Streams, err error, seeAlso string) int {
	say(s.Err, fmt.Sprintf("dsplan: %v; see %q\n", err, seeAlso))
	return exitUsage
}

// failed reports an error, with which the command may go on.
func failed(s Streams, err error) int {
	say(s.Err, fmt.Sprintf("dsplan: %s\n", message(err)))
	return exitFailed
}

// say writes a message. A writer that fails leaves nowhere to say so, or remembers it.
func say(w io.Writer, text string) { _, _ = io.WriteString(w, text) }
