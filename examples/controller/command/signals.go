package command

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Main is Run as a program of its own, with the process's output and signals, and returns
// the exit status. The first SIGTERM or SIGINT ends it in order, the second at once.
func Main(args []string) int {
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
