package command

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// gcPercent trades memory for CPU time: what a controller keeps is small, and without this a
// tenth of its time would go into looking through it.
const gcPercent = 200

// Main is Run as a program of its own, with the process's output and signals, and returns
// the exit status. The first SIGTERM or SIGINT ends it in order, the second at once. Unless
// $GOGC says otherwise, garbage is collected half as often as Go does by default.
func Main(args []string) int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	ctx, end := context.WithCancelCause(context.Background())
	defer end(nil)
	go func() {
		end(fmt.Errorf("asked to end by the signal %q", <-signals))
		<-signals
		os.Exit(exitFailure)
	}()
	return Run(ctx, args, os.Stdout, os.Stderr)
}
