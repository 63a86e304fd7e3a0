package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/daemonplan/daemonplan/daemonset"
)

// standardInput is the file name that means it.
const standardInput = "-"

const planUsage = `Usage:

	dsplan plan -f FILE [-f FILE...] [flags]

	-f FILE            a dump in YAML or JSON, "-" for standard input; may be repeated
	-ds NAMESPACE/NAME plan only this DaemonSet; NAME alone takes those of any namespace
	-now TIME          plan for this time, in RFC 3339 (default: the current time); say
	                   when the dump was made if that was not just now
	-burst N           create, and delete, at most N pods in a plan (default: 250)
	-o text|json       print for people, or one JSON object a line (default: text)

All files together are one snapshot of a cluster, and all four kinds of objects have to be in
it, or plans come out wrong; what is missing is reported as far as it can be told. Only a file named *.jsonl is many
snapshots, a JSON list on each line; they are planned by themselves, in order, after the
snapshot that the other files make up.

The objects looked at are DaemonSets, Nodes, Pods and ControllerRevisions; other kinds are
ignored. One that has no namespace counts as in "default". The DaemonSets of a snapshot are
planned by namespace and name.

The exit status is 0 if everything was planned, 1 if something could not be or there was no
DaemonSet, 2 for bad usage. A file that does not parse spoils its snapshot, because a plan from half of the
objects would be wrong; an object that does not make sense spoils the plans that would
look at it.
`

// planFlags is the command line of plan, and what the other commands share with it.
type planFlags struct {
	files []string
	set   string // namespace/name, or a name in any namespace; empty for all
	now   time.Time
	burst int
	json  bool
	args  []string // what is no flag
}

func parsePlanFlags(args []string, now func() time.Time) (planFlags, error) {
	p, err := parseFlags(flag.NewFlagSet("dsplan plan", flag.ContinueOnError), args, now)
	if err == nil && len(p.args) > 0 {
		err = fmt.Errorf("unexpected argument %q", p.args[0])
	}
	return p, err
}

// parseFlags adds the shared flags to those that a command has defined, and parses. Flags and
// other arguments may come in any order.
func parseFlags(flags *flag.FlagSet, args []string, now func() time.Time) (planFlags, error) {
	var p planFlags
	flags.SetOutput(io.Discard)
	p.defineInput(flags, now)
	output := flags.String("o", "text", "")
	if err := p.parse(flags, args); err != nil {
		return planFlags{}, err
	}
	p.json = *output == "json"
	if *output != "text" && *output != "json" {
		return planFlags{}, fmt.Errorf("-o is %q; want text or json", *output)
	}
	return p, p.check()
}

// defineInput defines the flags that say what is looked at, and when: now, if that is not told.
func (p *planFlags) defineInput(flags *flag.FlagSet, now func() time.Time) {
	p.now = now()
	flags.Func("f", "", func(name string) error {
		p.files = append(p.files, name)
		return nil
	})
	flags.Func("ds", "", func(name string) error {
		switch {
		case !isSetName(name): // also an empty one, as from a variable that is not set
			return errors.New("want namespace/name, or a name")
		case p.set != "":
			return errors.New("it is given twice")
		}
		p.set = name
		return nil
	})
	flags.IntVar(&p.burst, "burst", daemonset.DefaultBurst, "")
	flags.Func("now", "", func(text string) error {
		var err error
		if p.now, err = time.Parse(time.RFC3339, text); err != nil {
			return errors.New("want a time such as 2006-01-02T15:04:05Z")
		}
		return nil
	})
}

// parse collects what is no flag, and goes on behind it.
func (p *planFlags) parse(flags *flag.FlagSet, args []string) error {
	for {
		if err := flags.Parse(args); err != nil {
			return err
		}
		if flags.NArg() == 0 {
			return nil
		}
		p.args, args = append(p.args, flags.Arg(0)), flags.Args()[1:]
	}
}

func (p planFlags) check() error {
	switch {
	case len(p.files) == 0 && len(p.args) > 0:
		return fmt.Errorf("-f is missing; files are given as -f %s", p.args[0])
	case len(p.files) == 0:
		return errors.New("-f is missing; want a file, or - for standard input")
	case slices.Contains(p.files, ""):
		return errors.New("-f is empty")
	case p.burst < 1:
		return fmt.Errorf("-burst is %d; want at least 1", p.burst)
	}
	first := slices.Index(p.files, standardInput)
	if first >= 0 && slices.Contains(p.files[first+1:], standardInput) {
		return errors.New("-f - is given twice")
	}
	return nil
}

func isSetName(text string) bool {
	namespace, name, hasBoth := strings.Cut(text, "/")
	return namespace != "" && (!hasBoth || name != "") && !strings.Contains(name, "/")
}

// wants reports whether the set of this namespace and name is looked at.
func (p *planFlags) wants(name string) bool {
	return p.set == "" || name == p.set || !strings.Contains(p.set, "/") && strings.HasSuffix(name, "/"+p.set)
}

// durationFlag defines a flag for a length of time.
func durationFlag(flags *flag.FlagSet, name string, target *time.Duration, value time.Duration) {
	*target = value
	flags.Func(name, "", func(text string) error {
		var err error
		if *target, err = time.ParseDuration(text); err != nil {
			return errors.New("want a duration such as 90s or 10m")
		}
		return nil
	})
}

// shareFlag defines a flag for a part of a whole.
func shareFlag(flags *flag.FlagSet, name string, target *float64) {
	flags.Func(name, "", func(text string) error {
		var err error
		if *target, err = strconv.ParseFloat(text, 64); err != nil || !(*target >= 0 && *target <= 1) {
			return errors.New("want a share from 0 to 1, such as 0.05")
		}
		return nil
	})
}
