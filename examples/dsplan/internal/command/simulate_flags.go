package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/daemonplan/daemonplan/daemonset/simulate"
)

const simulateUsage = `Usage:

	dsplan simulate -f FILE [-f FILE...] [flags]

	-f FILE            a dump in YAML or JSON, "-" for standard input; may be repeated
	-ds NAMESPACE/NAME simulate only this DaemonSet; NAME alone takes those of any namespace
	-now TIME          start at this time, in RFC 3339 (default: the current time)
	-burst N           create, and delete, at most N pods in a plan (default: 250)
	-o text|json|html  print for people, one JSON object a line with durations in
	                   nanoseconds, or a page with pictures for a browser (default: text)

What is changed first, before the simulation starts:

	-with FILE         replace DaemonSets by those of the same name in FILE
	-image NAME=IMAGE  give the container NAME this image; may be repeated

What the cluster is like. The same seed gives the same course:

	-seed N            of what is left to chance (default: 0)
	-bind DURATION     until a new pod is on its node (default: 1s)
	-start MIN-MAX     from there until it is ready (default: 10s-30s)
	-stop MIN-MAX      from a pod's deletion until it is gone (default: 2s-10s)
	-fail SHARE        of new pods that fail instead of becoming ready, 0 to 1 (default: 0)
	-stuck SHARE       of nodes on which no new pod ever becomes ready (default: 0)
	-slow SHARE        of nodes that take four times as long (default: 0.02)
	-limit DURATION    stop after this much time in the cluster (default: 168h)

All files together are one snapshot of a cluster. Each DaemonSet is simulated by itself, as
if the others stood still: nodes do not change, nothing but the set's own pods takes room,
and pods that should have been ready or gone for a minute by these times stay as they are.

Of each node the text shows the states one after the other, in slices of equal time:

	. outdated, available    % outdated, with a new pod beside it
	~ new pod is starting    # new pod is available
	- stopping   _ no pod    ! outdated, not available   x failed

Where there are many nodes a line stands for several, and shows the state of most of them.

The exit status is 0 if every simulation came to a complete end without breaking a budget, 1
if one did not or could not be made, 2 for bad usage.
`

// simulateFlags is the command line of simulate.
type simulateFlags struct {
	planFlags
	output string
	change change
	seed   uint64
	model  simulate.Model
	limit  time.Duration
}

// The outputs.
const (
	textOutput = "text"
	jsonOutput = "json"
	htmlOutput = "html"
)

func parseSimulateFlags(args []string, now func() time.Time) (simulateFlags, error) {
	p := simulateFlags{model: simulate.DefaultModel()}
	flags := flag.NewFlagSet("dsplan simulate", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	p.defineInput(flags, now)
	p.defineChange(flags)
	p.defineModel(flags)
	flags.StringVar(&p.output, "o", textOutput, "")
	if err := flags.Parse(args); err != nil {
		return simulateFlags{}, err
	}
	if flags.NArg() > 0 {
		return simulateFlags{}, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if !slices.Contains([]string{textOutput, jsonOutput, htmlOutput}, p.output) {
		return simulateFlags{}, fmt.Errorf("-o is %q; want text, json or html", p.output)
	}
	many := func(file string) bool { return strings.HasSuffix(file, linesSuffix) }
	if slices.ContainsFunc(p.files, many) {
		return simulateFlags{}, fmt.Errorf("-f names a *%s file, which is many snapshots; simulate takes one", linesSuffix)
	}
	return p, p.check()
}

// defineChange defines the flags that say what is changed first.
func (p *simulateFlags) defineChange(flags *flag.FlagSet) {
	flags.StringVar(&p.change.file, "with", "", "")
	flags.Func("image", "", func(text string) error {
		name, image, ok := strings.Cut(text, "=")
		if !ok || name == "" || image == "" {
			return errors.New("want container=image")
		}
		p.change.images = append(p.change.images, containerImage{container: name, image: image})
		return nil
	})
}

// defineModel defines the flags that say what the cluster is like.
func (p *simulateFlags) defineModel(flags *flag.FlagSet) {
	flags.Uint64Var(&p.seed, "seed", 0, "")
	durationFlag(flags, "limit", &p.limit, simulate.DefaultLimit)
	durationFlag(flags, "bind", &p.model.Bind, p.model.Bind)
	flags.Func("start", "", func(text string) error { return parseSpan(text, &p.model.Start) })
	flags.Func("stop", "", func(text string) error { return parseSpan(text, &p.model.Stop) })
	shareFlag(flags, "fail", &p.model.FailureRate)
	shareFlag(flags, "stuck", &p.model.StuckRate)
	shareFlag(flags, "slow", &p.model.SlowRate)
}

// parseSpan reads "10s-30s", or "20s" for one that does not vary.
func parseSpan(text string, span *simulate.Span) error {
	least, most, varies := strings.Cut(text, "-")
	if !varies {
		most = least
	}
	var err [2]error
	var parsed simulate.Span
	parsed.Min, err[0] = time.ParseDuration(least)
	parsed.Max, err[1] = time.ParseDuration(most)
	if errors.Join(err[:]...) != nil || parsed.Min < 0 || parsed.Max < parsed.Min {
		return errors.New("want a time such as 20s, or two such as 10s-30s")
	}
	*span = parsed
	return nil
}
