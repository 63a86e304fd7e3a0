package command

import (
	"context"
	"flag"
	"io"

	"k8s.io/client-go/kubernetes"
)

// Serve is Run with a client that is given.
func Serve(ctx context.Context, args []string, client kubernetes.Interface, out io.Writer) error {
	o, err := parseOptions(args, io.Discard)
	if err != nil {
		return err
	}
	logger, err := newLogger(o, out)
	if err != nil {
		return err
	}
	return serve(ctx, o, clients{server: "the fake", work: client, aside: client}, logger)
}

// ParseOptions reports what is wrong with flags.
func ParseOptions(args []string) error {
	_, err := parseOptions(args, io.Discard)
	return err
}

// NewClient returns the client that Run works with.
func NewClient(args []string) (kubernetes.Interface, error) {
	o, err := parseOptions(args, io.Discard)
	if err != nil {
		return nil, err
	}
	c, err := newClients(o)
	return c.work, err
}

// Flags are the flags with their defaults.
func Flags() *flag.FlagSet {
	o, flags := options{}, flag.NewFlagSet(program, flag.ContinueOnError)
	o.register(flags)
	return flags
}
